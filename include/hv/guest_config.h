/*
 * One guest as its boot module's line describes it; boot/guest_line.c fills it in.
 */
#ifndef HV_GUEST_CONFIG_H
#define HV_GUEST_CONFIG_H

#include "hv/bits.h"
#include "hv/types.h"

#define GUEST_NAME_CHARS    32
#define GUEST_CMDLINE_CHARS 512
#define GUEST_RANGES_MAX    16
#define GUEST_VCPUS_MAX     255u
#define GUEST_WEIGHT_MAX    65535u
#define GUEST_CAP_MAX       (100 * GUEST_VCPUS_MAX)

/* Bits of CPUID 0x40000001 EAX (docs/guest-abi.md) by the names that `pv=` uses. */
#define GUEST_PV_KVMCLOCK (BIT(0) | BIT(3) | BIT(24))
#define GUEST_PV_NODELAY  BIT(1)
#define GUEST_PV_STEAL    BIT(5)
#define GUEST_PV_UNHALT   BIT(7)
#define GUEST_PV_TLB      BIT(9)
#define GUEST_PV_IPI      BIT(11)
#define GUEST_PV_YIELD    BIT(13)
#define GUEST_PV_ALL                                                                          \
    (GUEST_PV_KVMCLOCK | GUEST_PV_NODELAY | GUEST_PV_STEAL | GUEST_PV_UNHALT | GUEST_PV_TLB | \
     GUEST_PV_IPI | GUEST_PV_YIELD)

struct guest_range {
    uint32_t first;
    uint32_t last; /* inclusive */
};

struct guest_ranges {
    uint32_t count; /* 0: not given, anything goes */
    struct guest_range range[GUEST_RANGES_MAX];
};

/* Is `n` in one of them, or are there none? */
static inline bool guest_ranges_have(const struct guest_ranges *r, uint32_t n)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (n >= r->range[i].first && n <= r->range[i].last)
            return true;
    return r->count == 0;
}

/* About 1 KiB: never on a stack. */
struct guest_config {
    char name[GUEST_NAME_CHARS];   /* from FILE when there is no name=; may be empty */
    char initrd[GUEST_NAME_CHARS]; /* name of another module; empty: none */
    uint32_t vcpus;
    uint32_t weight;
    uint32_t cap;          /* per cent of one CPU, at most 100 for each vCPU; 0: none */
    uint64_t memory_bytes; /* a multiple of 4 KiB */
    uint32_t sockets;      /* sockets * cores * threads == vcpus */
    uint32_t cores;        /* per socket */
    uint32_t threads;      /* per core */
    bool sockets_given; /* or cores: else there is one for each virtual node, if they are alike */
    bool l3_cache;
    bool autostart;
    uint32_t pv; /* GUEST_PV_* */
    struct guest_ranges cpus;
    struct guest_ranges nodes;
    char cmdline[GUEST_CMDLINE_CHARS];
};

#endif
