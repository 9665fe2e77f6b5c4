/* The hypervisor's command line: words to struct options. See cmdline.c, option.c. */
#ifndef BOOT_CMDLINE_H
#define BOOT_CMDLINE_H

#include "hv/firmware.h"
#include "hv/options.h"

enum option_kind { OPTION_KIND_BOOL, OPTION_KIND_UINT, OPTION_KIND_WORD, OPTION_KIND_TEXT };
enum option_when { OPTION_WHEN_BOOT, OPTION_WHEN_RUNTIME };

struct option_desc {
    const char *name;
    uint32_t kind; /* enum option_kind */
    uint32_t when; /* enum option_when */
    uint64_t min;  /* of a number */
    uint64_t max;
    const char *words; /* of a WORD, by blanks */
    const char *help;
};

extern const struct option_desc option_table[OPTION_COUNT];

void options_default(struct options *options);

/* Later words win. Unknown and malformed ones are named in a warning and change nothing. */
void cmdline_parse(struct options *options, const char *line, struct fw_warnings *w);

/* OPTION_COUNT when there is no option of that name. */
enum option_id option_find(const char *name);

/* 0; -EINVAL: not of the option's form; -ERANGE: a number outside its range, or too long a text. */
__attribute__((warn_unused_result)) int option_set(struct options *options, enum option_id id,
                                                   const char *value);

/* What values it takes, for a message: "0 to 500000", "on or off". */
void option_takes(enum option_id id, char *buffer, size_t capacity);

/* The value as one would write it on the command line; cut at `capacity`. */
void option_format(const struct options *options, enum option_id id, char *buffer, size_t capacity);

#endif
