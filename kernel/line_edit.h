/*
 * The shell's input line: keys in, what the terminal must show out. Pure.
 *
 * Keys: printable ASCII, backspace or DEL, ^U (erase the line), ^W (erase a word), ^C (give the
 * line up), ^P and arrow up (the line before), CR or LF or CR LF. Other control characters and
 * escape sequences are ignored.
 */
#ifndef KERNEL_LINE_EDIT_H
#define KERNEL_LINE_EDIT_H

#include "hv/types.h"

#define LINE_EDIT_MAX 255u

struct line_edit {
    char text[LINE_EDIT_MAX + 1]; /* always ends in a NUL */
    char last[LINE_EDIT_MAX + 1]; /* the line entered before */
    uint32_t length;
    uint8_t escape; /* enum escape_state */
    bool after_cr;  /* a LF now belongs to the CR before it */
};

enum line_edit_event { EDIT_NOTHING, EDIT_CHANGED, EDIT_ENTER, EDIT_CANCEL };

/*
 * How to bring the terminal up to date: erase that many cells, then show the text from
 * `shown_from`.
 */
struct line_edit_echo {
    uint32_t erase;
    uint32_t show_from; /* index in text; == length: nothing to show */
};

enum line_edit_event line_edit_key(struct line_edit *edit, char key, struct line_edit_echo *echo);

/*
 * After EDIT_ENTER or EDIT_CANCEL: begin the next line, remembering this one if it holds anything.
 */
void line_edit_next(struct line_edit *edit);

#endif
