/*
 * Guests' console output, byte by byte, made into whole lines. Pure; the console lock is the
 * caller's.
 *
 * Each VM has a slot with the line it has begun; a VM that finds no free slot takes over another's,
 * whose begun line is then shown as it is. Control characters and terminal escape sequences are
 * left out of lines; a VM that is attached gets its bytes through raw, by mixer_guest_raw.
 */
#ifndef KERNEL_GUEST_LINES_H
#define KERNEL_GUEST_LINES_H

#include "hv/guest_config.h"
#include "kernel/mixer.h"

#define GUEST_LINE_SLOTS 32u
#define GUEST_LINE_MAX   512u /* with a prefix it is within MIXER_GUEST_ROW */

struct guest_line {
    uint32_t vm_id;
    bool used;
    uint8_t escape; /* place inside an escape sequence */
    uint32_t length;
    char name[GUEST_NAME_CHARS];
    char text[GUEST_LINE_MAX];
};

struct guest_lines {
    struct guest_line slot[GUEST_LINE_SLOTS];
};

void guest_lines_write(struct guest_lines *g, struct mixer *m, uint32_t vm_id, const char *name,
                       const char *bytes, size_t n);

/* The VM says no more: show what it has begun, free its slot. */
void guest_lines_end(struct guest_lines *g, struct mixer *m, uint32_t vm_id);

#endif
