/*
 * For the tests of the text screen: two sound modes, a font in which every row differs, and a
 * screen whose video memory is a buffer with guards around it.
 */
#ifndef TESTS_UNIT_FIXTURE_SCREEN_H
#define TESTS_UNIT_FIXTURE_SCREEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hv/bits.h"
#include "kernel/screen.h"

#define GUARD_BYTES 4096u
#define STALE       0x5a /* what the loader left in video memory */
#define UNKNOWN     0x01 /* a cell whose character the font lacks */

static const struct boot_framebuffer xrgb = {
    .addr = 0xe0000000,
    .kind = FRAMEBUFFER_RGB,
    .pitch_bytes = 640 * 4,
    .width = 640,
    .height = 480,
    .bits_per_pixel = 32,
    .red_pos = 16,
    .red_bits = 8,
    .green_pos = 8,
    .green_bits = 8,
    .blue_pos = 0,
    .blue_bits = 8,
};

static const struct boot_framebuffer ega = {
    .addr = 0xb8000,
    .kind = FRAMEBUFFER_TEXT,
    .pitch_bytes = 160,
    .width = 80,
    .height = 25,
    .bits_per_pixel = 16,
};

static uint8_t font[SCREEN_FONT_BYTES];

/* A screen and its video memory, with what must stay as it is before and behind it. */
struct bench {
    struct screen s;
    uint8_t *whole;
    uint8_t *video;
    size_t bytes;
};

static inline struct bench *bench_new(const struct boot_framebuffer *mode)
{
    struct bench *b = malloc(sizeof(*b));
    const char *why;

    assert_int_equal(screen_init(&b->s, mode, font, &why), 0);
    assert_null(why);
    assert_true(screen_present(&b->s));
    b->bytes = screen_video_bytes(&b->s);
    b->whole = malloc(b->bytes + 2 * GUARD_BYTES);
    memset(b->whole, STALE, b->bytes + 2 * GUARD_BYTES);
    b->video = b->whole + GUARD_BYTES;
    screen_attach(&b->s, b->video);
    return b;
}

static inline void bench_free(struct bench *b)
{
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        assert_int_equal(b->whole[i], STALE);
        assert_int_equal(b->video[b->bytes + i], STALE);
    }
    free(b->whole);
    free(b);
}

static inline void say(struct bench *b, const char *text)
{
    screen_write(&b->s, text, strlen(text));
}

static inline uint8_t cell(const struct screen *s, uint32_t row, uint32_t column)
{
    return s->cells[(s->top + row) % s->rows][column];
}

static inline struct boot_framebuffer mode_with(struct boot_framebuffer m, uint32_t width,
                                                uint32_t height, uint32_t bits, uint32_t pitch)
{
    m.width = width;
    m.height = height;
    m.bits_per_pixel = bits;
    m.pitch_bytes = pitch;
    return m;
}

static inline void say_lines(struct bench *b, uint32_t first, uint32_t last)
{
    char line[32];

    for (uint32_t i = first; i <= last; i++) {
        snprintf(line, sizeof(line), "line %u\r\n", i);
        say(b, line);
    }
}

/* Every row of every glyph differs from its neighbours', so that a shifted one shows. */
static inline void fill_font(void)
{
    for (uint32_t i = 0; i < sizeof(font); i++)
        font[i] = (uint8_t)(i * 167 + (i >> 4) * 29 + 1);
    memset(font + ' ' * SCREEN_GLYPH_ROWS, 0, SCREEN_GLYPH_ROWS);
}

#endif
