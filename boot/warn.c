/*
 * Warnings of the parsers: one line of text appended to the caller's list.
 *
 * Decides nothing: the formatter and the bound are hv/text.h's. Pure.
 */
#include "boot/warn.h"

#include "hv/text.h"

void boot_warn(struct fw_warnings *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fw_vwarn(w, fmt, args);
    va_end(args);
}
