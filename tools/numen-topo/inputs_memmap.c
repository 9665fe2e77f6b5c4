/*
 * Memory maps as text.
 *
 * A line is a range with inclusive end and its type: "0x0-0x9fbff usable". Read are also
 * /proc/iomem, whose indented lines are parts of the range above them, GRUB's lsmmap ("base_addr =
 * 0x0, length = 0x9fc00, available RAM"), and whole boot logs of Linux, Xen and Numen. Of a log
 * only the lines of the firmware's map count, for it is full of other ranges: "BIOS-e820: [mem
 * 0x0-0x9fbff] usable", "(XEN)  [0, 9fbff] (usable)", "memory: [0x0-0x9fbff] usable", and the same
 * as "0 - 9fc00 (usable)" from older ones, whose end is the next byte. '#' begins a remark. Decides
 * which type a word means; unknown words are reserved memory, the safe side. Overlaps are
 * boot/memmap.c's.
 */
#include "tools/numen-topo/topo.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/memmap.h"
#include "boot/warn.h"

static const struct {
    const char *word; /* of which the type's text holds a part, in any case */
    enum mem_type type;
} type_words[] = {
    /* "unusable" holds "usable", so it comes first. */
    {"unusable", MEM_BAD},   {"bad", MEM_BAD},       {"usable", MEM_RAM},
    {"system ram", MEM_RAM}, {"available", MEM_RAM}, {"nvs", MEM_NVS},
    {"acpi non-v", MEM_NVS}, {"acpi", MEM_ACPI},     {"persistent", MEM_PERSISTENT},
};

/* What the lines of the firmware's map have in a boot log, before the range. */
static const char *const log_marks[] = {"BIOS-e820:", "(XEN)", "memory: "};

struct reader {
    const char *mark; /* of the log; NULL: the text is no log */
    uint32_t line, good, hidden, bad, first_bad;
};

static bool holds_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (; *text; text++)
        if (strncasecmp(text, word, n) == 0)
            return true;
    return false;
}

/* The type that the rest of a line names: a word, "type 7", or e820's number alone. */
static uint32_t read_type(const char *text)
{
    const char *number = text + strspn(text, " \t]):(|");

    for (size_t i = 0; i < sizeof(type_words) / sizeof(type_words[0]); i++)
        if (holds_word(text, type_words[i].word))
            return type_words[i].type;
    if (strcasecmp(number, "ram") == 0)
        return MEM_RAM;
    if (strncasecmp(number, "type ", 5) == 0)
        number += 5;
    return memmap_type_of_e820((uint32_t)strtoul(number, NULL, 0));
}

/* The number that a text begins with, in hex. False: with another, or beyond 64 bits. */
static bool read_number(const char **text, uint64_t *number)
{
    char *end;

    if (!isxdigit((unsigned char)**text))
        return false;
    errno = 0;
    *number = strtoull(*text, &end, 16);
    *text = end;
    return errno == 0;
}

/* "BASE-END" or "BASE, END" in hex; the rest is the type. False: the text begins otherwise. */
static bool read_range(const char **text, paddr_t *base, paddr_t *last)
{
    const char *at = *text + strspn(*text, " "), *after_base;

    if (!read_number(&at, base))
        return false;
    after_base = at;
    at += strspn(at, " -,");
    if (at == after_base || !read_number(&at, last))
        return false;
    *text = at;
    return *last >= *base;
}

/* "base_addr = 0x0, length = 0x9fc00, available RAM" */
static bool read_grub_range(const char **text, paddr_t *base, paddr_t *last)
{
    static const char first[] = "base_addr = ", second[] = ", length = ";
    const char *at = *text + sizeof(first) - 1;
    uint64_t length;

    if (strncmp(*text, first, sizeof(first) - 1) != 0 || !read_number(&at, base) ||
        strncmp(at, second, sizeof(second) - 1) != 0)
        return false;
    at += sizeof(second) - 1;
    if (!read_number(&at, &length) || !length)
        return false;
    *text = at;
    *last = MAX(*base + length - 1, *base);
    return true;
}

void inputs_begin_memmap(struct inputs *in)
{
    if (!in->map.ranges)
        memmap_init(&in->map, grow_array(NULL, MAP_RANGES_MAX, sizeof(*in->map.ranges)),
                    MAP_RANGES_MAX);
}

/* "[mem BASE-END" or "[BASE, END". */
static bool read_bracket(const char **text, paddr_t *base, paddr_t *last)
{
    const char *at = *text + (**text == '[');

    if (at == *text)
        return false;
    at += strncmp(at, "mem ", 4) == 0 ? 4 : 0;
    if (!read_range(&at, base, last))
        return false;
    *text = at;
    return true;
}

/* Behind the mark, and Xen's time in brackets: a range in brackets, or "BASE - NEXT (type)". */
static bool read_log_range(const char **text, paddr_t *base, paddr_t *last)
{
    const char *time_end;

    *text += strspn(*text, " ");
    if (read_bracket(text, base, last))
        return true;
    time_end = **text == '[' ? strchr(*text, ']') : NULL;
    if (time_end)
        *text = time_end + 1 + strspn(time_end + 1, " ");
    if (read_bracket(text, base, last))
        return true;
    if (!read_range(text, base, last) || !strchr(*text, '(') || *last == *base)
        return false;
    --*last;
    return true;
}

static bool read_line(struct reader *r, const char **text, paddr_t *base, paddr_t *last)
{
    return r->mark ? read_log_range(text, base, last)
                   : read_bracket(text, base, last) || read_range(text, base, last) ||
                         read_grub_range(text, base, last);
}

static void add_line(struct inputs *in, struct reader *r, char *line)
{
    const char *mark = r->mark ? strstr(line, r->mark) : NULL;
    const char *text = mark ? mark + strlen(r->mark) : line;
    paddr_t base, last;

    r->line++;
    if (r->mark && !mark)
        return;
    line[strcspn(line, "#")] = 0;
    if (!r->mark && (!*line || isspace((unsigned char)*line)))
        return;
    if (!read_line(r, &text, &base, &last)) {
        if (!r->mark && r->bad++ == 0)
            r->first_bad = r->line;
    } else if (last == 0) {
        r->hidden++;
    } else {
        /* 2^64 itself is never reached: a range up to there is a byte short. */
        memmap_add(&in->map, base, MAX(last - base + 1, last - base), read_type(text));
        r->good++;
    }
}

/* The mark of the log that the text is; NULL: it is none. */
static const char *find_mark(const char *text)
{
    for (size_t i = 0; i < sizeof(log_marks) / sizeof(log_marks[0]); i++)
        if (strstr(text, log_marks[i]))
            return log_marks[i];
    return NULL;
}

void inputs_add_memmap(struct inputs *in, struct file_bytes text)
{
    struct reader r = {.mark = find_mark((const char *)text.data)};
    char *at = (char *)text.data, *line;

    inputs_begin_memmap(in);
    while ((line = line_next(&at)))
        add_line(in, &r, line);
    memmap_trim(&in->map);
    if (r.bad)
        boot_warn(&in->warnings, "memory map: %u lines are no range, the first is line %u; skipped",
                  r.bad, r.first_bad);
    if (r.hidden)
        boot_warn(&in->warnings,
                  "memory map: %u ranges are 0-0, as Linux shows them to all but root; skipped",
                  r.hidden);
    if (in->map.dropped)
        boot_warn(&in->warnings, "memory map: no room for %u changes; some RAM is not used",
                  in->map.dropped);
    if (!r.good) {
        boot_warn(&in->warnings, "memory map: no range in it; ignored");
        free(in->map.ranges);
        in->map.ranges = NULL;
    }
    free(text.data);
}
