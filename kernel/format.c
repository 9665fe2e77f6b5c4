/*
 * The formatter of kernel/ and arch/: a bounded printf without floating point. (Pure code below has
 * its own small one, hv/text.h, which also masks what is not printable.)
 *
 * Decides how numbers and texts are written. Does not decide where they go, and never allocates or
 * prints, so it is tested on the host as it stands.
 *
 * Knows %d %i %u %x %X %p %c %s %% with the flags 0 - #, a width and a precision (digits or *; the
 * precision cuts strings), and the lengths hh h l ll z j t. A conversion it does not know is copied
 * as it stands and ends the formatting, since its argument cannot be skipped safely.
 *
 * Invariants: writes at most `bytes` bytes and always a final NUL when bytes > 0; returns the
 * length that the whole text would have, as snprintf does.
 */
#include "kernel/printk.h"

#include <string.h>

#include "hv/bits.h"

#define DIGITS_MAX 20 /* 2^64 - 1 in decimal */

struct format_out {
    char *to;
    size_t room; /* bytes of `to`, the NUL included */
    size_t want; /* length so far, without any cut */
};

struct format_spec {
    bool left;
    bool zero;
    bool prefix;
    uint32_t width;
    uint32_t precision; /* UINT32_MAX: not given */
    uint32_t arg_bytes; /* size of an integer argument: 1, 2, 4 or 8 */
};

static void put(struct format_out *out, char c)
{
    if (out->want + 1 < out->room)
        out->to[out->want] = c;
    out->want++;
}

static void put_many(struct format_out *out, char c, size_t n)
{
    while (n--)
        put(out, c);
}

/* `sign` and `body` in a field of spec->width: spaces, sign, zeros, body, spaces. */
static void put_field(struct format_out *out, const struct format_spec *spec, const char *sign,
                      const char *body, size_t n)
{
    size_t sign_n = strlen(sign);
    size_t fill = spec->width > n + sign_n ? spec->width - n - sign_n : 0;

    if (!spec->left && !spec->zero)
        put_many(out, ' ', fill);
    while (*sign)
        put(out, *sign++);
    if (!spec->left && spec->zero)
        put_many(out, '0', fill);
    while (n--)
        put(out, *body++);
    if (spec->left)
        put_many(out, ' ', fill);
}

static void put_number(struct format_out *out, const struct format_spec *spec, const char *sign,
                       uint64_t value, uint32_t base, const char *digits)
{
    char text[DIGITS_MAX];
    size_t at = sizeof(text);

    do {
        text[--at] = digits[value % base];
        value /= base;
    } while (value);
    put_field(out, spec, sign, text + at, sizeof(text) - at);
}

static void put_signed(struct format_out *out, const struct format_spec *spec, int64_t value)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;

    put_number(out, spec, value < 0 ? "-" : "", magnitude, 10, "0123456789");
}

static void put_hex(struct format_out *out, const struct format_spec *spec, uint64_t value,
                    bool upper)
{
    put_number(out, spec, spec->prefix ? "0x" : "", value, 16,
               upper ? "0123456789ABCDEF" : "0123456789abcdef");
}

static void put_string(struct format_out *out, const struct format_spec *spec, const char *s)
{
    struct format_spec plain = *spec;
    size_t n = 0;

    if (!s)
        s = "(null)";
    while (n < spec->precision && s[n])
        n++;
    plain.zero = false;
    put_field(out, &plain, "", s, n);
}

static uint32_t read_digits(const char **fmt)
{
    uint32_t n = 0;

    while (**fmt >= '0' && **fmt <= '9' && n < 10000)
        n = n * 10 + (uint32_t)(*(*fmt)++ - '0');
    return n;
}

static const char *read_flags(const char *fmt, struct format_spec *spec)
{
    for (;; fmt++) {
        if (*fmt == '-')
            spec->left = true;
        else if (*fmt == '0')
            spec->zero = true;
        else if (*fmt == '#')
            spec->prefix = true;
        else
            return fmt;
    }
}

static const char *read_length(const char *fmt, struct format_spec *spec)
{
    spec->arg_bytes = sizeof(int);
    if (fmt[0] == 'h') {
        spec->arg_bytes = fmt[1] == 'h' ? 1 : 2;
        return fmt + (fmt[1] == 'h' ? 2 : 1);
    }
    while (*fmt == 'l' || *fmt == 'z' || *fmt == 'j' || *fmt == 't') {
        spec->arg_bytes = 8;
        fmt++;
    }
    return fmt;
}

/* A va_list in a struct can be passed on by address whatever the ABI makes of the type. */
struct format_args {
    va_list list;
};

static uint32_t read_size(const char **fmt, struct format_args *args)
{
    int n;

    if (**fmt != '*')
        return read_digits(fmt);
    (*fmt)++;
    n = va_arg(args->list, int);
    return n < 0 ? 0 : (uint32_t)n;
}

static const char *read_spec(const char *fmt, struct format_spec *spec, struct format_args *args)
{
    *spec = (struct format_spec){.precision = UINT32_MAX};
    fmt = read_flags(fmt, spec);
    spec->width = read_size(&fmt, args);
    if (*fmt == '.') {
        fmt++;
        spec->precision = read_size(&fmt, args);
    }
    return read_length(fmt, spec);
}

static uint64_t arg_unsigned(const struct format_spec *spec, struct format_args *args)
{
    if (spec->arg_bytes == 8)
        return va_arg(args->list, uint64_t);
    if (spec->arg_bytes == 4)
        return va_arg(args->list, uint32_t);
    return va_arg(args->list, uint32_t) & (spec->arg_bytes == 1 ? 0xffu : 0xffffu);
}

static int64_t arg_signed(const struct format_spec *spec, struct format_args *args)
{
    if (spec->arg_bytes == 8)
        return va_arg(args->list, int64_t);
    return va_arg(args->list, int32_t);
}

/* One conversion whose letter is *fmt; false if it is unknown. */
static bool put_conversion(struct format_out *out, char letter, struct format_spec *spec,
                           struct format_args *args)
{
    char c;

    switch (letter) {
    case 'd':
    case 'i':
        put_signed(out, spec, arg_signed(spec, args));
        return true;
    case 'u':
        put_number(out, spec, "", arg_unsigned(spec, args), 10, "0123456789");
        return true;
    case 'x':
    case 'X':
        put_hex(out, spec, arg_unsigned(spec, args), letter == 'X');
        return true;
    case 'p':
        spec->prefix = true;
        put_hex(out, spec, (uintptr_t)va_arg(args->list, void *), false);
        return true;
    case 's':
        put_string(out, spec, va_arg(args->list, const char *));
        return true;
    case 'c':
        c = (char)va_arg(args->list, int);
        spec->zero = false;
        put_field(out, spec, "", &c, 1);
        return true;
    case '%':
        put(out, '%');
        return true;
    default:
        return false;
    }
}

int vformat_text(char *to, size_t bytes, const char *fmt, va_list list)
{
    struct format_out out = {.to = to, .room = bytes};
    struct format_spec spec;
    struct format_args args;

    va_copy(args.list, list);
    while (*fmt) {
        const char *start = fmt;

        if (*fmt != '%') {
            put(&out, *fmt++);
            continue;
        }
        fmt = read_spec(fmt + 1, &spec, &args);
        if (!put_conversion(&out, *fmt, &spec, &args)) {
            while (*start)
                put(&out, *start++);
            break;
        }
        fmt++;
    }
    va_end(args.list);
    if (bytes)
        to[MIN(out.want, bytes - 1)] = 0;
    return (int)out.want;
}

int format_text(char *to, size_t bytes, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vformat_text(to, bytes, fmt, args);
    va_end(args);
    return n;
}
