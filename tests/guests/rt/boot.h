/*
 * What the loader handed over: command line, memory map, modules; and memory taken from it.
 */
#ifndef GUEST_RT_BOOT_H
#define GUEST_RT_BOOT_H

#include "hv/types.h"

struct mem_range {
    uint64_t base, bytes;
    uint32_t type; /* 1 is RAM */
};

struct module {
    uint64_t start, end; /* end excluded */
    char text[64];       /* its command line, cut */
};

#define BOOT_RANGES_MAX  32u
#define BOOT_MODULES_MAX 8u
#define BOOT_TEXT_BYTES  1024u

struct boot_info {
    bool valid; /* the loader's magic was right */
    char cmdline[BOOT_TEXT_BYTES];
    struct mem_range ranges[BOOT_RANGES_MAX];
    uint32_t nranges;
    struct module modules[BOOT_MODULES_MAX];
    uint32_t nmodules;
};

extern struct boot_info boot_info; /* [i] */

/* Copies all of it: the loader's own copy may be overwritten afterwards. */
void boot_read(uint32_t magic, uint32_t info);

/* Takes RAM below 4 GiB; contents undefined. NULL when there is none left. */
void *mem_alloc(uint64_t bytes, uint64_t align);

/* The same within [low, high). */
void *mem_alloc_within(uint64_t low, uint64_t high, uint64_t bytes, uint64_t align);

/* End of the highest RAM range below 4 GiB. */
uint64_t mem_top(void);

/*
 * Options: words `name` or `name=value` of the command line; of several the last counts. Numbers
 * are decimal or 0x hexadecimal with an optional K, M or G. A malformed number gives `otherwise`.
 */
bool opt_flag(const char *name);
bool opt_is(const char *name, const char *value);
uint64_t opt_u64(const char *name, uint64_t otherwise);

#endif
