/*
 * What the console shows next: host lines, guest lines, replies of the shell, the prompt, in an
 * order in which none cuts another. Pure: bytes are put in from all sides and pulled out by the
 * drain.
 *
 * Decides: a reply is one uninterrupted run of bytes, from mixer_reply_begin to mixer_reply_end,
 * followed by the prompt; host and guest lines are whole lines; one that comes while the prompt is
 * shown overwrites it, and mixer_prompt shows it again when things are quiet; while a VM's console
 * is attached, only its bytes pass. What finds no room: guest lines are dropped and counted by a
 * line of their own; host lines stay in the log ring until they are overwritten there, which is
 * counted as well.
 *
 * Does not decide when anything is sent, and does not lock: kernel/console.c holds the console
 * lock.
 */
#ifndef KERNEL_MIXER_H
#define KERNEL_MIXER_H

#include "kernel/byte_ring.h"
#include "kernel/line_edit.h"
#include "kernel/log.h"

#define MIXER_PROMPT        "numen> "
#define MIXER_WARNING       "warning: " /* stands before host lines of that level */
#define MIXER_PENDING_BYTES 2048u
#define MIXER_GUEST_ROW     600u  /* bytes of a guest's line with its prefix; more are cut */
#define MIXER_ECHO_ROOM     1024u /* pending bytes that one key or one line may need */

struct mixer {
    const struct log_ring *log; /* [i] */
    struct line_edit *edit;     /* [i] the line behind the prompt */
    struct log_cursor cursor;   /* next record to show */
    uint32_t level;             /* records of this level and above are not shown */
    bool replying;              /* a command runs: only its reply passes */
    bool attached;              /* a guest's bytes pass raw */
    bool prompt_shown;          /* prompt and typed text stand on the terminal's last line */
    bool after_cr;              /* the last raw byte was a CR */
    uint64_t guest_dropped;     /* lines, not yet told */
    uint64_t reply_lost;        /* bytes of this reply that found no room */
    struct byte_ring reply;
    struct byte_ring guest;   /* whole lines, or raw bytes while attached */
    struct byte_ring pending; /* the line being sent, echo, prompt */
    char pending_bytes[MIXER_PENDING_BYTES];
};

struct mixer_memory {
    char *reply;
    uint32_t reply_bytes; /* a power of two, as the next */
    char *guest;
    uint32_t guest_bytes;
};

void mixer_init(struct mixer *m, const struct log_ring *log, struct line_edit *edit,
                const struct mixer_memory *memory);

/* The next bytes for the terminal; 0 when there is nothing to send now. */
uint32_t mixer_pull(struct mixer *m, char *bytes, uint32_t n);

/* Nothing waits to be sent. */
bool mixer_is_quiet(const struct mixer *m);

/* One line of a guest, without its newline. */
void mixer_guest_line(struct mixer *m, const char *name, const char *text, uint32_t n);

void mixer_attach(struct mixer *m);
void mixer_detach(struct mixer *m);
void mixer_guest_raw(struct mixer *m, const char *bytes, uint32_t n); /* while attached */

void mixer_reply_begin(struct mixer *m);
void mixer_reply_put(struct mixer *m, const char *bytes, uint32_t n);
void mixer_reply_end(struct mixer *m);

/* Keys may be handled: what they echo has room and follows all that was said before. */
bool mixer_can_echo(const struct mixer *m);
void mixer_echo(struct mixer *m, const struct line_edit_echo *echo); /* after the line changed */
void mixer_end_input(struct mixer *m);                               /* ENTER or ^C: newline */

/* Show the prompt and what is typed, unless it is shown or may not be now. */
void mixer_prompt(struct mixer *m);

/* Panic: end whatever was begun; from now on lines pass at once, replies are forgotten. */
void mixer_panic(struct mixer *m);

#endif
