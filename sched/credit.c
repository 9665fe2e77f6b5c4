/*
 * Credit: how much CPU time a unit may still use before it is the others' turn.
 *
 * Decides what running costs (time x heaviest weight / weight, remainder kept), the bounds of
 * credit and what a reset gives. Does not decide when to reset (pick.c).
 *
 * credit = key + runq.given, within [-credit_init, credit_init + carryover]. The clipping to
 * carry-over at each reset is done when a unit is looked at: after any number of resets without
 * running its credit is min(key + given, credit_init + carryover), exactly what clipping at each of
 * them would have left.
 *
 * Ranges: a charge burns at most BURN_MAX_NS x 65535 < 2^42, times 2^63 / weight within 128 bits.
 * `given` wraps after 2^63 ns of credit; a pick hands out at most two resets, so that takes years,
 * and a unit that slept through all of it merely starts at the floor.
 */
#include "sched/runq.h"

/* Longer than credit can span: more would end at the floor all the same. */
#define BURN_MAX_NS (64 * NS_PER_MS)

/* ceil(2^63 / weight). divide_by_weight says how far it is exact. Pure. */
uint64_t weight_reciprocal(uint32_t weight)
{
    return BITS(62, 0) / weight + 1;
}

/*
 * Quotient of n / weight by multiplication. The reciprocal is too large by less than 1, so the
 * product is too large by less than n / 2^63, which stays below 1 / weight while n * weight < 2^63:
 * here n < 2^42 and weight < 2^16. Pure.
 */
static uint64_t divide_by_weight(uint64_t n, uint64_t recip)
{
    return (uint64_t)(((unsigned __int128)n * recip) >> 63);
}

/*
 * Credit that `ran` ns cost; *rest carries the remainder, below weight, to the next charge. Reads
 * weight, weight_recip and max_weight; reads and writes only *rest.
 */
static uint64_t burn_of(const struct runq *rq, const struct unit *u, ns_t ran, uint64_t *rest)
{
    uint64_t n, quotient;

    ran = MIN(ran, BURN_MAX_NS);
    if (u->weight == rq->max_weight)
        return ran;
    n = ran * rq->max_weight + *rest;
    quotient = divide_by_weight(n, u->weight_recip);
    *rest = n - quotient * u->weight;
    return quotient;
}

/* Reads the unit's credit; writes nothing. */
static int64_t credit_after(const struct sched *s, const struct runq *rq, const struct unit *u,
                            uint64_t burn)
{
    int64_t floor = -(int64_t)s->params.credit_init_ns;
    int64_t credit_ns = (int64_t)(u->key + rq->given) - (int64_t)burn;

    return MIN(MAX(credit_ns, floor), credit_ceiling(s));
}

/*
 * Elapsed time; clocks of two CPUs may differ a little, and then it is 0. Reads since; writes
 * nothing.
 */
static ns_t elapsed(const struct unit *u, ns_t now)
{
    return now > u->since ? now - u->since : 0;
}

/*
 * Credit of a running unit at `now`, without charging it. Reads its credit, since, burn_rest,
 * weight and weight_recip, and max_weight; writes nothing.
 */
int64_t credit_now(const struct sched *s, const struct runq *rq, const struct unit *u, ns_t now)
{
    uint64_t rest = u->burn_rest;

    return credit_after(s, rq, u, burn_of(rq, u, elapsed(u, now), &rest));
}

/*
 * Charges a running unit up to `now`. Reads what credit_now reads; writes key, burn_rest, grant_ns,
 * run_ns and since.
 */
void credit_charge(const struct sched *s, struct runq *rq, struct unit *u, ns_t now)
{
    ns_t ran = now - u->since;

    if (now <= u->since)
        return;
    credit_set(rq, u, credit_after(s, rq, u, burn_of(rq, u, ran, &u->burn_rest)));
    u->grant_ns -= (int64_t)ran;
    u->run_ns += ran;
    u->since = now;
}

/*
 * Gives everybody credit until `u`, the next to run, has some: at most twice, since nobody is below
 * -credit_init. O(1): `given` is in every unit's credit. Reads credit of `u`; writes given and its
 * key.
 */
void credit_reset(struct sched *s, struct runq *rq, struct unit *u)
{
    while (credit_of(s, rq, u) <= 0)
        rq->given += s->params.credit_init_ns;
    credit_set(rq, u, credit_of(s, rq, u));
    sched_host_trace(u->cpu, TRACE_SCHED_RESET, rq->id, rq->given);
}

/*
 * Time in which `u` burns this much credit (>= 0, at most 2^31): credit x weight / heaviest weight.
 * Reads weight, max_weight and max_recip; writes nothing.
 */
ns_t credit_time(const struct runq *rq, const struct unit *u, int64_t credit_ns)
{
    if (u->weight == rq->max_weight)
        return (ns_t)credit_ns;
    return divide_by_weight((uint64_t)credit_ns * u->weight, rq->max_recip);
}
