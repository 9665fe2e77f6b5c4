/*
 * The parts of `topology --json`, as the console and numen-topo both write them. Pure.
 *
 * Order: {"cpus":[cpu..], counts, "nodes":[{node members}..], "distance", "warnings"}. Members are
 * only ever added.
 */
#ifndef KERNEL_TOPOLOGY_JSON_H
#define KERNEL_TOPOLOGY_JSON_H

#include "hv/cpu_place.h"
#include "hv/firmware.h"
#include "kernel/json.h"
#include "mm/numa.h"

/* One element of "cpus". */
void topology_json_cpu(struct json *j, const struct cpu_place *place, bool online);

void topology_json_counts(struct json *j, uint32_t sockets, uint32_t cores, uint32_t threads);

/* The members of a node's object; places[] is by CPU number. */
void topology_json_node(struct json *j, const struct numa *numa, uint32_t node,
                        const struct cpu_place *places, uint32_t ncpus, uint64_t free_bytes);

void topology_json_distance(struct json *j, const struct numa *numa);
void topology_json_warnings(struct json *j, const struct fw_warnings *w);

#endif
