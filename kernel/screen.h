/*
 * A text screen on the framebuffer that the boot loader set up: a grid of characters in memory,
 * and what of it differs from the picture drawn when there is time.
 *
 * Pure: mode, font and video memory are arguments, so the tests draw into a plain buffer. Three
 * layers: text (screen_write moves the cursor and fills cells; no video memory is touched), the
 * grid (rows in a ring, so that scrolling moves nothing), the picture (screen_draw, in bounded
 * steps). Video memory is written and never read: reading it costs seconds on real machines.
 *
 * Decides: size of the grid, scale of the font, what bytes do. Does not decide when to draw, nor
 * how video memory is mapped (arch_map_framebuffer). The caller holds the console lock.
 */
#ifndef KERNEL_SCREEN_H
#define KERNEL_SCREEN_H

#include "hv/boot_info.h"

#define SCREEN_COLUMNS_MAX 240u
#define SCREEN_ROWS_MAX    128u

#define SCREEN_GLYPH_WIDTH 8u
#define SCREEN_GLYPH_ROWS  16u
#define SCREEN_GLYPHS      256u
#define SCREEN_FONT_BYTES  (SCREEN_GLYPHS * SCREEN_GLYPH_ROWS)

/*
 * Glyph n is character n of Latin-1, controls being the sign for what the font lacks; a row is a
 * byte, its highest bit on the left. Made by tools/gen_font.py.
 */
extern const uint8_t screen_font[SCREEN_FONT_BYTES];

/* Tags: [i] set by screen_init; all else under the console lock, which the caller holds. */
struct screen {
    struct boot_framebuffer mode; /* [i] as checked; kind NONE: no screen */
    const uint8_t *font;          /* [i] */
    uint8_t *video;               /* where mode.addr is mapped, or NULL: only the grid is kept */
    uint32_t pixel_bytes;         /* [i] */
    uint32_t scale;               /* [i] pixels a dot of the font is wide and high */
    uint32_t columns, rows;       /* [i] */
    uint32_t jump;                /* rows to scroll by when the grid is full, >= 1 */

    uint32_t column, row; /* where the next character goes; column == columns: past the edge */
    uint8_t escape;       /* enum escape_state */
    uint32_t utf8_left;   /* bytes that the character begun still needs */
    uint32_t utf8_code;
    uint32_t top;                /* ring index of the uppermost row */
    uint32_t draw_row;           /* where screen_draw goes on */
    bool pending;                /* some row is marked dirty */
    bool dirty[SCREEN_ROWS_MAX]; /* by place on the screen: may differ from the picture */
    uint8_t cells[SCREEN_ROWS_MAX][SCREEN_COLUMNS_MAX]; /* by ring index */
    uint8_t shown[SCREEN_ROWS_MAX][SCREEN_COLUMNS_MAX]; /* by place; 0: not known */
};

/*
 * Sizes the grid and blanks it. -EINVAL: no text can be shown in this mode, and *why says what is
 * wrong with it; the screen is then as good as absent.
 */
__attribute__((warn_unused_result)) int screen_init(struct screen *s,
                                                    const struct boot_framebuffer *mode,
                                                    const uint8_t *font, const char **why);

static inline bool screen_present(const struct screen *s)
{
    return s->mode.kind != FRAMEBUFFER_NONE;
}

/* Bytes of video memory from mode.addr on that are drawn into. */
uint64_t screen_video_bytes(const struct screen *s);

/* From here on `video` shows the grid; everything is to be drawn. */
void screen_attach(struct screen *s, void *video);

/* Text with CR, LF, BS, HT; UTF-8 as far as Latin-1; control sequences are left out. */
void screen_write(struct screen *s, const char *bytes, size_t n);

/* Draws up to `cells` changed characters. True: there is more to draw. */
bool screen_draw(struct screen *s, uint32_t cells);

/* ---- screen_picture.c, for screen.c alone ---- */

/* Shows s->shown[row][first..first + n). */
void screen_paint(const struct screen *s, uint32_t row, uint32_t first, uint32_t n);

/* Blanks what of the picture lies outside of all cells. */
void screen_paint_margins(const struct screen *s);

#endif
