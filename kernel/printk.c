/*
 * printk: a line into the log (see printk.h).
 */
#include "kernel/printk.h"

#include "hv/bits.h"
#include "kernel/console.h"

void vprintk(enum log_level level, const char *fmt, va_list args)
{
    char text[2 * LOG_TEXT_MAX]; /* room for a call of several lines */
    size_t n = (size_t)vformat_text(text, sizeof(text), fmt, args);

    console_log(level, text, MIN(n, sizeof(text) - 1));
}

void printk(enum log_level level, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vprintk(level, fmt, args);
    va_end(args);
}
