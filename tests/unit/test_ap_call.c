/*
 * Calling CPUs that come at once, late, at the second call, never, or come and get stuck.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "arch/x86/ap_call.h"
#include "hv/bits.h"

#define CPUS  4u
#define NEVER UINT32_MAX

enum fake_state { CALLED, CLAIMED, READY, CLOSED };

/* A CPU answers its nth SIPI, some time after it, and is ready some time after that. */
struct fake_plan {
    uint32_t sipi; /* from 1; NEVER */
    ns_t late, setup;
};

struct fake_cpu {
    struct fake_plan plan;
    enum fake_state state;
    uint32_t inits, sipis, early; /* early: SIPIs without an INIT before them */
    ns_t comes_at, ready_at;
};

static struct {
    struct fake_cpu cpu[CPUS];
    uint32_t ncpus;
    ns_t now, init_at, gap; /* gap: from INIT to the SIPI behind it */
    char log[64];
} fake;

static void advance(void)
{
    for (uint32_t i = 0; i < fake.ncpus; i++) {
        struct fake_cpu *cpu = &fake.cpu[i];

        if (cpu->state == CALLED && fake.now >= cpu->comes_at) {
            cpu->state = CLAIMED;
            cpu->ready_at = fake.now + cpu->plan.setup;
        }
        if (cpu->state == CLAIMED && fake.now >= cpu->ready_at)
            cpu->state = READY;
    }
}

static void fake_delay(ns_t ns)
{
    fake.now += ns;
    advance();
}

static void fake_send(enum ap_ipi ipi)
{
    size_t n = strlen(fake.log);

    snprintf(fake.log + n, sizeof(fake.log) - n, "%c", ipi == AP_IPI_INIT ? 'I' : 'S');
    if (ipi == AP_IPI_INIT)
        fake.init_at = fake.now;
    else if (n && fake.log[n - 1] == 'I')
        fake.gap = fake.now - fake.init_at;
    for (uint32_t i = 0; i < fake.ncpus; i++) {
        struct fake_cpu *cpu = &fake.cpu[i];

        if (cpu->state != CALLED)
            continue; /* as smp.c: only those that are missing */
        if (ipi == AP_IPI_INIT) {
            cpu->inits++;
            continue;
        }
        cpu->early += !cpu->inits;
        if (++cpu->sipis == cpu->plan.sipi)
            cpu->comes_at = fake.now + cpu->plan.late;
    }
    advance();
}

static uint32_t count(enum fake_state state)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < fake.ncpus; i++)
        n += fake.cpu[i].state == state;
    return n;
}

static uint32_t fake_waiting(void)
{
    return count(CALLED);
}

static uint32_t fake_unready(void)
{
    return count(CLAIMED);
}

static uint32_t fake_close(void)
{
    for (uint32_t i = 0; i < fake.ncpus; i++)
        if (fake.cpu[i].state == CALLED)
            fake.cpu[i].state = CLOSED;
    return count(CLOSED);
}

static void fake_reopen(void)
{
    for (uint32_t i = 0; i < fake.ncpus; i++)
        if (fake.cpu[i].state == CLOSED)
            fake.cpu[i].state = CALLED;
}

static const struct ap_call_ops ops = {fake_send,   fake_waiting, fake_close,
                                       fake_reopen, fake_unready, fake_delay};

static const struct call_row {
    const char *name;
    uint32_t ncpus;
    bool modern;
    struct fake_plan plan[CPUS];
    const char *sent; /* I: INIT, S: SIPI */
    uint32_t missing, stuck;
    ns_t at_least, at_most;
} rows[] = {
    {"none to call", 0, true, {{0, 0, 0}}, "IS", 0, 0, 0, NS_PER_MS},
    {"at once", 2, true, {{1, 0, 0}, {1, 1000, 0}}, "IS", 0, 0, 0, NS_PER_MS},
    {"old parts get 10 ms", 1, false, {{1, 0, 0}}, "IS", 0, 0, 10 * NS_PER_MS, 11 * NS_PER_MS},
    {"the first SIPI is lost", 2, true, {{1, 0, 0}, {2, 0, 0}}, "ISS", 0, 0, 0, 2 * NS_PER_MS},
    {"late, on a busy host",
     1,
     true,
     {{1, 150 * NS_PER_MS, 0}},
     "ISS",
     0,
     0,
     150 * NS_PER_MS,
     151 * NS_PER_MS},
    {"both lost to SMM: at the second call",
     2,
     true,
     {{1, 0, 0}, {3, 0, 0}},
     "ISSIS",
     0,
     0,
     200 * NS_PER_MS,
     202 * NS_PER_MS},
    {"at the last SIPI, late",
     1,
     true,
     {{4, 2 * NS_PER_SEC, 0}},
     "ISSISS",
     0,
     0,
     2 * NS_PER_SEC,
     3 * NS_PER_SEC},
    {"one never",
     3,
     true,
     {{1, 0, 0}, {NEVER, 0, 0}, {1, 0, 0}},
     "ISSISS",
     1,
     0,
     3 * NS_PER_SEC,
     4 * NS_PER_SEC},
    {"comes and gets stuck",
     2,
     true,
     {{1, 0, 60 * NS_PER_SEC}, {1, 0, 10}},
     "IS",
     0,
     1,
     5 * NS_PER_SEC,
     6 * NS_PER_SEC},
    {"takes 4 s to set up",
     1,
     true,
     {{1, 0, 4 * NS_PER_SEC}},
     "IS",
     0,
     0,
     4 * NS_PER_SEC,
     5 * NS_PER_SEC},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct call_row *row = &rows[i];

        memset(&fake, 0, sizeof(fake));
        fake.ncpus = row->ncpus;
        for (uint32_t n = 0; n < CPUS; n++)
            fake.cpu[n] = (struct fake_cpu){.plan = row->plan[n], .comes_at = NS_NEVER};
        if (ap_call(&ops, row->modern) != row->missing || ap_wait_ready(&ops) != row->stuck)
            fail_msg("%s: %u missing, %u stuck", row->name, count(CLOSED), count(CLAIMED));
        if (strcmp(fake.log, row->sent) != 0)
            fail_msg("%s: sent %s", row->name, fake.log);
        if (fake.now < row->at_least || fake.now > row->at_most)
            fail_msg("%s: took %lu us", row->name, fake.now / 1000);
        assert_true(fake.gap >= (row->modern ? 10 * NS_PER_US : 10 * NS_PER_MS));
        for (uint32_t n = 0; n < row->ncpus; n++) {
            assert_int_equal(fake.cpu[n].early, 0);
            assert_true(fake.cpu[n].state != CALLED);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
