/*
 * Formatting and the two output ports.
 *
 * Every wait for the UART is bounded; a port that never gets ready loses its output and no more.
 */
#include "tests/guests/rt/print.h"
#include "tests/guests/rt/rt.h"

enum {
    COM1 = 0x3f8,
    COM1_LSR = 0x3fd,
    LSR_THRE = 0x20,
    PORT_E9 = 0xe9,
    LINE_BYTES = 512,
    READY_TRIES = 100000,
};

static bool to_com1 = true;  /* [i] */
static bool to_e9;           /* [i] */
static uint32_t output_lock; /* [a] */

struct text {
    char *buf;
    size_t bytes; /* room, the end mark included */
    size_t len;
};

static void text_put(struct text *t, char c)
{
    if (t->len + 1 < t->bytes)
        t->buf[t->len++] = c;
}

struct spec {
    bool left, zero, prefix, is_long;
    uint32_t width;
};

static void text_field(struct text *t, const struct spec *s, const char *digits, size_t len,
                       const char *sign)
{
    size_t sign_len = strlen(sign);
    size_t pad = s->width > len + sign_len ? s->width - len - sign_len : 0;

    if (!s->left && !s->zero)
        for (; pad; pad--)
            text_put(t, ' ');
    for (size_t i = 0; i < sign_len; i++)
        text_put(t, sign[i]);
    if (!s->left)
        for (; pad; pad--)
            text_put(t, '0');
    for (size_t i = 0; i < len; i++)
        text_put(t, digits[i]);
    for (; pad; pad--)
        text_put(t, ' ');
}

static void text_number(struct text *t, const struct spec *s, uint64_t value, uint32_t base,
                        const char *sign)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    text_field(t, s, digits + at, sizeof(digits) - at, sign);
}

static const char *spec_parse(const char *f, struct spec *s)
{
    *s = (struct spec){0};
    for (;; f++) {
        if (*f == '-')
            s->left = true;
        else if (*f == '0')
            s->zero = true;
        else if (*f == '#')
            s->prefix = true;
        else
            break;
    }
    for (; *f >= '0' && *f <= '9'; f++)
        s->width = s->width * 10 + (uint32_t)(*f - '0');
    for (; *f == 'l' || *f == 'z'; f++)
        s->is_long = true;
    return f;
}

/* A va_list inside a structure can be handed down and advanced by the callee. */
struct args {
    va_list list;
};

static void text_convert(struct text *t, char kind, struct spec *s, struct args *args)
{
    if (kind == 'd' || kind == 'i') {
        int64_t v = s->is_long ? va_arg(args->list, long) : va_arg(args->list, int);

        text_number(t, s, v < 0 ? -(uint64_t)v : (uint64_t)v, 10, v < 0 ? "-" : "");
    } else if (kind == 'u' || kind == 'x') {
        uint64_t v = s->is_long ? va_arg(args->list, unsigned long) : va_arg(args->list, unsigned);

        text_number(t, s, v, kind == 'x' ? 16 : 10, s->prefix ? "0x" : "");
    } else if (kind == 'p') {
        text_number(t, s, (uint64_t)va_arg(args->list, void *), 16, "0x");
    } else if (kind == 's') {
        const char *text = va_arg(args->list, const char *);

        text_field(t, s, text, strlen(text), "");
    } else if (kind == 'c') {
        text_put(t, (char)va_arg(args->list, int));
    } else {
        text_put(t, kind);
    }
}

static size_t text_format(char *buf, size_t bytes, const char *format, struct args *args)
{
    struct text t = {.buf = buf, .bytes = bytes};
    struct spec s;

    for (; *format; format++) {
        if (*format != '%') {
            text_put(&t, *format);
            continue;
        }
        format = spec_parse(format + 1, &s);
        if (!*format)
            break;
        text_convert(&t, *format, &s, args);
    }
    buf[t.len] = 0;
    return t.len;
}

static void com1_put(char c)
{
    for (uint32_t tries = 0; !(asm_in8(COM1_LSR) & LSR_THRE); tries++) {
        if (tries == READY_TRIES)
            return;
        asm_pause();
    }
    asm_out8(COM1, (uint8_t)c);
}

static void output_put(char c)
{
    if (to_e9)
        asm_out8(PORT_E9, (uint8_t)c);
    if (!to_com1)
        return;
    if (c == '\n')
        com1_put('\r');
    com1_put(c);
}

static void output_write(const char *text, size_t len)
{
    uint64_t flags = asm_irq_save();

    while (__atomic_exchange_n(&output_lock, 1, __ATOMIC_ACQUIRE))
        asm_pause();
    for (size_t i = 0; i < len; i++)
        output_put(text[i]);
    __atomic_store_n(&output_lock, 0, __ATOMIC_RELEASE);
    asm_irq_restore(flags);
}

void print_init(void)
{
    to_e9 = opt_is("out", "e9") || opt_is("out", "both");
    to_com1 = !opt_is("out", "e9");
    if (!to_com1)
        return;
    asm_out8(COM1 + 1, 0);    /* no interrupts */
    asm_out8(COM1 + 3, 0x80); /* divisor latch */
    asm_out8(COM1, 1);        /* 115200 */
    asm_out8(COM1 + 1, 0);
    asm_out8(COM1 + 3, 0x03); /* 8n1 */
    asm_out8(COM1 + 2, 0x07); /* FIFOs on and empty */
}

void rt_printf(const char *format, ...)
{
    char line[LINE_BYTES];
    struct args args;
    size_t len;

    va_start(args.list, format);
    len = text_format(line, sizeof(line), format, &args);
    va_end(args.list);
    output_write(line, len);
}

size_t rt_snprintf(char *buf, size_t bytes, const char *format, ...)
{
    struct args args;
    size_t len;

    va_start(args.list, format);
    len = text_format(buf, bytes, format, &args);
    va_end(args.list);
    return len;
}

size_t rt_vsnprintf(char *buf, size_t bytes, const char *format, va_list list)
{
    struct args args;
    size_t len;

    va_copy(args.list, list);
    len = text_format(buf, bytes, format, &args);
    va_end(args.list);
    return len;
}
