/*
 * Collecting a scenario's lines: libinih takes the file apart, --set adds lines behind.
 *
 * Decides nothing about what they mean. Refused here: what is no setting, does not fit, or stands
 * twice in the file.
 */
#include "tools/numen-sim/scenario_lines.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <string.h>

bool wrong(const struct reader *r, int line, const char *format, ...)
{
    va_list args;

    if (line == LINE_SET)
        fprintf(stderr, "numen-sim: --set: ");
    else if (line == LINE_NONE)
        fprintf(stderr, "numen-sim: %s: ", r->path);
    else
        fprintf(stderr, "numen-sim: %s:%d: ", r->path, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return false;
}

static bool collect(struct reader *r, const char *section, const char *name, const char *value,
                    int number)
{
    struct line *l = &r->lines[r->count];

    if (r->count == LINES_MAX)
        return wrong(r, number, "more than %u settings", LINES_MAX);
    if (strlen(section) >= sizeof(l->section) || strlen(name) >= sizeof(l->name) ||
        strlen(value) >= sizeof(l->value))
        return wrong(r, number, "too long");
    strcpy(l->section, section);
    strcpy(l->name, name);
    strcpy(l->value, value);
    l->number = number;
    r->count++;
    return true;
}

/* libinih gives an indented line under the name of the one before. */
static bool append(struct reader *r, const char *value)
{
    struct line *l = &r->lines[r->count - 1];
    size_t length = strlen(l->value);

    if (length + strlen(value) >= sizeof(l->value))
        return wrong(r, r->at, "too long");
    strcpy(l->value + length, value);
    return true;
}

/* In a file: of two settings of one thing, or two sections, one would go unnoticed. */
static bool collect_once(struct reader *r, const char *section, const char *name, const char *value)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct line *l = &r->lines[i];

        if (strcmp(l->section, section) == 0 && strcmp(l->name, name) == 0)
            return wrong(r, r->at, "[%s]%s%s stands here and in line %d; once is accepted", section,
                         *name ? " " : "", name, l->number);
    }
    return collect(r, section, name, value, r->at);
}

/*
 * libinih tells of settings only, and an empty section is to be seen as well. One that is not
 * closed is libinih's to refuse.
 */
static bool collect_header(struct reader *r, const char *text)
{
    size_t length = strcspn(text + 1, "]");
    char section[sizeof(r->lines->section)];

    if (text[1 + length] != ']')
        return true;
    if (length >= sizeof(section))
        return wrong(r, r->at, "too long");
    memcpy(section, text + 1, length);
    section[length] = 0;
    if (!collect_once(r, section, "", ""))
        return false;
    r->lines[r->count - 1].header = true;
    return true;
}

/* A line that does not fit would come in two parts, the second of which means something else. */
static char *next_line(char *text, int bytes, void *stream)
{
    struct reader *r = stream;

    if (r->refused || !fgets(text, bytes, r->file))
        return NULL;
    r->at++;
    r->continues = *text == ' ' || *text == '\t';
    if (!strchr(text, '\n') && !feof(r->file))
        r->refused = !wrong(r, r->at, "longer than %d characters, or not a text", bytes - 2);
    else if (*text == '[')
        r->refused = !collect_header(r, text);
    return text;
}

static int on_line(void *user, const char *section, const char *name, const char *value)
{
    struct reader *r = user;

    if (r->refused)
        return false;
    if (r->continues && r->count && strcmp(r->lines[r->count - 1].name, name) == 0)
        r->refused = !append(r, value);
    else
        r->refused = !collect_once(r, section, name, value);
    return !r->refused;
}

/* "at 0.5s.weight.web": the time ends at the first point before a letter. */
static char *point_of_action(char *text)
{
    for (char *point = strchr(text, '.'); point; point = strchr(point + 1, '.'))
        if (point[1] >= 'a' && point[1] <= 'z')
            return point;
    return NULL;
}

/* "vm.web.vcpus=4", "machine.sockets=2"; without a point, an option of the command line. */
bool collect_setting(struct reader *r, const char *setting)
{
    char text[700], section[72] = "options";
    char *value, *name, *point;

    if (strlen(setting) >= sizeof(text))
        return wrong(r, LINE_SET, "too long");
    strcpy(text, setting);
    value = strchr(text, '=');
    if (!value)
        return wrong(r, LINE_SET, "%s: expected section.key=value, or option=value", setting);
    *value++ = 0;
    name = text;
    point = strncmp(text, "at ", 3) == 0 ? point_of_action(text) : strrchr(text, '.');
    if (point) {
        bool vm = strncmp(text, "vm.", 3) == 0 && point > text + 2;

        *point = 0;
        name = point + 1;
        if (strlen(text) >= sizeof(((struct line *)0)->section))
            return wrong(r, LINE_SET, "%s: too long", setting);
        snprintf(section, sizeof(section), "%s%.63s", vm ? "vm " : "", vm ? text + 3 : text);
    }
    return collect(r, section, name, value, LINE_SET);
}

bool collect_file(struct reader *r)
{
    int line = ini_parse_stream(next_line, r, on_line, r);

    if (r->refused)
        return false;
    if (ferror(r->file))
        return wrong(r, LINE_NONE, "%s", strerror(errno));
    if (line > 0)
        return wrong(r, line,
                     "neither a [section] nor key=value (a switch: key=on) nor a comment (a "
                     "line that begins with ; or #)");
    return true;
}

int line_of_word(const struct reader *r, const char *section, const char *word)
{
    const struct line *found = NULL;
    size_t length = strcspn(word, "=");

    for (const struct line *l = r->lines; l < &r->lines[r->count]; l++)
        if (strcmp(l->section, section) == 0 &&
            (!found || (strlen(l->name) == length && strncmp(l->name, word, length) == 0)))
            found = l;
    return found ? found->number : r->at;
}
