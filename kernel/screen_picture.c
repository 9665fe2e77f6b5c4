/*
 * Cells to video memory, as pixels or as the characters of an EGA text screen (see screen.h).
 *
 * Stores of a fixed size are spelt __builtin_memcpy, which freestanding code compiles inline.
 *
 * Pixels go out line by line over a whole run of cells, in ascending order, which is what a
 * write-combining buffer wants. Nothing is read back. Colours: light grey on black.
 * Source: multiboot 2.0 section 3.6.12 (colour fields); IBM VGA: a text cell is character and
 * attribute, the latter's low four bits the foreground.
 */
#include "kernel/screen.h"

#include <string.h>

#include "hv/bits.h"

#define GREY_OF_256 0xb8u
#define EGA_GREY    0x07u
#define EGA_UNKNOWN '?' /* the card's font is not Latin-1 above ASCII */
#define SCALE_MAX   9u
#define DOTS_BYTES  (SCREEN_GLYPH_WIDTH * SCALE_MAX * 4u) /* a glyph's row */

static uint32_t colour(uint32_t level_of_256, uint8_t position, uint8_t bits)
{
    uint32_t level = bits <= 8 ? level_of_256 >> (8 - bits) : level_of_256 << (MIN(bits, 24) - 8);

    return level << position;
}

static uint32_t grey_pixel(const struct boot_framebuffer *m)
{
    return colour(GREY_OF_256, m->red_pos, m->red_bits) |
           colour(GREY_OF_256, m->green_pos, m->green_bits) |
           colour(GREY_OF_256, m->blue_pos, m->blue_bits);
}

static uint8_t *line_at(const struct screen *s, uint32_t y)
{
    return s->video + (uint64_t)y * s->mode.pitch_bytes;
}

/* One row of a glyph as pixels; returns their bytes. Stores four at a time: `to` has room. */
static uint32_t expand(const struct screen *s, uint8_t dots, uint32_t pixel, uint8_t *to)
{
    uint32_t n = 0;

    for (uint32_t x = 0; x < SCREEN_GLYPH_WIDTH; x++, dots = (uint8_t)(dots << 1)) {
        uint32_t value = dots & 0x80 ? pixel : 0;

        for (uint32_t i = 0; i < s->scale; i++, n += s->pixel_bytes)
            __builtin_memcpy(to + n, &value, sizeof(value));
    }
    return n;
}

static void paint_line(const struct screen *s, const uint8_t *cells, uint32_t n, uint32_t dot_row,
                       uint8_t *to)
{
    uint32_t pixel = grey_pixel(&s->mode);
    uint8_t dots[DOTS_BYTES];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t bytes = expand(s, s->font[cells[i] * SCREEN_GLYPH_ROWS + dot_row], pixel, dots);

        memcpy(to, dots, bytes);
        to += bytes;
    }
}

static void paint_pixels(const struct screen *s, uint32_t row, uint32_t first, uint32_t n)
{
    uint32_t cell_bytes = SCREEN_GLYPH_WIDTH * s->scale * s->pixel_bytes;
    uint32_t height = SCREEN_GLYPH_ROWS * s->scale;

    for (uint32_t y = 0; y < height; y++)
        paint_line(s, &s->shown[row][first], n, y / s->scale,
                   line_at(s, row * height + y) + first * cell_bytes);
}

static void paint_characters(const struct screen *s, uint32_t row, uint32_t first, uint32_t n)
{
    uint8_t *to = line_at(s, row) + 2 * first;

    for (uint32_t i = 0; i < n; i++, to += 2) {
        uint8_t c = s->shown[row][first + i];
        uint16_t cell = (uint16_t)(EGA_GREY << 8 | (c >= ' ' && c < 0x7f ? c : EGA_UNKNOWN));

        __builtin_memcpy(to, &cell, sizeof(cell));
    }
}

void screen_paint(const struct screen *s, uint32_t row, uint32_t first, uint32_t n)
{
    if (s->mode.kind == FRAMEBUFFER_TEXT)
        paint_characters(s, row, first, n);
    else
        paint_pixels(s, row, first, n);
}

void screen_paint_margins(const struct screen *s)
{
    uint32_t used_rows = s->rows * SCREEN_GLYPH_ROWS * s->scale;
    uint32_t used_bytes = s->columns * SCREEN_GLYPH_WIDTH * s->scale * s->pixel_bytes;
    uint32_t line_bytes = s->mode.width * s->pixel_bytes;

    if (s->mode.kind == FRAMEBUFFER_TEXT)
        return; /* the grid is the whole screen */
    for (uint32_t y = 0; y < s->mode.height; y++) {
        uint32_t from = y < used_rows ? used_bytes : 0;

        memset(line_at(s, y) + from, 0, line_bytes - from);
    }
}
