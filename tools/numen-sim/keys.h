/*
 * Settings as tables: name, kind, place in a struct, default, range, meaning. Every section of a
 * scenario, and every workload, has one; the tables are also the documentation (--help-keys).
 *
 * A struct that a table describes holds only uint64_t and struct key_list.
 */
#ifndef NUMEN_SIM_KEYS_H
#define NUMEN_SIM_KEYS_H

#include <stdio.h>

#include "hv/types.h"

#define KEY_LIST_MAX 64u
#define FRACTION_ONE 1024u

enum key_kind {
    KEY_COUNT,     /* a number */
    KEY_TIME,      /* ns; written with ns, us, ms or s */
    KEY_BYTES,     /* with K, M, G or T */
    KEY_FRACTION,  /* "0.65", kept in 1/1024 */
    KEY_BOOL,      /* on, off */
    KEY_WORD,      /* the index of one of `words` */
    KEY_FRACTIONS, /* struct key_list: fractions by commas */
    KEY_TABLE,     /* struct key_list: rows by ';', numbers by ',': all equally long */
    KEY_RANGES,    /* struct key_list: "0-7:1,8-15:0.6": first, last, fraction, ... */
};

struct key_list {
    uint64_t count;
    uint64_t value[KEY_LIST_MAX];
};

struct key {
    const char *name;
    enum key_kind kind;
    size_t offset;
    const char *otherwise; /* the default, as one would write it */
    uint64_t min, max;     /* of the numbers; a fraction's in 1/1024 */
    const char *words;     /* of a KEY_WORD, by blanks */
    const char *help;      /* what it means, and where the default comes from */
};

#define KEY_END      \
    {                \
        .name = NULL \
    }

void keys_default(const struct key *keys, void *object);

const struct key *keys_find(const struct key *keys, const char *name);

/* 0, or -EINVAL: `value` is not what the key takes. */
__attribute__((warn_unused_result)) int key_set(const struct key *key, void *object,
                                                const char *value);

/* "a time from 1us to 10s" and the like, for messages and help. */
void key_describe(const struct key *key, char *text, size_t bytes);

/* "500ms". */
void key_describe_time(uint64_t ns, char *text, size_t bytes);

void keys_print(const struct key *keys, FILE *out);

/* The names, by blanks, for a message that says what is accepted. */
void keys_names(const struct key *keys, char *text, size_t bytes);

#endif
