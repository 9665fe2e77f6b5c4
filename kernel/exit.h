/* What happens after a VM exit. See exit.c. */
#ifndef KERNEL_EXIT_H
#define KERNEL_EXIT_H

#include "kernel/vcpu.h"

extern void (*const exit_handlers[EXIT_KIND_COUNT])(struct vcpu *v);

static inline void exit_dispatch(struct vcpu *v)
{
    v->stats.exits[v->exit.kind]++;
    exit_handlers[v->exit.kind](v);
}

#endif
