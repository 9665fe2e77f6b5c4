/*
 * Where in a terminal's control sequence a stream of bytes is: ESC and one more byte, or ESC [,
 * parameters and one final byte (ECMA-48 5.4). A control character ends a sequence that is cut
 * short, and counts for itself. Pure; what is made of a sequence is the caller's affair.
 */
#ifndef KERNEL_ESCAPE_H
#define KERNEL_ESCAPE_H

#include "hv/types.h"

#define ESCAPE 0x1b

enum escape_state { ESCAPE_NONE, ESCAPE_BEGUN, ESCAPE_PARAMETERS };

enum escape_byte {
    ESCAPE_OUTSIDE, /* belongs to no sequence */
    ESCAPE_INSIDE,
    ESCAPE_FINAL, /* the last of one that began with ESC [ */
};

/* What `c` is, by enum escape_state in *state, which moves on. */
static inline enum escape_byte escape_step(uint8_t *state, uint8_t c)
{
    if (c == ESCAPE) {
        *state = ESCAPE_BEGUN;
        return ESCAPE_INSIDE;
    }
    if (*state == ESCAPE_NONE || c < ' ') {
        *state = ESCAPE_NONE;
        return ESCAPE_OUTSIDE;
    }
    if (*state == ESCAPE_BEGUN) {
        *state = c == '[' ? ESCAPE_PARAMETERS : ESCAPE_NONE;
        return ESCAPE_INSIDE;
    }
    if (c < '@')
        return ESCAPE_INSIDE;
    *state = ESCAPE_NONE;
    return ESCAPE_FINAL;
}

#endif
