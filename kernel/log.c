/*
 * The log ring (see log.h).
 *
 * A record is a header and its text, in the ring modulo the capacity; positions count all bytes
 * ever written, so they never go back and a stale cursor shows by being below the tail.
 */
#include "kernel/log.h"

#include <string.h>

#include "hv/assert.h"
#include "hv/bits.h"

struct log_header {
    ns_t time;
    uint32_t length;
    uint32_t level;
};

static void ring_write(struct log_ring *log, const void *from, size_t n)
{
    size_t at = log->head & (log->capacity - 1);
    size_t first = MIN(n, log->capacity - at); /* up to the ring's end */

    memcpy(log->bytes + at, from, first);
    memcpy(log->bytes, (const char *)from + first, n - first);
    log->head += n;
}

static void ring_read(const struct log_ring *log, uint64_t position, void *to, size_t n)
{
    size_t at = position & (log->capacity - 1);
    size_t first = MIN(n, log->capacity - at);

    memcpy(to, log->bytes + at, first);
    memcpy((char *)to + first, log->bytes, n - first);
}

/* Forget the oldest records until n more bytes have room. */
static void make_room(struct log_ring *log, size_t n)
{
    struct log_header header;

    while (log->head + n - log->tail > log->capacity) {
        ring_read(log, log->tail, &header, sizeof(header));
        log->tail += sizeof(header) + header.length;
        log->tail_seq++;
    }
}

static void append_line(struct log_ring *log, uint32_t level, ns_t now, const char *text, size_t n)
{
    struct log_header header = {
        .time = now, .length = (uint32_t)MIN(n, LOG_TEXT_MAX), .level = level};

    make_room(log, sizeof(header) + header.length);
    ring_write(log, &header, sizeof(header));
    ring_write(log, text, header.length);
    log->head_seq++;
}

void log_init(struct log_ring *log, char *bytes, uint32_t capacity)
{
    ASSERT(capacity >= 1024 && (capacity & (capacity - 1)) == 0);
    *log = (struct log_ring){.bytes = bytes, .capacity = capacity};
}

void log_append(struct log_ring *log, uint32_t level, ns_t now, const char *text, size_t length)
{
    size_t start = 0;

    do {
        size_t end = start;

        while (end < length && text[end] != '\n')
            end++;
        append_line(log, level, now, text + start, end - start);
        start = end + 1;
    } while (start < length);
}

struct log_cursor log_oldest(const struct log_ring *log)
{
    return (struct log_cursor){.at = log->tail, .seq = log->tail_seq};
}

bool log_read(const struct log_ring *log, struct log_cursor *cursor, struct log_line *line)
{
    struct log_header header;

    line->missed = 0;
    if (cursor->seq < log->tail_seq) {
        line->missed = log->tail_seq - cursor->seq;
        *cursor = log_oldest(log);
    }
    if (cursor->seq == log->head_seq)
        return false;
    ring_read(log, cursor->at, &header, sizeof(header));
    line->time = header.time;
    line->level = header.level;
    line->length = header.length;
    ring_read(log, cursor->at + sizeof(header), line->text, header.length);
    line->text[header.length] = 0;
    cursor->at += sizeof(header) + header.length;
    cursor->seq++;
    return true;
}
