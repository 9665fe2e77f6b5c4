/*
 * \_S5 out of a table of AML: what to write into SLP_TYP to switch the machine off.
 *
 * Decides: a Name of that name whose value is a package of constants is believed; a method, or an
 * element that is not a constant, is left to an interpreter, which Numen has none of. The bytes are
 * searched, not parsed: objects before \_S5 need not be understood, and firmware that hides it in a
 * scope or a condition is read as well. The first one found counts. Invariants: nothing beyond the
 * table, nor beyond the package's own length, is read; the search moves forward only. Source: ACPI
 * 6.4 sections 20.2.4 (PkgLength), 20.2.5.4 (DefPackage), 7.4.2.6 (_S5).
 */
#include "boot/aml.h"

#include <errno.h>
#include <string.h>

#include "boot/acpi.h"

enum {
    OP_ZERO = 0x00,
    OP_ONE = 0x01,
    OP_NAME = 0x08,
    OP_BYTE = 0x0a,
    OP_WORD = 0x0b,
    OP_DWORD = 0x0c,
    OP_QWORD = 0x0e,
    OP_PACKAGE = 0x12,
    OP_METHOD = 0x14,
    OP_ONES = 0xff,
    ROOT_PREFIX = '\\',
};

#define NAME_BYTES       4u
#define LENGTH_FOLLOWING BITS(7, 6) /* of a PkgLength's first byte: bytes that follow */
#define LENGTH_SHORT     BITS(5, 0) /* the length, when none follow */
#define LENGTH_LOW       BITS(3, 0) /* its lowest bits, when some do */
#define SLP_TYP_LIMIT    8u

/* What is still to be read: [at, end) of the table. */
struct aml {
    const uint8_t *table;
    size_t at, end;
};

/* Moves over `bytes` bytes, little endian. -EINVAL: they are not there. */
static int take(struct aml *aml, size_t bytes, uint64_t *value)
{
    *value = 0;
    if (bytes > aml->end - aml->at)
        return -EINVAL;
    memcpy(value, aml->table + aml->at, bytes);
    aml->at += bytes;
    return 0;
}

/* A PkgLength counts from its own first byte: *end is where its package ends. */
static int take_length(struct aml *aml, size_t *end)
{
    size_t from = aml->at;
    uint64_t first, more, length;

    if (take(aml, 1, &first) || take(aml, FIELD_GET(LENGTH_FOLLOWING, first), &more))
        return -EINVAL;
    if (FIELD_GET(LENGTH_FOLLOWING, first))
        length = FIELD_GET(LENGTH_LOW, first) | more << 4;
    else
        length = FIELD_GET(LENGTH_SHORT, first);
    if (length < aml->at - from || length > aml->end - from)
        return -EINVAL;
    *end = from + length;
    return 0;
}

static int take_constant(struct aml *aml, uint64_t *value)
{
    uint64_t op;

    if (take(aml, 1, &op))
        return -EINVAL;
    switch (op) {
    case OP_ZERO:
    case OP_ONE:
        *value = op;
        return 0;
    case OP_ONES:
        *value = UINT64_MAX;
        return 0;
    case OP_BYTE:
        return take(aml, 1, value);
    case OP_WORD:
        return take(aml, 2, value);
    case OP_DWORD:
        return take(aml, 4, value);
    case OP_QWORD:
        return take(aml, 8, value);
    default:
        aml->at--;
        return -ENOTSUP;
    }
}

/* Two elements, one for each of PM1's blocks; one element alone holds both, as bytes. */
static int read_package(struct aml *aml, struct acpi_s5 *s5)
{
    uint64_t op, elements, a, b;
    int err;

    if (take(aml, 1, &op))
        return -EINVAL;
    if (op != OP_PACKAGE) {
        aml->at--;
        return -ENOTSUP;
    }
    if (take_length(aml, &aml->end) || take(aml, 1, &elements))
        return -EINVAL;
    err = take_constant(aml, &a);
    if (err)
        return err;
    if (elements > 1 && aml->at < aml->end) {
        err = take_constant(aml, &b);
        if (err)
            return err;
    } else {
        b = a >> 8;
        a &= UINT8_MAX;
    }
    if (a >= SLP_TYP_LIMIT || b >= SLP_TYP_LIMIT)
        return -EINVAL;
    *s5 = (struct acpi_s5){.known = true, .typ_a = (uint8_t)a, .typ_b = (uint8_t)b};
    return 0;
}

/*
 * Whether the name at `at` is declared there: by Name, or by Method, whose length stands between.
 */
static bool is_declared(const struct aml *aml, size_t at, bool *is_method)
{
    const uint8_t *p = aml->table;

    if (p[at - 1] == ROOT_PREFIX)
        at--;
    *is_method = false;
    if (p[at - 1] == OP_NAME)
        return true;
    *is_method = true;
    for (size_t following = 0; following <= 3; following++) {
        const uint8_t *length = p + at - 1 - following;

        if (FIELD_GET(LENGTH_FOLLOWING, *length) == following && length[-1] == OP_METHOD)
            return true;
    }
    return false;
}

int aml_find_s5(const uint8_t *table, size_t bytes, struct acpi_s5 *s5, size_t *fault)
{
    int result = -ENOENT;

    *s5 = (struct acpi_s5){.known = false};
    *fault = 0;
    /* The header lies before, so a few bytes can be looked at behind one's back. */
    for (size_t at = ACPI_HEADER_BYTES; at + NAME_BYTES <= bytes; at++) {
        struct aml aml = {.table = table, .at = at + NAME_BYTES, .end = bytes};
        bool is_method;

        if (memcmp(table + at, "_S5_", NAME_BYTES) != 0 || !is_declared(&aml, at, &is_method))
            continue;
        if (!is_method) {
            result = read_package(&aml, s5);
            *fault = result ? aml.at : 0;
            return result;
        }
        result = -ENOTSUP; /* unless a Name follows: the bytes of a method are a weak sign */
        *fault = at;
    }
    return result;
}
