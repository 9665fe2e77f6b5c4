/* numen-sim's heap of events: order, moving, taking out; against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/bits.h"
#include "tools/numen-sim/events.h"
#include "tools/numen-sim/random.h"

#define EVENTS 200u

static void test_by_time(void **state)
{
    static const ns_t times[] = {50, 10, 40, 20, 30, 0};
    struct event e[ARRAY_SIZE(times)] = {0};
    struct events q;

    (void)state;
    events_init(&q, ARRAY_SIZE(times));
    for (size_t i = 0; i < ARRAY_SIZE(times); i++)
        event_set(&q, &e[i], times[i]);
    for (ns_t at = 0; at <= 50; at += 10)
        assert_int_equal(events_pop(&q)->at, at);
    assert_null(events_pop(&q));
    events_free(&q);
}

/* Of one moment: as they were set; setting an event again to the time it has is no new setting. */
static void test_one_moment(void **state)
{
    struct event e[20] = {0};
    struct events q;

    (void)state;
    events_init(&q, ARRAY_SIZE(e));
    for (size_t i = 0; i < ARRAY_SIZE(e); i++)
        event_set(&q, &e[i], 7);
    event_set(&q, &e[0], 7);
    event_set(&q, &e[3], 9);
    event_set(&q, &e[3], 7); /* away and back: the last now */
    for (size_t i = 0; i < ARRAY_SIZE(e); i++)
        if (i != 3)
            assert_ptr_equal(events_pop(&q), &e[i]);
    assert_ptr_equal(events_pop(&q), &e[3]);
    events_free(&q);
}

static void test_never_takes_out(void **state)
{
    struct event a = {0}, b = {0};
    struct events q;

    (void)state;
    events_init(&q, 2);
    event_set(&q, &a, NS_NEVER); /* not in it: nothing happens */
    assert_int_equal(a.slot, 0);
    event_set(&q, &a, 1);
    event_set(&q, &b, 2);
    event_set(&q, &a, NS_NEVER);
    assert_int_equal(a.slot, 0);
    assert_ptr_equal(events_pop(&q), &b);
    assert_int_equal(b.slot, 0);
    assert_null(events_pop(&q));
    event_set(&q, &a, 3); /* in again */
    assert_ptr_equal(events_pop(&q), &a);
    events_free(&q);
}

/* The least of a plain list by (time, order), or NULL. */
static struct event *least(struct event *e, const bool *in)
{
    struct event *found = NULL;

    for (uint32_t i = 0; i < EVENTS; i++)
        if (in[i] &&
            (!found || e[i].at < found->at || (e[i].at == found->at && e[i].order < found->order)))
            found = &e[i];
    return found;
}

/* Random settings, movings and takings-out; every fourth step pops. */
static void test_like_a_list(void **state)
{
    struct event e[EVENTS] = {0};
    bool in[EVENTS] = {0};
    struct events q;
    struct random r;

    (void)state;
    random_seed(&r, 1);
    events_init(&q, EVENTS);
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)random_below(&r, EVENTS);

        if (step % 4 == 3) {
            struct event *want = least(e, in);

            assert_ptr_equal(events_pop(&q), want);
            if (want)
                in[want - e] = false;
            continue;
        }
        in[i] = random_below(&r, 5) > 0;
        event_set(&q, &e[i], in[i] ? random_below(&r, 50) : NS_NEVER);
        assert_int_equal(e[i].slot != 0, in[i]);
    }
    events_free(&q);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_time),
        cmocka_unit_test(test_one_moment),
        cmocka_unit_test(test_never_takes_out),
        cmocka_unit_test(test_like_a_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
