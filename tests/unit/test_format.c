/* The image's formatter against the C library's, and its own cuts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hv/bits.h"
#include "kernel/printk.h"

/* The same call by both; texts and lengths must agree. */
#define SAME(...)                                                           \
    do {                                                                    \
        static char ours[128], theirs[128];                                 \
        int n = format_text(ours, sizeof(ours), __VA_ARGS__);               \
        assert_int_equal(n, snprintf(theirs, sizeof(theirs), __VA_ARGS__)); \
        assert_string_equal(ours, theirs);                                  \
    } while (0)

static void test_integers(void **state)
{
    (void)state;
    SAME("%d %d %d", 0, -1, INT32_MAX);
    SAME("%d %i", INT32_MIN, 42);
    SAME("%u %u", 0u, UINT32_MAX);
    SAME("%ld %lld", INT64_MIN, (long long)INT64_MAX);
    SAME("%lu %llu %zu", UINT64_MAX, 7ull, (size_t)9);
    SAME("%hhu %hu %hhd", 255, 65535, -5);
    SAME("%x %X %#x %lx", 0xbeefu, 0xbeefu, 0x10u, UINT64_MAX);
}

static void test_fields(void **state)
{
    (void)state;
    SAME("[%5d] [%-5d] [%05d] [%05d]", 42, 42, 42, -42);
    SAME("[%08x] [%#010x] [%-10x]", 0x1234u, 0x1234u, 0x1234u);
    SAME("[%*d] [%-*d]", 6, 1, 6, 2);
    SAME("[%s] [%10s] [%-10s]", "", "right", "left");
    SAME("[%.3s] [%.*s] [%6.2s]", "cutting", 2, "cutting", "cutting");
    SAME("[%c] [%3c] 100%%", 'x', 'y');
    SAME("[%1d] [%2s]", 12345, "longer");
}

static void test_string_without_nul_is_read_no_further(void **state)
{
    const char bytes[3] = {'a', 'b', 'c'};
    char text[16];

    (void)state;
    format_text(text, sizeof(text), "%.*s", 3, bytes);
    assert_string_equal(text, "abc");
}

static void test_pointer(void **state)
{
    char text[32];

    (void)state;
    format_text(text, sizeof(text), "%p", (void *)0xffff800000001000);
    assert_string_equal(text, "0xffff800000001000");
    format_text(text, sizeof(text), "%p", NULL);
    assert_string_equal(text, "0x0");
}

static void test_cut(void **state)
{
    char text[8];

    (void)state;
    memset(text, 'x', sizeof(text));
    assert_int_equal(format_text(text, 4, "%s", "abcdef"), 6);
    assert_memory_equal(text, "abc\0xxxx", 8);
    assert_int_equal(format_text(text, 1, "%d", 12), 2);
    assert_memory_equal(text, "\0bc\0", 4);
    assert_int_equal(format_text(NULL, 0, "%d", 12), 2);
}

static void test_unknown_conversion_is_shown(void **state)
{
    static const char *volatile format = "a %k b %d"; /* not for the compiler to check */
    char text[32];

    (void)state;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    format_text(text, sizeof(text), format, 1);
#pragma GCC diagnostic pop
    assert_string_equal(text, "a %k b %d");
}

static void test_null_string(void **state)
{
    static const char *volatile nothing;
    char text[16];

    (void)state;
    format_text(text, sizeof(text), "%s", nothing);
    assert_string_equal(text, "(null)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_string_without_nul_is_read_no_further),
        cmocka_unit_test(test_pointer),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_unknown_conversion_is_shown),
        cmocka_unit_test(test_null_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
