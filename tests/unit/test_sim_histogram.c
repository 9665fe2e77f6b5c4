/* numen-sim's percentiles: never too small, and at most a sixteenth too large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/bits.h"
#include "tools/numen-sim/histogram.h"
#include "tools/numen-sim/random.h"

#define VALUES 5000u

static void test_empty(void **state)
{
    static struct histogram h;

    (void)state;
    assert_int_equal(histogram_at(&h, 500), 0);
    assert_int_equal(histogram_at(&h, 1000), 0);
}

/* One small value and a huge one, so that no maximum hides the bucket's bound. */
static void test_error_of_one_value(void **state)
{
    (void)state;
    for (uint32_t bit = 0; bit < 62; bit++)
        for (int64_t off = -1; off <= 1; off++) {
            static struct histogram h;
            uint64_t value = BIT(bit) + (uint64_t)off, got;

            h = (struct histogram){0};
            histogram_add(&h, value);
            histogram_add(&h, UINT64_MAX);
            got = histogram_at(&h, 500);
            assert_true(got >= value);
            assert_true(got - value <= value / 16);
            assert_true(histogram_at(&h, 1000) == UINT64_MAX);
        }
}

static void test_small_values_are_exact(void **state)
{
    static struct histogram h;

    (void)state;
    for (uint64_t value = 0; value < 16; value++)
        histogram_add(&h, value);
    for (uint32_t value = 0; value < 16; value++)
        assert_int_equal(histogram_at(&h, (value + 1) * 1000 / 16), value);
    assert_int_equal(histogram_at(&h, 0), 0);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Against the sorted values, over eight orders of magnitude. */
static void test_percentiles(void **state)
{
    static const uint32_t permille[] = {1, 10, 250, 500, 900, 950, 990, 999, 1000};
    static uint64_t values[VALUES];
    static struct histogram h;
    struct random r;

    (void)state;
    random_seed(&r, 1);
    for (uint32_t i = 0; i < VALUES; i++) {
        values[i] = random_exponential(&r, 1ull << random_below(&r, 30));
        histogram_add(&h, values[i]);
    }
    qsort(values, VALUES, sizeof(values[0]), compare);
    for (size_t i = 0; i < ARRAY_SIZE(permille); i++) {
        uint64_t wanted = values[(VALUES * permille[i] + 999) / 1000 - 1];

        assert_in_range(histogram_at(&h, permille[i]), wanted, wanted + wanted / 16);
    }
    assert_int_equal(histogram_at(&h, 1000), values[VALUES - 1]);
    assert_int_equal(h.count, VALUES);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_error_of_one_value),
        cmocka_unit_test(test_small_values_are_exact),
        cmocka_unit_test(test_percentiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
