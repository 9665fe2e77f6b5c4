/*
 * Words of a command line, and the numbers and switches in them.
 *
 * Decides what a word is (blanks separate, quotes and backslashes protect, as GRUB writes them when
 * it passes arguments on) and how a number is spelt. Does not know any option. Invariants: never
 * reads behind the NUL of the line, never writes behind `capacity`; a word that does not fit is
 * read to its end, so that the next word begins where it should. An open quote ends with the line.
 */
#include "boot/token.h"

#include <errno.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t token_blanks(const char *line)
{
    size_t n = 0;

    while (is_blank(line[n]))
        n++;
    return n;
}

bool token_next(const char **line, char *out, size_t capacity, bool *cut)
{
    const char *at = *line + token_blanks(*line);
    size_t n = 0;
    char quote = 0;

    *cut = false;
    if (!*at) {
        *line = at;
        return false;
    }
    for (; *at && (quote || !is_blank(*at)); at++) {
        char c = *at;

        if (c == '\\' && at[1]) {
            c = *++at;
        } else if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? 0 : c;
            continue;
        }
        if (n + 1 < capacity)
            out[n++] = c;
        else
            *cut = true;
    }
    out[n] = 0;
    *line = at;
    return true;
}

static uint32_t digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (uint32_t)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (uint32_t)(c - 'A') + 10;
    return UINT32_MAX;
}

/* Digits from *text on; moves it behind them. */
static int read_number(const char **text, uint64_t *value)
{
    const char *at = *text;
    uint32_t base = 10;
    uint64_t v = 0;

    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    }
    if (digit_value(*at) >= base)
        return -EINVAL;
    for (; digit_value(*at) < base; at++) {
        if (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
            __builtin_add_overflow(v, (uint64_t)digit_value(*at), &v))
            return -ERANGE;
    }
    *text = at;
    *value = v;
    return 0;
}

int token_number(const char *text, uint64_t *value)
{
    uint64_t v;
    int err = read_number(&text, &v);

    if (err)
        return err;
    if (*text)
        return -EINVAL;
    *value = v;
    return 0;
}

int token_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "kKmMgGtT";
    const char *unit;
    uint64_t v;
    int err = read_number(&text, &v);

    if (err)
        return err;
    unit = *text ? strchr(units, *text) : NULL;
    if (unit) {
        uint64_t scale = 1ull << (10 * ((unit - units) / 2 + 1));

        if (__builtin_mul_overflow(v, scale, &v))
            return -ERANGE;
        text++;
        if (text[0] == 'i' && text[1] == 'B')
            text += 2;
        else if (text[0] == 'B')
            text++;
    }
    if (*text)
        return -EINVAL;
    *bytes = v;
    return 0;
}

int token_bool(const char *text, bool *value)
{
    static const char *const words[][2] = {
        {"off", "on"}, {"no", "yes"}, {"false", "true"}, {"disable", "enable"}, {"0", "1"},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        for (int on = 0; on < 2; on++) {
            if (strcmp(text, words[i][on]) == 0) {
                *value = on;
                return 0;
            }
        }
    }
    return -EINVAL;
}
