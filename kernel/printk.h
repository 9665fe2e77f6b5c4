/*
 * What the host has to say, line by line.
 *
 * printk formats (kernel/format.c: %d %u %x %lu %llu %lx %p %s %c %% with width, 0 and -, and %.*s)
 * into the log ring; the console shows from there what passes loglvl=. It never waits. A call is a
 * line, without a newline at its end, and its level stands in no text: the console puts "warning: "
 * before those of pr_warn.
 */
#ifndef KERNEL_PRINTK_H
#define KERNEL_PRINTK_H

#include <stdarg.h>

#include "hv/types.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

void printk(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void vprintk(enum log_level level, const char *fmt, va_list args);

#define pr_err(...)   printk(LOG_ERROR, __VA_ARGS__)
#define pr_warn(...)  printk(LOG_WARNING, __VA_ARGS__)
#define pr_info(...)  printk(LOG_INFO, __VA_ARGS__)
#define pr_debug(...) printk(LOG_DEBUG, __VA_ARGS__)

/* Formats as printk does; returns the length the whole text would have, as snprintf. */
int format_text(char *to, size_t bytes, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int vformat_text(char *to, size_t bytes, const char *fmt, va_list args);

_Noreturn void panic(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
