/*
 * The option table brought to life: defaults, setting one value, writing it out.
 *
 * Decides how each kind of value is spelt. Which options there are, with defaults and ranges, is
 * hv/options.h's; warnings about bad words are cmdline.c's.
 * Invariant: option_set changes the value wholly or not at all.
 */
#include "boot/cmdline.h"

#include <errno.h>
#include <string.h>

#include "boot/token.h"
#include "hv/bits.h"
#include "hv/text.h"

#define OPTION_ROW(kind, field, name, dflt, min, max, words, when, help) \
    [OPTION_##field] = {name, OPTION_KIND_##kind, OPTION_WHEN_##when, min, max, words, help},
const struct option_desc option_table[OPTION_COUNT] = {OPTION_LIST(OPTION_ROW)};

#define OPTION_OFFSET(kind, field, name, dflt, min, max, words, when, help) \
    [OPTION_##field] = offsetof(struct options, field),
static const uint16_t option_offset[OPTION_COUNT] = {OPTION_LIST(OPTION_OFFSET)};

#define DEFAULT_BOOL(value) (value)
#define DEFAULT_UINT(value) (value)
#define DEFAULT_TEXT(value) value
#define DEFAULT_WORD(value) \
    {                       \
        .word = (value)     \
    }
#define OPTION_DEFAULT(kind, field, name, dflt, min, max, words, when, help) \
    .field = DEFAULT_##kind(dflt),

void options_default(struct options *options)
{
    static const struct options defaults = {OPTION_LIST(OPTION_DEFAULT)};

    *options = defaults;
}

/* Names are equal with '-' for '_' too, as in Xen. */
static bool name_is(const char *name, const char *wanted)
{
    for (; *name && *wanted; name++, wanted++)
        if ((*name == '-' ? '_' : *name) != (*wanted == '-' ? '_' : *wanted))
            return false;
    return *name == *wanted;
}

enum option_id option_find(const char *name)
{
    uint32_t id = 0;

    while (id < OPTION_COUNT && !name_is(name, option_table[id].name))
        id++;
    return (enum option_id)id;
}

/*
 * The word at *words, its length in *length; moves *words behind it. NULL at the end of the list.
 */
static const char *next_word(const char **words, size_t *length)
{
    const char *word = *words;
    const char *blank = strchr(word, ' ');

    if (!*word)
        return NULL;
    *length = blank ? (size_t)(blank - word) : strlen(word);
    *words = word + *length + (blank != NULL);
    return word;
}

static bool word_is_listed(const struct option_desc *desc, const char *text)
{
    const char *words = desc->words, *word;
    size_t length;

    while ((word = next_word(&words, &length)))
        if (strlen(text) == length && memcmp(word, text, length) == 0)
            return true;
    return false;
}

static int set_number(const struct option_desc *desc, const char *text, uint64_t *out)
{
    uint64_t v;
    int err = token_number(text, &v);

    if (err)
        return err;
    if (v < desc->min || v > desc->max)
        return -ERANGE;
    *out = v;
    return 0;
}

/*
 * A word of the list; one that ends in "=" with a number; or a switch where the list has on and
 * off.
 */
static int set_word(const struct option_desc *desc, const char *text, struct option_word *out)
{
    const char *words = desc->words, *word;
    uint64_t number = 0;
    size_t length;
    bool on;

    if (!word_is_listed(desc, text) && token_bool(text, &on) == 0)
        text = on ? "on" : "off";
    for (uint32_t i = 0; (word = next_word(&words, &length)); i++) {
        bool takes_number = word[length - 1] == '=';
        int err = 0;

        if (strncmp(text, word, length) != 0 || (!takes_number && text[length]))
            continue;
        if (takes_number)
            err = set_number(desc, text + length, &number);
        if (!err)
            *out = (struct option_word){.word = i, .number = (uint32_t)number};
        return err;
    }
    return -EINVAL;
}

static int set_text(const char *text, char *out)
{
    if (strlen(text) >= OPTION_TEXT_CHARS)
        return -ERANGE;
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int set_value(const struct option_desc *desc, const char *value, void *field)
{
    switch (desc->kind) {
    case OPTION_KIND_BOOL:
        return token_bool(value, field);
    case OPTION_KIND_WORD:
        return set_word(desc, value, field);
    case OPTION_KIND_TEXT:
        return set_text(value, field);
    default:
        return set_number(desc, value, field);
    }
}

int option_set(struct options *options, enum option_id id, const char *value)
{
    int error = set_value(&option_table[id], value, (char *)options + option_offset[id]);

    if (!error)
        options->given |= BIT(id);
    return error;
}

static void format_word(const struct option_desc *desc, const struct option_word *value,
                        char *buffer, size_t capacity)
{
    const char *words = desc->words, *word = NULL;
    char copy[OPTION_TEXT_CHARS] = "";
    size_t length = 0;

    for (uint32_t i = 0; i <= value->word; i++)
        word = next_word(&words, &length);
    if (!word || length >= sizeof(copy))
        return;
    memcpy(copy, word, length);
    if (word[length - 1] == '=')
        text_format(buffer, capacity, "%s%u", copy, value->number);
    else
        text_format(buffer, capacity, "%s", copy);
}

void option_format(const struct options *options, enum option_id id, char *buffer, size_t capacity)
{
    const struct option_desc *desc = &option_table[id];
    const void *field = (const char *)options + option_offset[id];

    switch (desc->kind) {
    case OPTION_KIND_BOOL:
        text_format(buffer, capacity, "%s", *(const bool *)field ? "on" : "off");
        break;
    case OPTION_KIND_WORD:
        format_word(desc, field, buffer, capacity);
        break;
    case OPTION_KIND_TEXT:
        text_format(buffer, capacity, "%s", (const char *)field);
        break;
    default:
        text_format(buffer, capacity, "%lu", *(const uint64_t *)field);
        break;
    }
}

void option_takes(enum option_id id, char *buffer, size_t capacity)
{
    const struct option_desc *desc = &option_table[id];
    unsigned long min = desc->min, max = desc->max;

    switch (desc->kind) {
    case OPTION_KIND_BOOL:
        text_format(buffer, capacity, "on or off");
        break;
    case OPTION_KIND_WORD:
        if (strchr(desc->words, '='))
            text_format(buffer, capacity, "one of %s, the number %lu to %lu", desc->words, min,
                        max);
        else
            text_format(buffer, capacity, "one of %s", desc->words);
        break;
    case OPTION_KIND_TEXT:
        text_format(buffer, capacity, "a word of at most %u characters", OPTION_TEXT_CHARS - 1);
        break;
    default:
        text_format(buffer, capacity, "%lu to %lu", min, max);
        break;
    }
}
