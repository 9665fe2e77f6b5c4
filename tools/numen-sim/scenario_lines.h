/*
 * The lines of a scenario, collected before any is looked at: file and --set in one list, in which
 * the last of one name wins. See scenario_lines.c.
 */
#ifndef NUMEN_SIM_SCENARIO_LINES_H
#define NUMEN_SIM_SCENARIO_LINES_H

#include <stdio.h>

#include "hv/types.h"

#define LINES_MAX 2048u
#define LINE_SET  (-1) /* stands for a line of the file: it came by --set */
#define LINE_NONE 0    /* the file as a whole */

struct line {
    char section[64], name[64], value[512];
    int number;  /* or LINE_SET */
    bool header; /* of its section, not a setting */
    bool used;
};

struct scenario;

struct reader {
    const char *path;
    FILE *file;
    int at;         /* line being read */
    bool continues; /* it is indented: more of the value before */
    bool refused;   /* that line or one before, and said so */
    struct line *lines;
    uint32_t count;
    struct scenario *scenario; /* being filled */
};

/* Always false. Says what is wrong there, on one line; `line` may be LINE_SET or LINE_NONE. */
__attribute__((format(printf, 3, 4))) bool wrong(const struct reader *r, int line,
                                                 const char *format, ...);

/* Both false after a line that says why. */
bool collect_file(struct reader *r);
bool collect_setting(struct reader *r, const char *setting);

/* Where the key that `word` begins with was given last, or the section's first line. */
int line_of_word(const struct reader *r, const char *section, const char *word);

#endif
