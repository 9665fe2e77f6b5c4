/*
 * A bounded formatter for one-line texts, for pure code that has no printf.
 *
 * Knows %s %c %u %d %x %lu %ld %lx %zu %% with an optional zero flag and width; anything else is
 * copied as it stands. Output is cut at the capacity and always ends in a NUL. Bytes of a %s that
 * are not printable ASCII become '?': the strings come from firmware, command lines and guests.
 */
#ifndef HV_TEXT_H
#define HV_TEXT_H

#include <stdarg.h>
#include <string.h>

#include "hv/firmware.h"

struct text_out {
    char *at;
    size_t left; /* bytes that may still be written, the NUL not counted */
    size_t want; /* bytes a boundless buffer would have got */
};

static inline void text_put(struct text_out *out, char c)
{
    out->want++;
    if (!out->left)
        return;
    *out->at++ = c;
    out->left--;
}

static inline void text_put_string(struct text_out *out, const char *s)
{
    for (; *s; s++)
        text_put(out, *s >= ' ' && *s <= '~' ? *s : '?');
}

static inline void text_put_number(struct text_out *out, uint64_t value, uint32_t base,
                                   uint32_t width, char pad)
{
    char digits[20]; /* 2^64 has 20 decimal digits */
    uint32_t n = 0;

    do {
        digits[n++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    while (width-- > n)
        text_put(out, pad);
    while (n)
        text_put(out, digits[--n]);
}

struct text_spec {
    char pad;
    uint32_t width;
    bool is_long;
};

static inline const char *text_read_spec(const char *fmt, struct text_spec *spec)
{
    *spec = (struct text_spec){.pad = ' '};
    if (*fmt == '0')
        spec->pad = *fmt++;
    while (*fmt >= '0' && *fmt <= '9' && spec->width < 100)
        spec->width = spec->width * 10 + (uint32_t)(*fmt++ - '0');
    while (*fmt == 'l' || *fmt == 'z') {
        spec->is_long = true;
        fmt++;
    }
    return fmt;
}

/* Returns the length without the cut, so `>= capacity` says that text was lost. capacity >= 1. */
static inline size_t text_vformat(char *buffer, size_t capacity, const char *fmt, va_list args)
{
    struct text_out out = {.at = buffer, .left = capacity - 1};
    struct text_spec spec;

    for (; *fmt; fmt++) {
        if (*fmt != '%') {
            text_put(&out, *fmt);
            continue;
        }
        fmt = text_read_spec(fmt + 1, &spec);
        if (*fmt == 's') {
            text_put_string(&out, va_arg(args, const char *));
        } else if (*fmt == 'c') {
            char one[2] = {(char)va_arg(args, int), 0};

            text_put_string(&out, one);
        } else if (*fmt == 'u' || *fmt == 'x') {
            uint64_t value = spec.is_long ? va_arg(args, uint64_t) : va_arg(args, uint32_t);

            text_put_number(&out, value, *fmt == 'x' ? 16 : 10, spec.width, spec.pad);
        } else if (*fmt == 'd') {
            int64_t value = spec.is_long ? va_arg(args, int64_t) : va_arg(args, int32_t);

            if (value < 0)
                text_put(&out, '-');
            text_put_number(&out, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, spec.width,
                            spec.pad);
        } else if (*fmt) {
            text_put(&out, *fmt); /* %% */
        } else {
            break;
        }
    }
    *out.at = 0;
    return out.want;
}

__attribute__((format(printf, 3, 4))) static inline size_t text_format(char *buffer,
                                                                       size_t capacity,
                                                                       const char *fmt, ...)
{
    va_list args;
    size_t want;

    va_start(args, fmt);
    want = text_vformat(buffer, capacity, fmt, args);
    va_end(args);
    return want;
}

/* One line more, or one more counted as dropped. `w` may be NULL. */
static inline void fw_vwarn(struct fw_warnings *w, const char *fmt, va_list args)
{
    if (!w)
        return;
    if (w->count >= FW_WARNINGS_MAX) {
        w->dropped++;
        return;
    }
    text_vformat(w->text[w->count++], FW_WARNING_CHARS, fmt, args);
}

#endif
