/*
 * The shell's input line (see line_edit.h).
 */
#include "kernel/line_edit.h"

#include <string.h>

#include "hv/bits.h"
#include "kernel/escape.h"

#define CTRL(c) ((c)&0x1f)
#define DEL     0x7f

static enum line_edit_event replace(struct line_edit *edit, uint32_t keep, const char *rest,
                                    struct line_edit_echo *echo)
{
    uint32_t n = (uint32_t)strnlen(rest, LINE_EDIT_MAX - keep);

    echo->erase = edit->length - keep;
    echo->show_from = keep;
    memmove(edit->text + keep, rest, n);
    edit->length = keep + n;
    edit->text[edit->length] = 0;
    return EDIT_CHANGED;
}

static uint32_t word_start(const struct line_edit *edit)
{
    uint32_t at = edit->length;

    while (at && edit->text[at - 1] == ' ')
        at--;
    while (at && edit->text[at - 1] != ' ')
        at--;
    return at;
}

enum line_edit_event line_edit_key(struct line_edit *edit, char key, struct line_edit_echo *echo)
{
    char one[2] = {key, 0};
    bool after_cr = edit->after_cr;
    enum escape_byte escape = escape_step(&edit->escape, (uint8_t)key);

    *echo = (struct line_edit_echo){.show_from = edit->length};
    edit->after_cr = key == '\r';
    if (escape == ESCAPE_FINAL && key == 'A') /* arrow up, the only sequence that means anything */
        return replace(edit, 0, edit->last, echo);
    if (escape != ESCAPE_OUTSIDE)
        return EDIT_NOTHING;
    if (key >= ' ' && key < DEL)
        return edit->length < LINE_EDIT_MAX ? replace(edit, edit->length, one, echo) : EDIT_NOTHING;
    switch (key) {
    case '\n':
        return after_cr ? EDIT_NOTHING : EDIT_ENTER;
    case '\r':
        return EDIT_ENTER;
    case '\b':
    case DEL:
        return edit->length ? replace(edit, edit->length - 1, "", echo) : EDIT_NOTHING;
    case CTRL('U'):
        return replace(edit, 0, "", echo);
    case CTRL('W'):
        return replace(edit, word_start(edit), "", echo);
    case CTRL('P'):
        return replace(edit, 0, edit->last, echo);
    case CTRL('C'):
        return EDIT_CANCEL;
    default:
        return EDIT_NOTHING;
    }
}

void line_edit_next(struct line_edit *edit)
{
    if (edit->length)
        memcpy(edit->last, edit->text, sizeof(edit->last));
    edit->length = 0;
    edit->text[0] = 0;
}
