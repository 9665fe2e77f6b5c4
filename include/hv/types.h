/*
 * Scalar types that carry their unit in their name.
 *
 * Everything below include/hv is code-free or inline only, compiles alone, and serves the image,
 * the hosted tests and the host programs alike. Libc headers are used for declarations only
 * (<string.h>, <errno.h>, <sys/queue.h>, <bsd/sys/tree.h>); kernel/string.c defines the few mem and
 * str functions that the image needs.
 */
#ifndef HV_TYPES_H
#define HV_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t ns_t;    /* nanoseconds: a point on the machine's clock, or a length of time */
typedef uint64_t paddr_t; /* host physical address */
typedef uint64_t gpa_t;   /* guest physical address */
typedef uint64_t pfn_t;   /* host physical page number: paddr >> PAGE_SHIFT */

#define PADDR_NONE UINT64_MAX /* no host physical address */

#define NS_PER_US  1000ull
#define NS_PER_MS  1000000ull
#define NS_PER_SEC 1000000000ull
#define NS_NEVER   UINT64_MAX /* a deadline that never comes */

#define PAGE_SHIFT 12
#define PAGE_BYTES (1ull << PAGE_SHIFT)

#define KIB        1024ull
#define MIB        (1024 * KIB)
#define GIB        (1024 * MIB)

#define CPUS_MAX   4096u /* limit of CPU numbers */
#define NODES_MAX  64u   /* limit of NUMA nodes */

#endif
