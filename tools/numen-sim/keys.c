/*
 * Text to values, by table. See keys.h.
 *
 * Decides spelling and ranges; nothing is set unless all of the value is sound.
 */
#include "tools/numen-sim/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/token.h"
#include "hv/assert.h"
#include "hv/bits.h"

static uint64_t *number_at(const struct key *key, void *object)
{
    return (uint64_t *)((char *)object + key->offset);
}

static struct key_list *list_at(const struct key *key, void *object)
{
    return (struct key_list *)((char *)object + key->offset);
}

/* Digits with up to nine decimals, times `scale`; *end behind them. */
static int read_decimal(const char *text, uint64_t scale, uint64_t *value, const char **end)
{
    uint64_t whole = 0, part = 0, unit = 1;
    const char *s = text;

    for (; *s >= '0' && *s <= '9'; s++) {
        if (whole > UINT64_MAX / 16 / scale)
            return -EINVAL;
        whole = whole * 10 + (uint64_t)(*s - '0');
    }
    if (s == text)
        return -EINVAL;
    if (*s == '.') {
        for (s++; *s >= '0' && *s <= '9' && unit < 1000000000; s++, unit *= 10)
            part = part * 10 + (uint64_t)(*s - '0');
    }
    *value = whole * scale + (part * scale + unit / 2) / unit;
    *end = s;
    return 0;
}

static int read_time(const char *text, uint64_t *value)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_SEC}};
    const char *end;

    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        if (!read_decimal(text, units[i].ns, value, &end) && strcmp(end, units[i].unit) == 0)
            return 0;
    return strcmp(text, "0") == 0 ? (*value = 0, 0) : -EINVAL;
}

static int read_fraction(const char *text, uint64_t *value)
{
    const char *end;

    return read_decimal(text, FRACTION_ONE, value, &end) || *end ? -EINVAL : 0;
}

static int read_word(const struct key *key, const char *text, uint64_t *value)
{
    const char *words = key->words;
    char word[32];
    bool cut;

    for (*value = 0; token_next(&words, word, sizeof(word), &cut); ++*value)
        if (strcmp(word, text) == 0)
            return 0;
    return -EINVAL;
}

static int read_number(const struct key *key, const char *text, uint64_t *value)
{
    bool flag;
    int err;

    switch (key->kind) {
    case KEY_TIME:
        return read_time(text, value);
    case KEY_BYTES:
        return token_bytes(text, value);
    case KEY_FRACTION:
        return read_fraction(text, value);
    case KEY_BOOL:
        err = token_bool(text, &flag);
        *value = flag;
        return err;
    case KEY_WORD:
        return read_word(key, text, value);
    default:
        return token_number(text, value);
    }
}

static int list_add(struct key_list *list, uint64_t value)
{
    if (list->count == KEY_LIST_MAX)
        return -EINVAL;
    list->value[list->count++] = value;
    return 0;
}

/* "0-7:1" or "3:0.5" */
static int list_add_range(const struct key *key, struct key_list *list, char *part)
{
    char *colon = strchr(part, ':');
    char *dash;
    uint64_t first, last, value;

    if (!colon)
        return -EINVAL;
    *colon = 0;
    dash = strchr(part, '-');
    if (dash)
        *dash = 0;
    if (token_number(part, &first) || token_number(dash ? dash + 1 : part, &last) || first > last ||
        read_fraction(colon + 1, &value) || value < key->min || value > key->max)
        return -EINVAL;
    return list_add(list, first) || list_add(list, last) || list_add(list, value) ? -EINVAL : 0;
}

static int list_add_part(const struct key *key, struct key_list *list, char *part)
{
    uint64_t value;
    int err;

    if (key->kind == KEY_RANGES)
        return list_add_range(key, list, part);
    err = key->kind == KEY_FRACTIONS ? read_fraction(part, &value) : token_number(part, &value);
    if (err || value < key->min || value > key->max)
        return -EINVAL;
    return list_add(list, value);
}

static int read_list(const struct key *key, const char *text, struct key_list *list)
{
    const char *between = key->kind == KEY_TABLE ? ",; " : ", ";
    char copy[512], *rest = copy;

    list->count = 0;
    if (strlen(text) >= sizeof(copy))
        return -EINVAL;
    memcpy(copy, text, strlen(text) + 1);
    for (char *part; (part = strsep(&rest, between));)
        if (*part && list_add_part(key, list, part))
            return -EINVAL;
    return 0;
}

static bool is_list(const struct key *key)
{
    return key->kind == KEY_FRACTIONS || key->kind == KEY_TABLE || key->kind == KEY_RANGES;
}

int key_set(const struct key *key, void *object, const char *value)
{
    struct key_list list;
    uint64_t number;

    if (is_list(key)) {
        if (read_list(key, value, &list))
            return -EINVAL;
        *list_at(key, object) = list;
        return 0;
    }
    if (read_number(key, value, &number))
        return -EINVAL;
    if (key->kind != KEY_BOOL && key->kind != KEY_WORD && (number < key->min || number > key->max))
        return -EINVAL;
    *number_at(key, object) = number;
    return 0;
}

void keys_default(const struct key *keys, void *object)
{
    for (const struct key *key = keys; key->name; key++)
        ASSERT(key_set(key, object, key->otherwise) == 0);
}

const struct key *keys_find(const struct key *keys, const char *name)
{
    for (const struct key *key = keys; key->name; key++)
        if (strcmp(key->name, name) == 0)
            return key;
    return NULL;
}

void key_describe_time(uint64_t ns, char *text, size_t bytes)
{
    if (ns >= NS_PER_SEC && ns % NS_PER_SEC == 0)
        snprintf(text, bytes, "%llus", (unsigned long long)(ns / NS_PER_SEC));
    else if (ns >= NS_PER_MS && ns % NS_PER_MS == 0)
        snprintf(text, bytes, "%llums", (unsigned long long)(ns / NS_PER_MS));
    else if (ns >= NS_PER_US && ns % NS_PER_US == 0)
        snprintf(text, bytes, "%lluus", (unsigned long long)(ns / NS_PER_US));
    else
        snprintf(text, bytes, "%lluns", (unsigned long long)ns);
}

void key_describe(const struct key *key, char *text, size_t bytes)
{
    char min[32], max[32];

    switch (key->kind) {
    case KEY_TIME:
        key_describe_time(key->min, min, sizeof(min));
        key_describe_time(key->max, max, sizeof(max));
        snprintf(text, bytes, "a time from %s to %s", min, max);
        break;
    case KEY_BYTES:
        snprintf(text, bytes, "bytes from %lluM to %lluM", (unsigned long long)(key->min / MIB),
                 (unsigned long long)(key->max / MIB));
        break;
    case KEY_FRACTION:
        snprintf(text, bytes, "a fraction from %.3g to %.6g", (double)key->min / FRACTION_ONE,
                 (double)key->max / FRACTION_ONE);
        break;
    case KEY_BOOL:
        snprintf(text, bytes, "on or off");
        break;
    case KEY_WORD:
        snprintf(text, bytes, "one of: %s", key->words);
        break;
    case KEY_FRACTIONS:
        snprintf(text, bytes, "fractions by commas");
        break;
    case KEY_TABLE:
        snprintf(text, bytes, "rows of numbers, such as 10,21;21,10");
        break;
    case KEY_RANGES:
        snprintf(text, bytes, "ranges and fractions from %.1g to %.6g, such as 0-7:1,8-15:0.6",
                 (double)key->min / FRACTION_ONE, (double)key->max / FRACTION_ONE);
        break;
    default:
        snprintf(text, bytes, "a number from %llu to %llu", (unsigned long long)key->min,
                 (unsigned long long)key->max);
    }
}

void keys_print(const struct key *keys, FILE *out)
{
    char takes[160];

    for (const struct key *key = keys; key->name; key++) {
        key_describe(key, takes, sizeof(takes));
        fprintf(out, "  %-14s %s; %s (%s)\n", key->name, key->help, takes,
                *key->otherwise ? key->otherwise : "none");
    }
}

void keys_names(const struct key *keys, char *text, size_t bytes)
{
    size_t at = 0;

    text[0] = 0;
    for (const struct key *key = keys; key->name && at < bytes; key++)
        at += (size_t)snprintf(text + at, bytes - at, "%s%s", at ? " " : "", key->name);
}
