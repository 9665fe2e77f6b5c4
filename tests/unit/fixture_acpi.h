/*
 * Builders of ACPI tables for tests, and the two cruelties every reader must survive: each prefix
 * of a good table, and each byte changed. Copies live in exact-sized heap blocks, so that ASan sees
 * an over-read of one byte.
 */
#ifndef TESTS_UNIT_FIXTURE_ACPI_H
#define TESTS_UNIT_FIXTURE_ACPI_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/firmware.h"

struct table {
    size_t n;
    uint8_t b[16384];
};

static inline void put(struct table *t, uint64_t value, size_t bytes)
{
    assert_true(t->n + bytes <= sizeof(t->b));
    memcpy(t->b + t->n, &value, bytes);
    t->n += bytes;
}

static inline void put_zeros(struct table *t, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        put(t, 0, 1);
}

static inline void set_u32(struct table *t, size_t at, uint32_t value)
{
    memcpy(t->b + at, &value, 4);
}

static inline void table_begin(struct table *t, const char *signature, uint8_t revision)
{
    t->n = 0;
    for (int i = 0; i < 4; i++)
        put(t, (uint8_t)signature[i], 1);
    put(t, 0, 4);
    put(t, revision, 1);
    put_zeros(t, 27);
}

static inline void table_sum(struct table *t)
{
    uint8_t sum = 0;

    t->b[9] = 0;
    for (size_t i = 0; i < t->n; i++)
        sum = (uint8_t)(sum + t->b[i]);
    t->b[9] = (uint8_t)-sum;
}

/* Writes length and checksum. */
static inline void table_end(struct table *t)
{
    set_u32(t, 4, (uint32_t)t->n);
    table_sum(t);
}

static inline void madt_begin(struct table *t)
{
    table_begin(t, "APIC", 4);
    put(t, 0xfee00000, 4);
    put(t, 1, 4);
}

static inline void madt_lapic(struct table *t, uint32_t uid, uint32_t apic_id, uint32_t flags)
{
    put(t, 0, 1);
    put(t, 8, 1);
    put(t, uid, 1);
    put(t, apic_id, 1);
    put(t, flags, 4);
}

static inline void madt_x2apic(struct table *t, uint32_t uid, uint32_t apic_id, uint32_t flags)
{
    put(t, 9, 1);
    put(t, 16, 1);
    put(t, 0, 2);
    put(t, apic_id, 4);
    put(t, flags, 4);
    put(t, uid, 4);
}

static inline void srat_begin(struct table *t, uint8_t revision)
{
    table_begin(t, "SRAT", revision);
    put(t, 1, 4);
    put(t, 0, 8);
}

static inline void srat_lapic(struct table *t, uint32_t apic_id, uint32_t pxm, uint32_t flags)
{
    put(t, 0, 1);
    put(t, 16, 1);
    put(t, pxm & 0xff, 1);
    put(t, apic_id, 1);
    put(t, flags, 4);
    put(t, 0, 1);
    put(t, pxm >> 8, 3);
    put(t, 0, 4);
}

static inline void srat_x2apic(struct table *t, uint32_t apic_id, uint32_t pxm, uint32_t flags)
{
    put(t, 2, 1);
    put(t, 24, 1);
    put(t, 0, 2);
    put(t, pxm, 4);
    put(t, apic_id, 4);
    put(t, flags, 4);
    put_zeros(t, 8);
}

static inline void srat_memory(struct table *t, uint32_t pxm, uint64_t base, uint64_t length,
                               uint32_t flags)
{
    put(t, 1, 1);
    put(t, 40, 1);
    put(t, pxm, 4);
    put(t, 0, 2);
    put(t, base, 8);
    put(t, length, 8);
    put(t, 0, 4);
    put(t, flags, 4);
    put(t, 0, 8);
}

static inline void slit_build(struct table *t, uint64_t n, const uint8_t *rows, size_t bytes)
{
    table_begin(t, "SLIT", 1);
    put(t, n, 8);
    for (size_t i = 0; i < bytes; i++)
        put(t, rows[i], 1);
    table_end(t);
}

/*
 * Runs `read` on a heap copy of the bytes; it checks its own invariants and returns the reader's
 * value.
 */
typedef int cruel_reader(const void *data, size_t bytes);

static inline int read_copy(cruel_reader *read, const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    int err;

    assert_non_null(copy);
    memcpy(copy, data, bytes);
    err = read(bytes ? copy : copy + 1, bytes);
    free(copy);
    return err;
}

static inline void every_prefix_is_refused(cruel_reader *read, const struct table *t)
{
    for (size_t n = 0; n < t->n; n++)
        assert_int_not_equal(read_copy(read, t->b, n), 0);
    assert_int_equal(read_copy(read, t->b, t->n), 0);
}

/* The same, with the length field telling the truth about the prefix. */
static inline void every_cut_is_survived(cruel_reader *read, const struct table *t)
{
    static struct table cut;

    for (size_t n = 8; n < t->n; n++) {
        cut = *t;
        cut.n = n;
        set_u32(&cut, 4, (uint32_t)n);
        (void)read_copy(read, cut.b, n);
    }
}

static inline void every_flip_is_survived(cruel_reader *read, const struct table *t)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xff};
    static struct table bad;

    for (size_t at = 0; at < t->n; at++) {
        for (size_t i = 0; i < sizeof(flips); i++) {
            bad = *t;
            bad.b[at] ^= flips[i];
            (void)read_copy(read, bad.b, bad.n);
            bad.b[at] = i == 0 ? 0 : bad.b[at];
            (void)read_copy(read, bad.b, bad.n);
        }
    }
}

static inline bool warned(const struct fw_warnings *w, const char *part)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (strstr(w->text[i], part))
            return true;
    return false;
}

#endif
