/*
 * printf of the guests: to COM1 (polled), to port 0xE9, or to both, by `out=com1|e9|both`.
 *
 * One call writes its text whole: lines of several CPUs never mix. Not from NMI handlers, which
 * might have interrupted the writer.
 */
#ifndef GUEST_RT_PRINT_H
#define GUEST_RT_PRINT_H

#include <stdarg.h>

#include "hv/types.h"

void print_init(void);

/* %d %i %u %x %c %s %p %%, with l, z, a width, `-`, `0` and `#`. At most 511 characters a call. */
void rt_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same into a buffer, always terminated; returns the length written. */
size_t rt_snprintf(char *buf, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t rt_vsnprintf(char *buf, size_t bytes, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

#endif
