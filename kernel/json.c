/*
 * A streaming writer of JSON (see json.h).
 */
#include "kernel/json.h"

#include <string.h>

#include "hv/assert.h"
#include "hv/bits.h"
#include "kernel/printk.h"

void json_init(struct json *j, void (*put)(void *ctx, const char *bytes, size_t n), void *ctx)
{
    *j = (struct json){.put = put, .ctx = ctx};
}

static void put_text(struct json *j, const char *text)
{
    j->put(j->ctx, text, strlen(text));
}

static void put_escaped(struct json *j, char c)
{
    char text[8];
    unsigned char byte = (unsigned char)c;

    if (c == '"' || c == '\\')
        format_text(text, sizeof(text), "\\%c", c);
    else if (byte < ' ' || byte > '~')
        format_text(text, sizeof(text), "\\u%04x", byte);
    else
        format_text(text, sizeof(text), "%c", c);
    put_text(j, text);
}

static void put_quoted(struct json *j, const char *text)
{
    put_text(j, "\"");
    while (*text) {
        size_t plain = 0;

        while (text[plain] >= ' ' && text[plain] <= '~' && text[plain] != '"' &&
               text[plain] != '\\')
            plain++;
        j->put(j->ctx, text, plain);
        text += plain;
        if (*text)
            put_escaped(j, *text++);
    }
    put_text(j, "\"");
}

/* What stands before every value: the comma after the one before, and the key. */
static void begin_value(struct json *j, const char *key)
{
    if (j->filled & BIT(j->depth))
        put_text(j, ",");
    j->filled |= (uint32_t)BIT(j->depth);
    if (key) {
        put_quoted(j, key);
        put_text(j, ":");
    }
}

static void begin_nested(struct json *j, const char *key, const char *bracket)
{
    ASSERT(j->depth + 1 < JSON_DEPTH_MAX);
    begin_value(j, key);
    put_text(j, bracket);
    j->depth++;
    j->filled &= ~(uint32_t)BIT(j->depth);
}

static void end_nested(struct json *j, const char *bracket)
{
    ASSERT(j->depth);
    j->depth--;
    put_text(j, bracket);
}

void json_begin_object(struct json *j, const char *key)
{
    begin_nested(j, key, "{");
}

void json_end_object(struct json *j)
{
    end_nested(j, "}");
}

void json_begin_array(struct json *j, const char *key)
{
    begin_nested(j, key, "[");
}

void json_end_array(struct json *j)
{
    end_nested(j, "]");
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
    char text[24];

    begin_value(j, key);
    format_text(text, sizeof(text), "%llu", (unsigned long long)value);
    put_text(j, text);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
    char text[24];

    begin_value(j, key);
    format_text(text, sizeof(text), "%lld", (long long)value);
    put_text(j, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin_value(j, key);
    put_text(j, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    begin_value(j, key);
    put_text(j, "null");
}

void json_string(struct json *j, const char *key, const char *text)
{
    begin_value(j, key);
    put_quoted(j, text);
}

void json_fixed(struct json *j, const char *key, uint64_t value, uint32_t frac_bits)
{
    uint64_t fraction = value & (BIT(frac_bits) - 1);
    char text[32];

    begin_value(j, key);
    /* fraction < 2^56, so fraction * 100 < 2^63. */
    format_text(text, sizeof(text), "%llu.%02llu", (unsigned long long)(value >> frac_bits),
                (unsigned long long)((fraction * 100) >> frac_bits));
    put_text(j, text);
}
