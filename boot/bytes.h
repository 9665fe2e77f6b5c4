/*
 * Little-endian numbers out of bytes at any alignment. The caller has checked the bounds.
 */
#ifndef BOOT_BYTES_H
#define BOOT_BYTES_H

#include <string.h>

#include "hv/types.h"

static inline uint16_t read_le16(const void *at)
{
    uint16_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

static inline uint32_t read_le32(const void *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

static inline uint64_t read_le64(const void *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

#endif
