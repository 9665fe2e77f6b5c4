/*
 * A streaming writer of JSON (RFC 8259). Pure: bytes go where `put` takes them.
 *
 * Commas are its affair; the caller opens and closes what it means to. A key of NULL is for
 * elements of an array and for the outermost value. State is kept in the struct, so a listing may
 * go on in a later step.
 */
#ifndef KERNEL_JSON_H
#define KERNEL_JSON_H

#include "hv/types.h"

#define JSON_DEPTH_MAX 16u

struct json {
    void (*put)(void *ctx, const char *bytes, size_t n); /* [i] */
    void *ctx;                                           /* [i] */
    uint32_t depth;
    uint32_t filled; /* bit d: the object or array at depth d has an element */
};

void json_init(struct json *j, void (*put)(void *ctx, const char *bytes, size_t n), void *ctx);

void json_begin_object(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_begin_array(struct json *j, const char *key);
void json_end_array(struct json *j);

void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* Bytes that are not printable ASCII are escaped as if they were Latin-1. */
void json_string(struct json *j, const char *key, const char *text);

/* value / 2^frac_bits with two decimals, rounded down; frac_bits <= 56. */
void json_fixed(struct json *j, const char *key, uint64_t value, uint32_t frac_bits);

#endif
