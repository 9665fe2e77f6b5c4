/* The text screen: modes that can and cannot be shown, and what bytes do to the grid. */
#include <errno.h>

#include "fixture_screen.h"

/* The row as text, blanks at its end cut, unknown characters as '?'. */
static const char *row_text(const struct screen *s, uint32_t row)
{
    static char text[SCREEN_COLUMNS_MAX + 1];
    uint32_t end = 0;

    for (uint32_t i = 0; i < s->columns; i++) {
        uint8_t c = cell(s, row, i);

        text[i] = c == UNKNOWN ? '?' : (char)c;
        if (c != ' ')
            end = i + 1;
    }
    text[end] = 0;
    return text;
}

/* ---- modes ---- */

static void test_grid_sizes(void **state)
{
    static const struct {
        uint32_t width, height, scale, columns, rows;
    } rows[] = {
        {8, 16, 1, 1, 1},         {640, 480, 1, 80, 30},       {800, 600, 1, 100, 37},
        {1024, 768, 1, 128, 48},  {1366, 768, 1, 170, 48},     {1920, 1080, 1, 240, 67},
        {1921, 1080, 2, 120, 33}, {2560, 1440, 2, 160, 45},    {3840, 2160, 2, 240, 67},
        {5120, 2880, 3, 213, 60}, {7680, 4320, 4, 240, 67},    {1080, 1920, 1, 135, 120},
        {640, 16384, 1, 80, 128}, {16384, 16384, 9, 227, 113},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct boot_framebuffer m =
            mode_with(xrgb, rows[i].width, rows[i].height, 32, rows[i].width * 4);
        static struct screen s;
        const char *why;

        assert_int_equal(screen_init(&s, &m, font, &why), 0);
        assert_int_equal(s.scale, rows[i].scale);
        assert_int_equal(s.columns, rows[i].columns);
        assert_int_equal(s.rows, rows[i].rows);
    }
}

static void expect_refused(const struct boot_framebuffer *m, const char *reason)
{
    static struct screen s;
    const char *why = NULL;

    assert_int_equal(screen_init(&s, m, font, &why), -EINVAL);
    assert_string_equal(why, reason);
    assert_false(screen_present(&s));
}

static void test_bad_modes(void **state)
{
    static const struct {
        uint32_t width, height, bits, pitch;
        const char *why;
    } rows[] = {
        {0, 0, 32, 0, "has no size or no address"},
        {640, 0, 32, 2560, "has no size or no address"},
        {640, 480, 32, 2559, "has rows longer than its pitch"},
        {640, 480, 24, 1919, "has rows longer than its pitch"},
        {640, 480, 32, 0, "has rows longer than its pitch"},
        {640, 480, 8, 640, "has not 15 to 32 bits a pixel"},
        {640, 480, 64, 5120, "has not 15 to 32 bits a pixel"},
        {640, 480, 0, 2560, "has not 15 to 32 bits a pixel"},
        {7, 480, 32, 2560, "has no room for a character"},
        {640, 15, 32, 2560, "has no room for a character"},
        {16384, 100, 32, 65536, "has no room for a character"}, /* 9 x 16 dots a row */
        {16385, 480, 32, 65540, "is too large"},
        {UINT32_MAX, UINT32_MAX, 32, UINT32_MAX, "is too large"},
        {640, 480, 32, UINT32_MAX, "is too large"},
    };
    struct boot_framebuffer m;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        m = mode_with(xrgb, rows[i].width, rows[i].height, rows[i].bits, rows[i].pitch);
        expect_refused(&m, rows[i].why);
    }
    m = mode_with(ega, 80, 25, 16, 159);
    expect_refused(&m, "has rows longer than its pitch");
    m = mode_with(ega, SCREEN_COLUMNS_MAX + 1, 25, 16, 1000);
    expect_refused(&m, "is larger than any text screen");
    m = mode_with(ega, 80, SCREEN_ROWS_MAX + 1, 16, 160);
    expect_refused(&m, "is larger than any text screen");
}

static void test_bad_address_and_colours(void **state)
{
    struct boot_framebuffer m = xrgb;

    (void)state;
    m.addr = 0;
    expect_refused(&m, "has no size or no address");
    m.addr = UINT64_MAX - 1000;
    expect_refused(&m, "runs over the end of memory");
    m = xrgb;
    m.red_pos = 25;
    expect_refused(&m, "has colours outside of the pixel");
    m = xrgb;
    m.green_bits = 0;
    expect_refused(&m, "has colours outside of the pixel");
    m = xrgb;
    m.blue_pos = m.blue_bits = 255;
    expect_refused(&m, "has colours outside of the pixel");
}

/* ---- text ---- */

static void test_bytes(void **state)
{
    static const struct {
        const char *bytes;
        const char *first, *second; /* the two upper rows */
    } rows[] = {
        {"abc\r\ndef", "abc", "def"},
        {"abc\ndef", "abc", "   def"},
        {"abc\rx", "xbc", ""},
        {"abc\b \bx", "abx", ""},
        {"\b\bx", "x", ""},
        {"a\tb", "a       b", ""},
        {"1234567\tb", "1234567 b", ""},
        {"12345678\tb", "12345678        b", ""},
        {"a\x01\x07\x7f"
         "b",
         "ab", ""},
        {"\x1b[1;32mgreen\x1b[0m.", "green.", ""},
        {"a\x1b[Kb\x1b"
         "7c\x1b[2Jd",
         "abcd", ""},
        {"a\x1b[12\r\nb", "a", "b"},
        {"na\xc3\xafve", "na\xefve", ""},
        {"\xe2\x82\xac 5", "? 5", ""},   /* a euro sign: not of Latin-1 */
        {"\xf0\x9f\x98\x80!", "?!", ""}, /* four bytes */
        {"\xff\xfe\x80x", "???x", ""},   /* never in UTF-8 */
        {"\xc0\xafx", "??x", ""},        /* an overlong form */
        {"\xc3x", "?x", ""},             /* cut short */
        {"\xc3\r\nx", "?", "x"},
        {"\xc3\xc3\xa9", "?\xe9", ""},
        {"\xc2\x85.", "?.", ""}, /* a control of Latin-1's upper half */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct bench *b = bench_new(&xrgb);

        say(b, rows[i].bytes);
        assert_string_equal(row_text(&b->s, 0), rows[i].first);
        assert_string_equal(row_text(&b->s, 1), rows[i].second);
        bench_free(b);
    }
}

static void test_wrap(void **state)
{
    struct bench *b = bench_new(&ega);
    char line[83];

    (void)state;
    memset(line, 'x', 80);
    memcpy(line + 80, "\r\n", 3);
    say(b, line); /* exactly a row: no empty row comes after it */
    say(b, "next\r\n");
    line[80] = 'y';
    line[81] = 0;
    say(b, line);
    assert_int_equal(strlen(row_text(&b->s, 0)), 80);
    assert_string_equal(row_text(&b->s, 1), "next");
    assert_int_equal(strlen(row_text(&b->s, 2)), 80);
    assert_string_equal(row_text(&b->s, 3), "y");
    say(b, "\r");
    for (int i = 0; i < 20; i++)
        say(b, "\t");
    say(b, "zw");
    assert_int_equal(cell(&b->s, 3, 79), 'z');
    assert_string_equal(row_text(&b->s, 4), "w");
    bench_free(b);
}

static void expect_lines(struct bench *b, uint32_t first, uint32_t rows)
{
    char line[32];

    for (uint32_t row = 0; row < rows; row++) {
        snprintf(line, sizeof(line), "line %u", first + row);
        assert_string_equal(row_text(&b->s, row), line);
    }
}

static void test_scroll(void **state)
{
    struct bench *b = bench_new(&ega);

    (void)state;
    say_lines(b, 1, 24);
    expect_lines(b, 1, 24);
    assert_string_equal(row_text(&b->s, 24), "");
    say_lines(b, 25, 25);
    expect_lines(b, 2, 24);
    say_lines(b, 26, 1000); /* around the ring many times */
    expect_lines(b, 977, 24);
    assert_string_equal(row_text(&b->s, 24), "");
    b->s.jump = 6;
    say_lines(b, 1001, 1001);
    expect_lines(b, 983, 19);
    assert_int_equal(b->s.row, 19);
    say_lines(b, 1002, 1006);
    expect_lines(b, 983, 24);
    b->s.jump = 1000; /* more than there are */
    say_lines(b, 1007, 1008);
    expect_lines(b, 1008, 1);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_sizes),
        cmocka_unit_test(test_bad_modes),
        cmocka_unit_test(test_bad_address_and_colours),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_scroll),
    };

    fill_font();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
