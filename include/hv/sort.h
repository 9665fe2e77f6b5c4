/*
 * Heap sort of 64-bit keys, ascending: O(n log n) for any input, in place, without recursion. Keys
 * that stand in order, as firmware lists them on most machines, cost one look each.
 *
 * Callers pack what they sort by into the high bits and an index into the low ones. That also makes
 * the order of equal keys defined.
 */
#ifndef HV_SORT_H
#define HV_SORT_H

#include "hv/types.h"

static inline void sort_sift_down(uint64_t *keys, size_t at, size_t n)
{
    uint64_t key = keys[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= n)
            break;
        if (child + 1 < n && keys[child + 1] > keys[child])
            child++;
        if (keys[child] <= key)
            break;
        keys[at] = keys[child];
        at = child;
    }
    keys[at] = key;
}

static inline bool sort_is_done(const uint64_t *keys, size_t n)
{
    size_t i = 1;

    while (i < n && keys[i - 1] <= keys[i])
        i++;
    return i >= n;
}

static inline void sort_u64(uint64_t *keys, size_t n)
{
    if (sort_is_done(keys, n))
        return;
    for (size_t i = n / 2; i-- > 0;)
        sort_sift_down(keys, i, n);
    for (size_t end = n; end-- > 1;) {
        uint64_t top = keys[0];

        keys[0] = keys[end];
        keys[end] = top;
        sort_sift_down(keys, 0, end);
    }
}

#endif
