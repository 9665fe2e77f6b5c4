/*
 * The log ring: the last lines of the host, each with its time and level.
 *
 * Records overwrite the oldest ones; readers hold a cursor of their own and learn how many records
 * they missed. Nothing here locks or prints: the owner (kernel/console.c) holds the console lock
 * around every call, so the ring is tested on the host as it stands.
 */
#ifndef KERNEL_LOG_H
#define KERNEL_LOG_H

#include "hv/types.h"

#define LOG_TEXT_MAX 240u /* bytes of one line, without a NUL; longer ones are cut */

struct log_ring {
    char *bytes;       /* [i] the caller's */
    uint32_t capacity; /* [i] a power of two, >= 1024 */
    uint64_t head;     /* bytes ever written: where the next record goes */
    uint64_t tail;     /* where the oldest whole record begins; head - tail <= capacity */
    uint64_t head_seq; /* records ever written */
    uint64_t tail_seq; /* number of the oldest record */
};

struct log_cursor {
    uint64_t at;  /* where the next record begins */
    uint64_t seq; /* its number */
};

struct log_line {
    ns_t time;
    uint32_t level; /* enum log_level */
    uint32_t length;
    uint64_t missed; /* records overwritten since the cursor's last read */
    char text[LOG_TEXT_MAX + 1];
};

void log_init(struct log_ring *log, char *bytes, uint32_t capacity);

/* One record for each line in text[0..length): a newline ends a record and is not kept. */
void log_append(struct log_ring *log, uint32_t level, ns_t now, const char *text, size_t length);

struct log_cursor log_oldest(const struct log_ring *log);

/* The record at the cursor, which moves behind it; false when there is none yet. */
bool log_read(const struct log_ring *log, struct log_cursor *cursor, struct log_line *line);

#endif
