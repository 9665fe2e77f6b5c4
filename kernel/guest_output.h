/*
 * Guests' console output, byte by byte, made into whole lines. Pure; the console lock is the
 * caller's.
 *
 * Each VM has a slot with the line it has begun; a VM that finds no free slot takes over another's,
 * whose begun line is then shown as it is. Control characters and terminal escape sequences are
 * left out of lines; a VM that is attached gets its bytes through raw, by mixer_guest_raw.
 */
#ifndef KERNEL_GUEST_OUTPUT_H
#define KERNEL_GUEST_OUTPUT_H

#include "hv/guest_config.h"
#include "kernel/mixer.h"

#define GUEST_OUTPUT_SLOTS 32u
#define GUEST_OUTPUT_MAX   512u /* with a prefix it is within MIXER_GUEST_ROW */

struct guest_output_line {
    uint32_t vm_id;
    bool used;
    uint8_t escape; /* enum escape_state */
    uint32_t length;
    char name[GUEST_NAME_CHARS];
    char text[GUEST_OUTPUT_MAX];
};

struct guest_output {
    struct guest_output_line slot[GUEST_OUTPUT_SLOTS];
};

void guest_output_write(struct guest_output *g, struct mixer *m, uint32_t vm_id, const char *name,
                        const char *bytes, size_t n);

/* The VM says no more: show what it has begun, free its slot. */
void guest_output_end(struct guest_output *g, struct mixer *m, uint32_t vm_id);

#endif
