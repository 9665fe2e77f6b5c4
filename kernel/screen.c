/*
 * The text screen's grid (see screen.h).
 *
 * A cell is a byte, the number of its glyph. Each character marks its row dirty, a scroll all of
 * them; screen_draw compares a dirty row with what is shown of it and paints the runs that differ.
 * A line that scrolls over a similar one costs little for that reason.
 *
 * Invariants: row < rows, column <= columns, top < rows; a marked row implies `pending`. cells are
 * never 0, shown is 0 only where nothing was painted yet. They hold after every store, for a CPU
 * that panics may find the screen in the middle of another's call.
 */
#include "kernel/screen.h"

#include <errno.h>
#include <string.h>

#include "hv/assert.h"
#include "hv/bits.h"
#include "kernel/escape.h"

#define TAB_COLUMNS   8u
#define SIZE_MAX_DOTS 16384u /* width, height: the product with a pitch stays far from 2^64 */
#define PITCH_MAX     (SIZE_MAX_DOTS * 4)

#define GLYPH_UNKNOWN 0x01 /* a control's number: shown as what the font lacks */

/* ---- the mode ---- */

static const char *check_text(const struct boot_framebuffer *m)
{
    if (m->width > SCREEN_COLUMNS_MAX || m->height > SCREEN_ROWS_MAX)
        return "is larger than any text screen";
    return m->pitch_bytes < 2 * m->width ? "has rows longer than its pitch" : NULL;
}

static bool colour_fits(const struct boot_framebuffer *m, uint8_t position, uint8_t bits)
{
    return bits && position + bits <= m->bits_per_pixel;
}

static const char *check_rgb(const struct boot_framebuffer *m)
{
    if (m->bits_per_pixel < 15 || m->bits_per_pixel > 32)
        return "has not 15 to 32 bits a pixel";
    if (m->width < SCREEN_GLYPH_WIDTH || m->height < SCREEN_GLYPH_ROWS)
        return "has no room for a character";
    if (m->pitch_bytes / ((m->bits_per_pixel + 7) / 8) < m->width)
        return "has rows longer than its pitch";
    if (!colour_fits(m, m->red_pos, m->red_bits) || !colour_fits(m, m->green_pos, m->green_bits) ||
        !colour_fits(m, m->blue_pos, m->blue_bits))
        return "has colours outside of the pixel";
    return NULL;
}

static const char *check_mode(const struct boot_framebuffer *m)
{
    if (!m->width || !m->height || !m->addr)
        return "has no size or no address";
    if (m->width > SIZE_MAX_DOTS || m->height > SIZE_MAX_DOTS || m->pitch_bytes > PITCH_MAX)
        return "is too large";
    if (m->addr + (uint64_t)m->pitch_bytes * m->height < m->addr)
        return "runs over the end of memory";
    return m->kind == FRAMEBUFFER_TEXT ? check_text(m) : check_rgb(m);
}

/* The smallest scale at which a row has no more columns than the grid: 2 for 2560 and 3840 dots. */
static void size_grid(struct screen *s)
{
    const struct boot_framebuffer *m = &s->mode;
    uint32_t row_dots = SCREEN_COLUMNS_MAX * SCREEN_GLYPH_WIDTH;

    s->scale = (m->width + row_dots - 1) / row_dots;
    s->columns = m->width / (SCREEN_GLYPH_WIDTH * s->scale);
    s->rows = MIN(m->height / (SCREEN_GLYPH_ROWS * s->scale), SCREEN_ROWS_MAX);
}

int screen_init(struct screen *s, const struct boot_framebuffer *mode, const uint8_t *font,
                const char **why)
{
    memset(s, 0, sizeof(*s));
    *why = check_mode(mode);
    if (*why)
        return -EINVAL;
    s->mode = *mode;
    s->font = font;
    s->jump = 1;
    if (mode->kind == FRAMEBUFFER_TEXT) {
        s->columns = mode->width;
        s->rows = mode->height;
    } else {
        s->pixel_bytes = (mode->bits_per_pixel + 7) / 8;
        size_grid(s);
    }
    if (!s->rows) { /* wide and flat: the scale that the width asks for leaves no row */
        *why = "has no room for a character";
        s->mode.kind = FRAMEBUFFER_NONE;
        return -EINVAL;
    }
    memset(s->cells, ' ', sizeof(s->cells));
    return 0;
}

uint64_t screen_video_bytes(const struct screen *s)
{
    return (uint64_t)s->mode.pitch_bytes * s->mode.height;
}

/* ---- text ---- */

static uint8_t *row_cells(struct screen *s, uint32_t row)
{
    return s->cells[(s->top + row) % s->rows];
}

static void mark(struct screen *s, uint32_t row)
{
    s->dirty[row] = true;
    s->pending = true;
}

static void mark_all(struct screen *s)
{
    for (uint32_t row = 0; row < s->rows; row++)
        mark(s, row);
}

static void new_line(struct screen *s)
{
    uint32_t jump = MIN(s->jump, s->rows);

    ASSERT(s->rows);
    if (s->row + 1 < s->rows) {
        s->row++;
        return;
    }
    for (uint32_t i = 0; i < jump; i++)
        memset(row_cells(s, i), ' ', s->columns);
    s->top = (s->top + jump) % s->rows;
    s->row = s->rows - jump;
    mark_all(s);
}

static void put_glyph(struct screen *s, uint8_t glyph)
{
    if (s->column == s->columns) {
        new_line(s);
        s->column = 0;
    }
    row_cells(s, s->row)[s->column++] = glyph;
    mark(s, s->row);
}

static void put_control(struct screen *s, uint8_t c)
{
    switch (c) {
    case '\n':
        new_line(s);
        break;
    case '\r':
        s->column = 0;
        break;
    case '\b':
        s->column -= s->column > 0;
        break;
    case '\t':
        s->column = MIN((s->column / TAB_COLUMNS + 1) * TAB_COLUMNS, s->columns - 1);
        break;
    default: /* what a terminal would not show either */
        break;
    }
}

static void begin_utf8(struct screen *s, uint8_t c)
{
    if (c < 0xc2 || c > 0xf4) {
        put_glyph(s, GLYPH_UNKNOWN);
        return;
    }
    s->utf8_left = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    s->utf8_code = c & (0x3fu >> s->utf8_left);
}

static void put_byte(struct screen *s, uint8_t c)
{
    bool continues = (c & 0xc0) == 0x80;

    if (escape_step(&s->escape, c) != ESCAPE_OUTSIDE)
        return;
    if (s->utf8_left && !continues) {
        s->utf8_left = 0;
        put_glyph(s, GLYPH_UNKNOWN);
    }
    if (s->utf8_left) {
        s->utf8_code = s->utf8_code << 6 | (c & 0x3fu);
        if (--s->utf8_left == 0)
            put_glyph(s, s->utf8_code >= 0xa0 && s->utf8_code <= 0xff ? (uint8_t)s->utf8_code
                                                                      : GLYPH_UNKNOWN);
    } else if (c < ' ' || c == 0x7f) {
        put_control(s, c);
    } else if (c < 0x80) {
        put_glyph(s, c);
    } else {
        begin_utf8(s, c);
    }
}

void screen_write(struct screen *s, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_byte(s, (uint8_t)bytes[i]);
}

/* ---- picture ---- */

void screen_attach(struct screen *s, void *video)
{
    s->video = video;
    memset(s->shown, 0, sizeof(s->shown));
    screen_paint_margins(s);
    mark_all(s);
}

/* Paints runs of `row` that differ, at most `cells` characters; how many it painted. */
static uint32_t draw_row(struct screen *s, uint32_t row, uint32_t cells)
{
    const uint8_t *want = row_cells(s, row);
    uint8_t *shown = s->shown[row];
    uint32_t painted = 0;

    for (uint32_t at = 0; at < s->columns && painted < cells;) {
        uint32_t first = at;

        while (at < s->columns && shown[at] != want[at] && painted + (at - first) < cells) {
            shown[at] = want[at];
            at++;
        }
        if (at == first) {
            at++;
            continue;
        }
        screen_paint(s, row, first, at - first);
        painted += at - first;
    }
    return painted;
}

bool screen_draw(struct screen *s, uint32_t cells)
{
    for (uint32_t i = 0; s->video && s->pending && i < s->rows; i++) {
        uint32_t row = s->draw_row;

        if (s->dirty[row])
            cells -= draw_row(s, row, cells);
        if (!cells)
            return true; /* the row may have more: it stays marked, and is gone on with */
        s->dirty[row] = false;
        s->draw_row = (row + 1) % s->rows;
    }
    s->pending = s->pending && !s->video;
    return false;
}
