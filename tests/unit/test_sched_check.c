/*
 * The checks see what they are there for: each field that is derived from a unit's masks, spoilt in
 * turn, fails the ASSERT that names it.
 *
 * That sound structures pass is what all other tests of the scheduler show, after every event. A
 * failed ASSERT leaves the lock taken; the machine is thrown away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/assert.h"
#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

static jmp_buf failed;
static const char *failed_expr;

_Noreturn void assert_failed(const char *expr, const char *file, int line)
{
    (void)file;
    (void)line;
    failed_expr = expr;
    longjmp(failed, 1);
}

/* What failed first, or NULL. */
static const char *check_of(const struct machine *m)
{
    failed_expr = NULL;
    if (!setjmp(failed)) {
        sched_check_affinity(m->s);
        sched_check(m->s);
    }
    return failed_expr;
}

#define DERIVED(field)                       \
    {                                        \
#field, offsetof(struct unit, field) \
    }

static void test_derived_masks(void **state)
{
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {
        DERIVED(hard_all),   DERIVED(soft_none), DERIVED(reach),
        DERIVED(soft_reach), DERIVED(run_cpus),  DERIVED(soft_cpus),
    };
    struct sched_params p;

    (void)state;
    sched_params_default(&p);
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        struct machine *m = machine_new(2, 2, 2, 2, &p);
        struct machine_unit *u = machine_unit(m, 256, 0xf, 0x3);

        assert_null(check_of(m));
        ((unsigned char *)&u->unit)[fields[i].offset] ^= 1;
        assert_non_null(check_of(m));
        assert_non_null(strstr(failed_expr, fields[i].name));
        machine_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_derived_masks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
