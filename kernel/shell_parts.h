/* Parts of listings that several commands show. */
#ifndef KERNEL_SHELL_PARTS_H
#define KERNEL_SHELL_PARTS_H

#include "hv/cpumask.h"
#include "kernel/shell.h"
#include "kernel/vm.h"

/* shell_machine.c: members of the node's object, and the matrix of distances. */
void shell_json_node(struct json *j, uint32_t node);
void shell_json_distance(struct json *j);

/* shell_pin.c: "0-3,8", or "none". */
void shell_put_cpus(struct shell *sh, struct cpumask mask);

/* shell_memory.c: the VM's virtual nodes, as an array of this name. */
void shell_json_vnodes(struct json *j, const char *key, const struct vm *vm);

#endif
