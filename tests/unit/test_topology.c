/*
 * The topology decoder: a row for each kind of machine, real, emulated or broken, and properties
 * that hold for any leaves at all.
 *
 * Rows are written from the facts of the machines (shifts, counts, APIC ids), not copied dumps.
 * Most have one set of leaves for all CPUs; a hybrid part has one for each kind of core.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/x86/topology.h"
#include "hv/bits.h"
#include "tests/unit/topology_rows.h"

#define CPUS CPUS_MAX

struct machine {
    struct topo_ids ids[CPUS];
    struct cpu_place places[CPUS];
    uint64_t scratch[TOPO_SCRATCH_WORDS(CPUS)];
    uint32_t n;
    struct topo_result result;
};

static struct machine machine; /* too large for a stack */

static struct cpuid_dump row_dump(const struct topology_row *row, uint32_t kind)
{
    return (struct cpuid_dump){row->leaves[kind], ROW_LEAVES};
}

static void machine_decode(const struct topology_row *row)
{
    machine.n = 0;
    for (uint32_t run = 0; run < ROW_RUNS; run++)
        for (uint32_t i = 0; i < row->ids[run].count; i++) {
            const struct topology_id_run *r = &row->ids[run];

            machine.ids[machine.n++] =
                topology_decode(r->first + i * r->step, row_dump(row, r->kind));
        }
}

static void machine_build(uint32_t flags)
{
    memset(machine.places, 0xff, sizeof machine.places);
    topology_build(machine.ids, machine.n, flags, machine.scratch, machine.places, &machine.result);
}

/* A core's CPUs count up as threads and share LLC and unit; an LLC lies in one socket. */
static void nesting_check(void)
{
    static uint32_t llc_of[CPUS], unit_of[CPUS], socket_of[CPUS], threads[CPUS], highest[CPUS];

    memset(threads, 0, sizeof threads);
    memset(highest, 0, sizeof highest);
    memset(socket_of, 0xff, sizeof socket_of);
    for (uint32_t cpu = 0; cpu < machine.n; cpu++) {
        const struct cpu_place *p = &machine.places[cpu];

        if (!threads[p->core]++) {
            llc_of[p->core] = p->llc;
            unit_of[p->core] = p->unit;
        }
        highest[p->core] = p->thread > highest[p->core] ? p->thread : highest[p->core];
        assert_int_equal(llc_of[p->core], p->llc);
        assert_int_equal(unit_of[p->core], p->unit);
        if (socket_of[p->llc] == UINT32_MAX)
            socket_of[p->llc] = p->socket;
        assert_int_equal(socket_of[p->llc], p->socket);
    }
    for (uint32_t core = 0; core < machine.result.cores; core++)
        assert_int_equal(highest[core] + 1, threads[core]);
}

/* Numbers go up by lowest APIC id without holes, members of a group agree, threads count up. */
static void numbers_check(void)
{
    static uint8_t seen[CPUS];
    uint32_t next[3] = {0, 0, 0};

    memset(seen, 0, sizeof seen);
    for (uint32_t done = 0; done < machine.n; done++) {
        uint32_t low = UINT32_MAX;

        for (uint32_t cpu = 0; cpu < machine.n; cpu++) /* the lowest id not yet seen */
            if (!seen[cpu] &&
                (low == UINT32_MAX || machine.places[cpu].apic_id < machine.places[low].apic_id))
                low = cpu;
        seen[low] = 1;
        const uint32_t numbers[3] = {machine.places[low].core, machine.places[low].llc,
                                     machine.places[low].socket};

        for (int i = 0; i < 3; i++) {
            assert_true(numbers[i] <= next[i]);
            next[i] += numbers[i] == next[i];
        }
    }
    assert_int_equal(next[0], machine.result.cores);
    assert_int_equal(next[1], machine.result.llcs);
    assert_int_equal(next[2], machine.result.sockets);
    assert_int_equal(machine.result.threads, machine.n);
    nesting_check();
}

static void row_check(const struct topology_row *row)
{
    const struct topo_result *r = &machine.result;
    uint32_t notes = 0;

    for (uint32_t code = 0; code < TOPO_NOTES; code++)
        notes |= r->notes[code].cpus ? (uint32_t)BIT(code) : 0;
    if (r->sockets != row->sockets || r->cores != row->cores || r->llcs != row->llcs ||
        r->threads_per_core_max != row->threads_max || notes != row->notes ||
        r->hybrid != row->hybrid)
        fail_msg("%s: %u sockets %u cores %u llcs %u threads notes %x hybrid %d", row->name,
                 r->sockets, r->cores, r->llcs, r->threads_per_core_max, notes, r->hybrid);
}

static void machines_have_their_shape(void **state)
{
    (void)state;
    for (size_t i = 0; i < topology_rows_count; i++) {
        machine_decode(&topology_rows[i]);
        machine_build(0);
        row_check(&topology_rows[i]);
        numbers_check();
    }
}

static const struct topology_row *row_named(const char *start)
{
    for (size_t i = 0; i < topology_rows_count; i++)
        if (!strncmp(topology_rows[i].name, start, strlen(start)))
            return &topology_rows[i];
    fail_msg("no row %s", start);
    return NULL;
}

static void cpu_order_does_not_matter(void **state)
{
    static struct cpu_place before[CPUS];

    (void)state;
    machine_decode(row_named("Meteor Lake"));
    machine_build(0);
    memcpy(before, machine.places, sizeof before);
    for (uint32_t i = 0; i < machine.n / 2; i++) {
        struct topo_ids swap = machine.ids[i];

        machine.ids[i] = machine.ids[machine.n - 1 - i];
        machine.ids[machine.n - 1 - i] = swap;
    }
    machine_build(0);
    for (uint32_t i = 0; i < machine.n; i++) {
        const struct cpu_place *a = &before[i], *b = &machine.places[machine.n - 1 - i];

        assert_int_equal(a->apic_id, b->apic_id);
        assert_int_equal(a->core, b->core);
        assert_int_equal(a->llc, b->llc);
        assert_int_equal(a->thread, b->thread);
        assert_int_equal(b->cpu, machine.n - 1 - i);
    }
}

static void strong_cores_are_preferred(void **state)
{
    (void)state;
    machine_decode(row_named("Meteor Lake"));
    machine_build(0);
    for (uint32_t i = 1; i < machine.n; i++) /* CPUs 0-3 are P, 4 and 5 low-power */
        assert_true(machine.places[i - 1].asym_prio > machine.places[i].asym_prio);
    assert_int_equal(machine.ids[0].rank, TOPO_CORE_BIG);
    assert_int_equal(machine.ids[5].rank, TOPO_CORE_LOW_POWER);
    machine_decode(row_named("Raptor Lake"));
    assert_int_equal(machine.ids[machine.n - 1].rank, TOPO_CORE_SMALL);
    /* Strong cores last in CPU order are still ahead of every small one. */
    struct topo_ids swap = machine.ids[0];

    machine.ids[0] = machine.ids[machine.n - 1];
    machine.ids[machine.n - 1] = swap;
    machine_build(0);
    assert_true(machine.places[machine.n - 1].asym_prio > machine.places[0].asym_prio);
}

/* smt=compute-unit names the units; the cores stay two in every count and number. */
static void compute_units_are_two_cores(void **state)
{
    (void)state;
    machine_decode(row_named("Interlagos pair"));
    for (uint32_t wanted = 0; wanted < 2; wanted++) {
        machine_build(wanted ? TOPO_UNITS_ARE_SIBLINGS : 0);
        assert_int_equal(machine.result.cores, 24);
        assert_int_equal(machine.result.threads_per_core_max, 1);
        assert_int_equal(machine.result.llcs, 4);
        numbers_check();
        for (uint32_t cpu = 0; cpu < machine.n; cpu++)
            for (uint32_t other = 0; other < machine.n; other++)
                assert_int_equal(cpu_place_siblings(&machine.places[cpu], &machine.places[other]),
                                 wanted ? cpu / 2 == other / 2 : cpu == other);
    }
    machine_decode(row_named("Threadripper")); /* threads, and no units */
    machine_build(TOPO_UNITS_ARE_SIBLINGS);
    assert_int_equal(machine.result.cores, 16);
    for (uint32_t cpu = 0; cpu < machine.n; cpu++)
        assert_int_equal(machine.places[cpu].unit, 0);
}

/* Damaged leaves of one thread cannot put it into another LLC than its sibling. */
static void core_lies_in_one_llc(void **state)
{
    (void)state;
    machine.n = 4;
    for (uint32_t i = 0; i < 4; i++)
        machine.ids[i] = topology_decode(i, row_dump(row_named("Xeon E5 v2"), 0));
    machine.ids[1].llc_shift = machine.ids[1].core_shift;
    machine.ids[2].llc_level = 2; /* of the second core the first thread speaks */
    machine_build(0);
    assert_int_equal(machine.result.llcs, 2);
    assert_int_equal(machine.places[0].llc, machine.places[1].llc);
    assert_int_equal(machine.places[2].llc, machine.places[3].llc);
    numbers_check();
    /* Caches without any leaf that tells the socket: wider than the sockets that others tell. */
    machine.ids[2] = machine.ids[3] = (struct topo_ids){.apic_id = 32,
                                                        .core_threads = 1,
                                                        .socket_shift = TOPO_SHIFT_ALL,
                                                        .llc_shift = TOPO_SHIFT_ALL,
                                                        .llc_level = 3,
                                                        .source = TOPO_FROM_NOTHING};
    machine.ids[3].apic_id = 64;
    machine_build(0);
    assert_int_equal(machine.result.sockets, 3);
    assert_int_equal(machine.result.llcs, 3);
    numbers_check();
}

/* Bochs's ryzen of two one-thread cores: the boot CPU's leaf looks sound, the other's does not. */
static void contradicting_cpus_are_kept_apart(void **state)
{
    const struct topology_row *row = row_named("Bochs ryzen, 2 cores");

    (void)state;
    machine.n = 2;
    machine.ids[0] = topology_decode(0, row_dump(row, 0));
    machine.ids[1] = topology_decode(1, row_dump(row, 1));
    assert_int_not_equal(machine.ids[0].core_shift, machine.ids[1].core_shift);
    machine_build(0);
    assert_int_equal(machine.result.sockets, 1);
    assert_int_equal(machine.result.cores, 2);
    assert_int_equal(machine.result.llcs, 1);
}

static void doubtful_ids_are_noted(void **state)
{
    const struct topology_row *row = row_named("Xeon E5");

    (void)state;
    machine.n = 3;
    for (uint32_t i = 0; i < 3; i++)
        machine.ids[i] = topology_decode(i == 2 ? 4 : 8, row_dump(row, 0));
    machine_build(0);
    assert_int_equal(machine.result.notes[TOPO_NOTE_SAME_APIC_ID].cpus, 1);
    assert_int_equal(machine.result.notes[TOPO_NOTE_SAME_APIC_ID].told, 8);
    assert_int_equal(machine.result.cores, 2);

    machine.ids[1] = topology_decode(0x200, row_dump(row_named("Core 2 Quad"), 0));
    machine_build(0);
    assert_int_equal(machine.result.notes[TOPO_NOTE_MIXED_SHIFTS].cpus, 1);
    assert_int_equal(machine.result.notes[TOPO_NOTE_MIXED_SHIFTS].cpu, 1);
    assert_int_equal(machine.result.notes[TOPO_NOTE_MIXED_SHIFTS].told, 2);
    assert_int_equal(machine.result.notes[TOPO_NOTE_MIXED_SHIFTS].used, 5);
    assert_int_equal(machine.places[1].socket, 1);
    for (uint32_t code = 0; code < TOPO_NOTES; code++)
        assert_true(strlen(topology_note_text(code)) > 10);
}

static void largest_machine_is_built(void **state)
{
    const struct topology_row *row = row_named("Xeon E5");

    (void)state;
    machine.n = CPUS;
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) /* all ids below 4096, in a scattered order */
        machine.ids[cpu] = topology_decode(cpu * 2049 % CPUS, row_dump(row, 0));
    machine_build(0);
    assert_int_equal(machine.result.sockets, CPUS / 32);
    assert_int_equal(machine.result.cores, CPUS / 2);
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        uint32_t id = machine.ids[cpu].apic_id;

        assert_int_equal(machine.places[cpu].socket, id / 32);
        assert_int_equal(machine.places[cpu].core, id / 2);
        assert_int_equal(machine.places[cpu].thread, id % 2);
    }
    machine.n = 0;
    machine_build(0);
    assert_int_equal(machine.result.sockets, 0);
}

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 4;
}

/* Any bits in any leaf: shifts stay in order and the numbers stay dense. */
static void garbage_keeps_the_invariants(void **state)
{
    static const uint32_t leaves[] = {0,          1,          4,          7,          0xb,
                                      0x1a,       0x1f,       0x80000001, 0x80000006, 0x80000008,
                                      0x8000001d, 0x8000001e, 0x80000026};
    static const uint32_t signatures[] = {0x506e3, 0x100f91, 0x600f12, 0x800f11};
    static struct cpuid_entry dump[48];
    uint32_t seed = 7;

    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t count = random_next(&seed) % ARRAY_SIZE(dump);

        for (uint32_t i = 0; i < count; i++) {
            uint32_t *words = (uint32_t *)&dump[i].regs;

            for (uint32_t w = 0; w < sizeof dump[i].regs / sizeof *words; w++)
                words[w] = (random_next(&seed) << 16 ^ random_next(&seed)) &
                           (random_next(&seed) % 2 ? ~0u : random_next(&seed));
            dump[i].leaf = leaves[random_next(&seed) % ARRAY_SIZE(leaves)];
            dump[i].subleaf = random_next(&seed) % 3;
            if (dump[i].leaf == 0xb || dump[i].leaf == 0x1f || dump[i].leaf == 0x80000026)
                dump[i].regs.ecx = random_next(&seed) % 4 << 8;
            if (dump[i].leaf == 1 && random_next(&seed) % 2)
                dump[i].regs.eax = signatures[random_next(&seed) % ARRAY_SIZE(signatures)];
            if (!dump[i].leaf)
                dump[i].regs.ebx = random_next(&seed) % 2 ? 0x68747541 : 0x756e6547;
        }
        machine.n = 1 + random_next(&seed) % 16;
        for (uint32_t cpu = 0; cpu < machine.n; cpu++) {
            uint32_t mask = random_next(&seed) % 4 ? 0x3f : ~0u;
            struct topo_ids id =
                topology_decode(random_next(&seed) & mask, (struct cpuid_dump){dump, count});

            assert_true(id.core_shift <= id.llc_shift && id.llc_shift <= id.socket_shift);
            assert_true(id.core_shift <= id.unit_shift && id.unit_shift <= id.socket_shift);
            assert_true(id.socket_shift <= TOPO_SHIFT_ALL && id.llc_part < 8);
            machine.ids[cpu] = id;
        }
        machine_build(round % 2 ? TOPO_UNITS_ARE_SIBLINGS : 0);
        numbers_check();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_have_their_shape),
        cmocka_unit_test(cpu_order_does_not_matter),
        cmocka_unit_test(strong_cores_are_preferred),
        cmocka_unit_test(compute_units_are_two_cores),
        cmocka_unit_test(core_lies_in_one_llc),
        cmocka_unit_test(contradicting_cpus_are_kept_apart),
        cmocka_unit_test(doubtful_ids_are_noted),
        cmocka_unit_test(largest_machine_is_built),
        cmocka_unit_test(garbage_keeps_the_invariants),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
