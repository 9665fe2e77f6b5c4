/*
 * Guests' console output by lines (see guest_output.h).
 */
#include "kernel/guest_output.h"

#include <string.h>

#include "kernel/escape.h"

static void flush(struct guest_output_line *line, struct mixer *m)
{
    mixer_guest_line(m, line->name, line->text, line->length);
    line->length = 0;
}

static void take_slot(struct guest_output_line *line, struct mixer *m, uint32_t vm_id,
                      const char *name)
{
    size_t n = strnlen(name, sizeof(line->name) - 1);

    if (line->used && line->length)
        flush(line, m);
    line->used = true;
    line->vm_id = vm_id;
    line->length = 0;
    line->escape = ESCAPE_NONE;
    memcpy(line->name, name, n);
    line->name[n] = 0;
}

static struct guest_output_line *find_slot(struct guest_output *g, uint32_t vm_id)
{
    for (uint32_t i = 0; i < GUEST_OUTPUT_SLOTS; i++) {
        struct guest_output_line *line = &g->slot[(vm_id + i) % GUEST_OUTPUT_SLOTS];

        if (line->used && line->vm_id == vm_id)
            return line;
    }
    return NULL;
}

static struct guest_output_line *free_slot(struct guest_output *g, uint32_t vm_id)
{
    for (uint32_t i = 0; i < GUEST_OUTPUT_SLOTS; i++) {
        struct guest_output_line *line = &g->slot[(vm_id + i) % GUEST_OUTPUT_SLOTS];

        if (!line->used)
            return line;
    }
    return &g->slot[vm_id % GUEST_OUTPUT_SLOTS];
}

static void put(struct guest_output_line *line, struct mixer *m, char c)
{
    if (escape_step(&line->escape, (uint8_t)c) != ESCAPE_OUTSIDE)
        return;
    if (c == '\n') {
        flush(line, m);
        return;
    }
    if (c == '\t')
        c = ' ';
    if (c == 0x7f || (unsigned char)c < ' ')
        return;
    if (line->length == GUEST_OUTPUT_MAX)
        flush(line, m);
    line->text[line->length++] = c;
}

void guest_output_write(struct guest_output *g, struct mixer *m, uint32_t vm_id, const char *name,
                        const char *bytes, size_t n)
{
    struct guest_output_line *line = find_slot(g, vm_id);

    if (!line) {
        line = free_slot(g, vm_id);
        take_slot(line, m, vm_id, name);
    }
    for (size_t i = 0; i < n; i++)
        put(line, m, bytes[i]);
}

void guest_output_end(struct guest_output *g, struct mixer *m, uint32_t vm_id)
{
    struct guest_output_line *line = find_slot(g, vm_id);

    if (!line)
        return;
    if (line->length)
        flush(line, m);
    line->used = false;
}
