/*
 * Command-line options to scheduler parameters, and back.
 *
 * An option that was given by name wins over the preset; all others are the preset's. The way back
 * lets listings show what is in force. Ranges are the option table's (hv/options.h); every value in
 * them keeps the invariants of credit.c, whatever the combination.
 */
#include "hv/options.h"

#include "hv/assert.h"
#include "hv/bits.h"
#include "sched/sched.h"

struct field {
    enum option_id id;
    size_t option, param; /* offsets in the two structs */
};

#define FIELD(name, parameter)                                                                   \
    {                                                                                            \
        OPTION_##name, offsetof(struct options, name), offsetof(struct sched_params, parameter), \
    }

/* UINT in microseconds: ns_t */
static const struct field times[] = {
    FIELD(sched_credit_init_us, credit_init_ns),
    FIELD(sched_carryover_us, carryover_ns),
    FIELD(sched_slice_min_us, slice_min_ns),
    FIELD(sched_slice_max_us, slice_max_ns),
    FIELD(sched_ratelimit_us, ratelimit_ns),
    FIELD(sched_credit2_migrate_resist, migrate_resist_ns),
    FIELD(sched_balance_period_us, balance_period_ns),
};

/* UINT: uint32_t */
static const struct field numbers[] = {
    FIELD(sched_credit2_max_cpus_runqueue, max_cpus_runqueue),
    FIELD(credit2_load_window_shift, load_window_shift),
};

/* WORD, a power of two: 32.32 */
static const struct field tolerances[] = {
    FIELD(credit2_balance_under, load_tolerance_under),
    FIELD(credit2_balance_over, load_tolerance_over),
};

/* BOOL: bool */
static const struct field switches[] = {
    FIELD(asym, asym),
    FIELD(asym_busy, asym_busy),
    FIELD(sched_smt_aware, smt_aware),
    FIELD(sched_newidle_pull, newidle_pull),
    FIELD(sched_neighbour_wake, neighbour_wake),
    FIELD(sched_overdue_push, overdue_push),
    FIELD(sched_smt_spread, smt_spread),
    FIELD(sched_stay_warm, stay_warm),
    FIELD(sched_soft_affinity, soft_affinity),
    FIELD(sched_numa_cost, numa_cost),
};

/* Reads given; writes nothing. */
static bool is_given(const struct options *o, enum option_id id)
{
    return o->given & BIT(id);
}

/* Pure: where the option is. */
static const void *option_at(const struct options *o, const struct field *f)
{
    return (const char *)o + f->option;
}

/* Reads one option; writes nothing. */
static uint32_t value_u32(const struct options *o, const struct field *f)
{
    const uint64_t *value = option_at(o, f);

    return (uint32_t)*value;
}

/* Pure: where the parameter is. */
static void *param_at(struct sched_params *p, const struct field *f)
{
    return (char *)p + f->param;
}

#define for_each_field(f, fields) \
    for (const struct field *f = (fields); f < (fields) + ARRAY_SIZE(fields); f++)

#define for_each_given(f, fields, o) \
    for_each_field (f, fields)       \
        if (is_given(o, f->id))

/*
 * The words of WORD options are in the order of the enums. Reads the options and `given`; writes
 * every parameter.
 */
void sched_params_options(struct sched_params *p, const struct options *o)
{
    static const char *const presets[] = {"default", "credit2-2016"};
    int unknown = sched_params_preset(p, presets[o->sched_preset.word]);

    ASSERT(!unknown);
    if (is_given(o, OPTION_credit2_runqueue))
        p->arrangement = (enum runq_arrangement)o->credit2_runqueue.word;
    p->gran = (enum sched_gran)o->sched_gran.word;
    if (p->gran == SCHED_GRAN_CORE && p->arrangement == RUNQ_PER_CPU)
        p->arrangement = RUNQ_PER_SOCKET; /* the siblings of a core share a runqueue */
    for_each_given (f, times, o)
        *(ns_t *)param_at(p, f) = *(const uint64_t *)option_at(o, f) * NS_PER_US;
    for_each_given (f, numbers, o)
        *(uint32_t *)param_at(p, f) = value_u32(o, f);
    for_each_given (f, tolerances, o) {
        const struct option_word *power = option_at(o, f);

        *(uint64_t *)param_at(p, f) = BIT(LOAD_FRAC_BITS - BALANCE_WORD_ZERO + power->word);
    }
    for_each_given (f, switches, o)
        *(bool *)param_at(p, f) = *(const bool *)option_at(o, f);
}

/* Pure: where the option is, to be written. */
static void *shown_at(struct options *o, const struct field *f)
{
    return (char *)o + f->option;
}

/* Pure: where the parameter is, to be read. */
static const void *value_of(const struct sched_params *p, const struct field *f)
{
    return (const char *)p + f->param;
}

/* Reads every parameter but gran; writes their options but not `given`. */
void sched_params_show(const struct sched_params *p, struct options *o)
{
    o->credit2_runqueue.word = (uint32_t)p->arrangement;
    for_each_field (f, times)
        *(uint64_t *)shown_at(o, f) = *(const ns_t *)value_of(p, f) / NS_PER_US;
    for_each_field (f, numbers)
        *(uint64_t *)shown_at(o, f) = *(const uint32_t *)value_of(p, f);
    for_each_field (f, tolerances) {
        uint32_t bit = (uint32_t)__builtin_ctzll(*(const uint64_t *)value_of(p, f));
        struct option_word *power = shown_at(o, f);

        power->word = bit + BALANCE_WORD_ZERO - LOAD_FRAC_BITS;
    }
    for_each_field (f, switches)
        *(bool *)shown_at(o, f) = *(const bool *)value_of(p, f);
}
