/*
 * Memory maps as text.
 *
 * A line is a range with inclusive end and its type: "0x0-0x9fbff usable". Read are also what
 * Linux's and Xen's boot logs print ("BIOS-e820: [mem 0x0-0x9fbff] usable", "[0, 9fbff] (usable)")
 * and /proc/iomem, whose indented lines are parts of the range above them. '#' begins a remark.
 * Decides which type a word means; unknown words are reserved memory, the safe side. Overlaps are
 * boot/memmap.c's.
 */
#include "tools/numen-topo/topo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "boot/memmap.h"
#include "boot/warn.h"

static const struct {
    const char *word; /* of which the type's text holds a part, in any case */
    enum mem_type type;
} type_words[] = {
    /* "unusable" holds "usable", so it comes first. */
    {"unusable", MEM_BAD}, {"bad", MEM_BAD},
    {"usable", MEM_RAM},   {"system ram", MEM_RAM},
    {"nvs", MEM_NVS},      {"non-volatile storage", MEM_NVS},
    {"acpi", MEM_ACPI},    {"persistent", MEM_PERSISTENT},
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

/* "BASE-END" or "BASE, END" in hex. False: the text begins otherwise. */
static bool read_range(const char *text, paddr_t *base, paddr_t *last, const char **rest)
{
    char *end;

    if (!isxdigit((unsigned char)*text))
        return false;
    *base = strtoull(text, &end, 16);
    text = end + strspn(end, " -,");
    if (text == end || !isxdigit((unsigned char)*text))
        return false;
    *last = strtoull(text, &end, 16);
    *rest = end;
    return *last >= *base;
}

void inputs_begin_memmap(struct inputs *in)
{
    if (!in->map.ranges)
        memmap_init(&in->map, grow_array(NULL, MAP_RANGES_MAX, sizeof(*in->map.ranges)),
                    MAP_RANGES_MAX);
}

/* False: the line is no range. */
static bool read_line(struct inputs *in, char *line)
{
    const char *bracket = strrchr(line, '['), *text = bracket ? bracket + 1 : line, *rest;
    paddr_t base, last;

    if (bracket && strncmp(text, "mem ", 4) == 0)
        text += 4;
    if (!read_range(text + strspn(text, " "), &base, &last, &rest))
        return false;
    /* 2^64 itself is never reached: a range up to there is a byte short. */
    memmap_add(&in->map, base, MAX(last - base + 1, last - base), read_type(rest));
    return true;
}

void inputs_add_memmap(struct inputs *in, struct file_bytes text)
{
    uint32_t number = 0, good = 0, bad = 0, first_bad = 0;
    char *at = (char *)text.data, *line;

    inputs_begin_memmap(in);
    while ((line = line_next(&at))) {
        number++;
        line[strcspn(line, "#")] = 0;
        if (!*line || isspace((unsigned char)*line))
            continue;
        if (read_line(in, line))
            good++;
        else if (bad++ == 0)
            first_bad = number;
    }
    memmap_trim(&in->map);
    if (bad)
        boot_warn(&in->warnings, "memory map: %u lines are no range, the first is line %u; skipped",
                  bad, first_bad);
    if (in->map.dropped)
        boot_warn(&in->warnings, "memory map: no room for %u changes; some RAM is not used",
                  in->map.dropped);
    if (!good) {
        boot_warn(&in->warnings, "memory map: no range in it; ignored");
        free(in->map.ranges);
        in->map.ranges = NULL;
    }
    free(text.data);
}
