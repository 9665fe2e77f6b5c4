/* Words of a command line. See token.c. */
#ifndef BOOT_TOKEN_H
#define BOOT_TOKEN_H

#include "hv/types.h"

/*
 * Copies the next word of *line to `out` (always NUL-terminated) and moves *line behind it. Quotes
 * ("..." or '...') keep blanks together and are dropped, a backslash takes the next character as it
 * is. *cut: the word did not fit and was shortened. false: no word is left.
 */
bool token_next(const char **line, char *out, size_t capacity, bool *cut);

/* How many blanks `line` begins with. */
size_t token_blanks(const char *line);

/* The whole of `text` as a number, decimal or 0x: 0, -EINVAL, or -ERANGE (above 2^64 - 1). */
__attribute__((warn_unused_result)) int token_number(const char *text, uint64_t *value);

/* As token_number, with K, M, G or T (and an optional B or iB) behind it. */
__attribute__((warn_unused_result)) int token_bytes(const char *text, uint64_t *bytes);

/* on/off, yes/no, true/false, enable/disable, 1/0: 0 or -EINVAL. */
__attribute__((warn_unused_result)) int token_bool(const char *text, bool *value);

#endif
