/*
 * The text screen's picture: every pixel against a plain rendering of what should be on it, every
 * character of an EGA screen, and that no more is drawn than what has changed.
 */
#include "fixture_screen.h"

static void draw(struct bench *b)
{
    while (screen_draw(&b->s, 100))
        ;
}

static uint32_t read_pixel(const uint8_t *at, uint32_t bytes)
{
    uint32_t value = 0;

    memcpy(&value, at, bytes);
    return value;
}

/* Every byte of the picture as it should be: dots, margins, and what lies beyond the width. */
static void check_pixels(const struct bench *b, uint32_t grey)
{
    const struct screen *s = &b->s;
    uint32_t high = SCREEN_GLYPH_ROWS * s->scale, wide = SCREEN_GLYPH_WIDTH * s->scale;

    for (uint32_t y = 0; y < s->mode.height; y++) {
        const uint8_t *line = b->video + (size_t)y * s->mode.pitch_bytes;

        for (uint32_t x = 0; x < s->mode.width; x++) {
            uint32_t row = y / high, column = x / wide;
            bool inside = row < s->rows && column < s->columns;
            uint8_t c = inside ? cell(s, row, column) : 0;
            uint8_t dots = font[c * SCREEN_GLYPH_ROWS + y % high / s->scale];
            bool lit = inside && (dots >> (7 - x % wide / s->scale) & 1);

            assert_int_equal(read_pixel(line + (size_t)x * s->pixel_bytes, s->pixel_bytes),
                             lit ? grey : 0);
        }
        for (uint32_t i = s->mode.width * s->pixel_bytes; i < s->mode.pitch_bytes; i++)
            assert_int_equal(line[i], STALE);
    }
}

static void test_pixels(void **state)
{
    static const struct {
        uint32_t width, height, bits, pitch;
        uint8_t colours[6]; /* position and bits of red, green, blue */
        uint32_t grey;
    } rows[] = {
        {640, 480, 32, 2560, {16, 8, 8, 8, 0, 8}, 0xb8b8b8},
        {643, 489, 32, 2573, {0, 8, 8, 8, 16, 8}, 0xb8b8b8}, /* odd all over */
        {640, 480, 24, 1920, {16, 8, 8, 8, 0, 8}, 0xb8b8b8},
        {645, 100, 24, 1999, {16, 8, 8, 8, 0, 8}, 0xb8b8b8},
        {640, 480, 16, 1280, {11, 5, 5, 6, 0, 5}, 23u << 11 | 46u << 5 | 23},
        {333, 77, 15, 777, {10, 5, 5, 5, 0, 5}, 23u << 10 | 23u << 5 | 23},
        {320, 200, 32, 1280, {20, 10, 10, 10, 0, 10}, 736u << 20 | 736u << 10 | 736},
        {2000, 70, 32, 8000, {16, 8, 8, 8, 0, 8}, 0xb8b8b8}, /* each dot 2 x 2 */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct boot_framebuffer m =
            mode_with(xrgb, rows[i].width, rows[i].height, rows[i].bits, rows[i].pitch);
        const uint8_t *c = rows[i].colours;
        struct bench *b;

        m.red_pos = c[0], m.red_bits = c[1];
        m.green_pos = c[2], m.green_bits = c[3];
        m.blue_pos = c[4], m.blue_bits = c[5];
        b = bench_new(&m);
        draw(b);
        check_pixels(b, rows[i].grey);
        say(b, "Hello, world\r\n\xc3\xa9\xe2\x82\xac!\r\n");
        draw(b);
        check_pixels(b, rows[i].grey);
        say_lines(b, 1, 40);
        draw(b);
        check_pixels(b, rows[i].grey);
        bench_free(b);
    }
}

static void test_ega(void **state)
{
    struct boot_framebuffer m = mode_with(ega, 80, 25, 16, 170);
    struct bench *b = bench_new(&m);

    (void)state;
    say_lines(b, 1, 30);
    say(b, "caf\xc3\xa9 \xff");
    draw(b);
    for (uint32_t y = 0; y < 25; y++) {
        const uint8_t *line = b->video + y * 170;

        for (uint32_t x = 0; x < 80; x++) {
            uint8_t c = cell(&b->s, y, x);

            assert_int_equal(line[2 * x], c == 0xe9 || c == UNKNOWN ? '?' : c);
            assert_int_equal(line[2 * x + 1], 0x07);
        }
        assert_int_equal(line[160], STALE);
    }
    bench_free(b);
}

/* What is drawn already is not drawn again, and no call draws more than it may. */
static void test_only_changes_are_drawn(void **state)
{
    struct bench *b = bench_new(&ega);
    uint32_t calls = 0;

    (void)state;
    draw(b);
    memset(b->video, STALE, b->bytes);
    say(b, "0123456789\r0123x56789");
    draw(b);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(b->video[2 * i], "0123x56789"[i]);
    assert_int_equal(b->video[20], STALE);
    memset(b->video, STALE, b->bytes);
    say(b, "\r0123456789");
    draw(b);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(b->video[2 * i], i == 4 ? '4' : STALE);

    memset(b->video, STALE, b->bytes);
    say(b, "\r0000000000\n\r0000000000\n\r0000000000"); /* 29 cells differ from what is shown */
    do {
        uint32_t drawn = 0;

        for (size_t i = 0; i < b->bytes; i += 2)
            drawn += b->video[i] == '0';
        assert_true(drawn <= 4 * calls);
        calls++;
    } while (screen_draw(&b->s, 4));
    assert_int_equal(calls, 8);
    assert_false(screen_draw(&b->s, 4));
    bench_free(b);
}

/* Text comes before the video memory does, and appears when that is there. */
static void test_grid_before_video(void **state)
{
    static struct screen s;
    uint8_t video[160 * 25];
    const char *why;

    (void)state;
    assert_int_equal(screen_init(&s, &ega, font, &why), 0);
    screen_write(&s, "early\r\n", 7);
    assert_false(screen_draw(&s, UINT32_MAX));
    memset(video, STALE, sizeof(video));
    screen_attach(&s, video);
    screen_write(&s, "late", 4);
    assert_false(screen_draw(&s, UINT32_MAX));
    assert_int_equal(video[0], 'e');
    assert_int_equal(video[160], 'l');
    assert_int_equal(video[160 * 24 + 158], ' ');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_ega),
        cmocka_unit_test(test_only_changes_are_drawn),
        cmocka_unit_test(test_grid_before_video),
    };

    fill_font();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
