/* numen-sim's random numbers: the published sequences, and the shapes of the distributions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/bits.h"
#include "tools/numen-sim/random.h"

#define DRAWS 100000u

/* xoshiro256** from the state 1, 2, 3, 4, as its authors' program prints it. */
static void test_known_sequence(void **state)
{
    static const uint64_t wanted[] = {11520, 0, 1509978240, 1215971899390074240};
    struct random r = {.state = {1, 2, 3, 4}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
        assert_true(random_u64(&r) == wanted[i]);
}

/* splitmix64 from 0 begins with e220a8397b1dcdaf. */
static void test_seeding(void **state)
{
    static const uint64_t wanted[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f,
                                      0xf88bb8a8724c81ec};
    struct random r, again, other;

    (void)state;
    random_seed(&r, 0);
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
        assert_true(r.state[i] == wanted[i]);
    random_seed(&again, 0);
    random_seed(&other, 1);
    assert_true(random_u64(&r) == random_u64(&again));
    assert_false(random_u64(&r) == random_u64(&other));
}

/* Chi square of 16 boxes, 15 degrees of freedom: above 37.7 once in a thousand seeds. */
static void test_below_is_even(void **state)
{
    uint64_t boxes[16] = {0}, expected = DRAWS / 16, sum = 0;
    struct random r;

    (void)state;
    random_seed(&r, 1);
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint64_t value = random_below(&r, 16);

        assert_true(value < 16);
        boxes[value]++;
    }
    for (uint32_t i = 0; i < 16; i++) {
        int64_t off = (int64_t)boxes[i] - (int64_t)expected;

        sum += (uint64_t)(off * off);
    }
    assert_true(sum < 377 * expected / 10);
    assert_int_equal(random_below(&r, 1), 0);
}

/* Both ends are reached, nothing beyond them is, and the mean is the mean. */
static void test_around(void **state)
{
    ns_t least = NS_NEVER, most = 0, sum = 0;
    struct random r;

    (void)state;
    random_seed(&r, 2);
    for (uint32_t i = 0; i < DRAWS; i++) {
        ns_t value = random_around(&r, 1000, 20);

        least = MIN(least, value);
        most = MAX(most, value);
        sum += value;
    }
    assert_int_equal(least, 800);
    assert_int_equal(most, 1200);
    assert_in_range(sum / DRAWS, 998, 1002);
    assert_int_equal(random_around(&r, 1000, 0), 1000);
    assert_int_equal(random_around(&r, 0, 100), 0);
}

/* Shares above 1, 2 and 3 means: e^-1, e^-2, e^-3. */
static void test_exponential(void **state)
{
    static const uint32_t share_ppm[] = {367879, 135335, 49787};
    const ns_t mean = 1000000;
    uint64_t above[3] = {0}, sum = 0;
    struct random r;

    (void)state;
    random_seed(&r, 3);
    for (uint32_t i = 0; i < DRAWS; i++) {
        ns_t value = random_exponential(&r, mean);

        sum += value;
        for (uint32_t k = 0; k < 3; k++)
            above[k] += value > (k + 1) * mean;
    }
    assert_in_range(sum / DRAWS, mean * 99 / 100, mean * 101 / 100);
    for (uint32_t k = 0; k < 3; k++) { /* four standard deviations, at most 0.0061 */
        uint64_t wanted = (uint64_t)share_ppm[k] * DRAWS / 1000000;

        assert_in_range(above[k], wanted - 610, wanted + 610);
    }
    assert_int_equal(random_exponential(&r, 0), 0);
}

/* The cut at 16 means takes one draw of nine million; the least there is, 0, would be 22 means. */
static void test_exponential_is_cut(void **state)
{
    struct random r = {.state = {1, 0, 0, 0}}, same = r;

    (void)state;
    assert_int_equal(random_u64(&same), 0);
    assert_int_equal(random_exponential(&r, 1000000), 16000000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_sequence), cmocka_unit_test(test_seeding),
        cmocka_unit_test(test_below_is_even),  cmocka_unit_test(test_around),
        cmocka_unit_test(test_exponential),    cmocka_unit_test(test_exponential_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
