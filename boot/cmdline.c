/*
 * The hypervisor's command line.
 *
 * Decides what a word means: `name=value`, a bare `name` (on), `no-name` (off), or the image's file
 * name that some loaders put first. Unknown and malformed words are named in a warning and change
 * nothing; of repeated options the last counts. Values are option.c's.
 */
#include "boot/cmdline.h"

#include <errno.h>
#include <string.h>

#include "boot/token.h"
#include "boot/warn.h"

#define WORD_CHARS 128

/* QEMU's -kernel passes the file's name as the first word, GRUB does not. */
static bool looks_like_file(const char *word)
{
    return !strchr(word, '=') && (strchr(word, '/') || strchr(word, '.'));
}

static bool has_switch(enum option_id id)
{
    return option_table[id].kind == OPTION_KIND_BOOL ||
           strncmp(option_table[id].words, "off on", 6) == 0;
}

static void warn_malformed(const char *name, const char *value, int err, struct fw_warnings *w)
{
    if (err == -ERANGE)
        boot_warn(w, "option %s=%s: out of range; ignored", name, value);
    else
        boot_warn(w, "option %s=%s: malformed; ignored", name, value);
}

static void read_word(struct options *options, char *word, struct fw_warnings *w)
{
    char *equals = strchr(word, '=');
    const char *value = "on", *name = word;
    enum option_id id;
    int err;

    if (equals) {
        *equals = 0;
        value = equals + 1;
    } else if (strncmp(word, "no-", 3) == 0 && option_find(word) == OPTION_COUNT) {
        name = word + 3;
        value = "off";
    }
    id = option_find(name);
    if (id == OPTION_COUNT) {
        boot_warn(w, "option %s is unknown; ignored", word);
        return;
    }
    if (!equals && !has_switch(id)) {
        boot_warn(w, "option %s needs a value; ignored", name);
        return;
    }
    err = option_set(options, id, value);
    if (err)
        warn_malformed(name, value, err, w);
}

void cmdline_parse(struct options *options, const char *line, struct fw_warnings *w)
{
    char word[WORD_CHARS];
    bool cut;

    for (bool first = true; token_next(&line, word, sizeof(word), &cut); first = false) {
        if (first && looks_like_file(word))
            continue;
        if (cut)
            boot_warn(w, "option is too long; ignored: %s", word);
        else if (word[0])
            read_word(options, word, w);
    }
}
