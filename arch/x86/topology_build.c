/*
 * All CPUs' ids to dense numbers: cores, last-level caches, sockets, threads.
 *
 * Only the CPUs passed in exist; gaps in the APIC ids leave no gaps in the numbers. A group is
 * known by its APIC id prefix together with the shift that made it, so CPUs that disagree about a
 * shift (hybrid parts, a CPU whose leaves were mended) are never thrown together by chance. Only
 * the socket's shift is one for all: the greatest that a CPU tells, for a socket is the machine's.
 * The groups of one kind need not be contiguous in APIC ids: low-power cores sit amid the ids of
 * the L3's owners.
 *
 * Invariants: every number below its count is used; the lowest APIC ids have the lowest numbers. A
 * core lies within one LLC and that within one socket, whatever the leaves say: the core's first
 * CPU speaks for all of it.
 */
#include "arch/x86/topology.h"

#include "hv/assert.h"
#include "hv/sort.h"

/* A sort key is a group over a rank (place in APIC id order), which is below CPUS_MAX. */
#define KEY_RANK        BITS(11, 0)
#define KEY_SHIFT       BITS(17, 12)
#define KEY_LEVEL       BITS(20, 18)
#define KEY_PART        BITS(23, 21)
#define KEY_PREFIX      BITS(55, 24)
#define KEY_GROUP       (KEY_PREFIX | KEY_PART | KEY_LEVEL | KEY_SHIFT)

#define ASYM_RANK_SHIFT 16 /* above every CPU number */

_Static_assert(CPUS_MAX <= KEY_RANK + 1, "a rank fits its field");

struct build {
    const struct topo_ids *ids;
    struct cpu_place *places;
    uint64_t *order; /* rank -> APIC id over CPU number */
    uint64_t *keys;
    uint32_t n;
    uint32_t socket_shift; /* of all CPUs */
};

enum group_kind { GROUP_CORE, GROUP_UNIT, GROUP_LLC };

static uint32_t cpu_at(const struct build *b, uint32_t rank)
{
    return (uint32_t)FIELD_GET(KEY_RANK, b->order[rank]);
}

static uint64_t key_make(uint32_t apic_id, uint64_t shift, uint64_t level, uint64_t part)
{
    return FIELD_PREP(KEY_PREFIX, (uint64_t)apic_id >> shift) | FIELD_PREP(KEY_PART, part) |
           FIELD_PREP(KEY_LEVEL, level) | FIELD_PREP(KEY_SHIFT, shift);
}

/* The key of the CPU at `rank`, without the rank. LLCs and units are told by the core's first. */
static uint64_t group_key(const struct build *b, enum group_kind kind, uint32_t rank)
{
    uint32_t cpu = cpu_at(b, rank);
    const struct topo_ids *id = &b->ids[cpu];

    if (kind == GROUP_CORE)
        return key_make(id->apic_id, id->core_shift, 0, 0);
    id = &b->ids[cpu_at(b, b->places[cpu].llc)];
    if (kind == GROUP_UNIT)
        return key_make(id->apic_id, id->unit_shift, 0, 0);
    if (!id->llc_level) /* without caches the socket */
        return key_make(id->apic_id, b->socket_shift, 0, 0);
    return key_make(id->apic_id, MIN((uint32_t)id->llc_shift, b->socket_shift), id->llc_level,
                    id->llc_part);
}

static uint32_t *place_number(struct cpu_place *place, enum group_kind kind)
{
    switch (kind) {
    case GROUP_CORE:
        return &place->core;
    case GROUP_UNIT:
        return &place->unit;
    default:
        return &place->llc;
    }
}

/*
 * Number the groups of one kind by their lowest APIC id and return how many there are.
 *
 * Sorting by group brings members together, the lowest rank first: that leader's rank is put into
 * each member. Then, going up the ranks, a leader takes the next number and members copy their
 * leader's, which has been numbered before them.
 */
static uint32_t groups_number(struct build *b, enum group_kind kind)
{
    uint32_t count = 0, leader = 0;

    for (uint32_t rank = 0; rank < b->n; rank++)
        b->keys[rank] = group_key(b, kind, rank) | rank;
    sort_u64(b->keys, b->n);
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t rank = (uint32_t)FIELD_GET(KEY_RANK, b->keys[i]);

        if (!i || (b->keys[i] & KEY_GROUP) != (b->keys[i - 1] & KEY_GROUP))
            leader = rank;
        *place_number(&b->places[cpu_at(b, rank)], kind) = leader;
    }
    for (uint32_t rank = 0; rank < b->n; rank++) {
        uint32_t *number = place_number(&b->places[cpu_at(b, rank)], kind);

        if (*number == rank)
            *number = count++;
        else
            *number = *place_number(&b->places[cpu_at(b, *number)], kind);
    }
    return count;
}

/*
 * The keys still stand in core order: an index in the core is the distance from its first, whose
 * rank is left in `llc` until the LLCs are numbered.
 */
static uint32_t threads_number(struct build *b)
{
    uint32_t most = 0, thread = 0, leader = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        bool first = !i || (b->keys[i] & KEY_GROUP) != (b->keys[i - 1] & KEY_GROUP);
        uint32_t rank = (uint32_t)FIELD_GET(KEY_RANK, b->keys[i]);

        thread = first ? 0 : thread + 1;
        leader = first ? rank : leader;
        b->places[cpu_at(b, rank)].thread = thread;
        b->places[cpu_at(b, rank)].llc = leader;
        most = MAX(most, thread + 1);
    }
    return most;
}

/* All sockets have one shift, so that APIC id order is their order. */
static uint32_t sockets_number(struct build *b)
{
    uint64_t last = UINT64_MAX;
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < b->n; rank++) {
        uint32_t cpu = cpu_at(b, rank);
        uint64_t prefix = (uint64_t)b->ids[cpu].apic_id >> b->socket_shift;

        count += prefix != last;
        last = prefix;
        b->places[cpu].socket = count - 1;
    }
    return count;
}

/* From 1 up; a unit of one core is none. */
static void units_number(struct build *b)
{
    groups_number(b, GROUP_UNIT);
    for (uint32_t cpu = 0; cpu < b->n; cpu++) {
        struct cpu_place *place = &b->places[cpu];
        const struct topo_ids *first = &b->ids[cpu_at(b, place->llc)];

        place->unit = first->unit_shift > first->core_shift ? place->unit + 1 : 0;
    }
}

/* The greatest that is told; a CPU without leaves has a say only where no CPU has any. */
static uint32_t socket_shift_of_all(const struct topo_ids ids[], uint32_t n)
{
    uint32_t greatest = 0;
    bool told = false;

    for (uint32_t cpu = 0; cpu < n; cpu++)
        if (ids[cpu].source != TOPO_FROM_NOTHING) {
            greatest = MAX(greatest, (uint32_t)ids[cpu].socket_shift);
            told = true;
        }
    return told ? greatest : TOPO_SHIFT_ALL;
}

static void note_count(struct topo_result *out, enum topo_note_code code, uint32_t cpu,
                       uint32_t told, uint32_t used)
{
    struct topo_note *note = &out->notes[code];

    if (note->cpus++)
        return;
    note->cpu = cpu;
    note->told = told;
    note->used = used;
}

static void notes_collect(const struct build *b, struct topo_result *out)
{
    for (uint32_t cpu = 0; cpu < b->n; cpu++) {
        const struct topo_ids *id = &b->ids[cpu];

        for (enum topo_note_code code = 0; code < TOPO_NOTES; code++)
            if (id->notes & BIT(code))
                note_count(out, code, cpu, id->told[code], id->used[code]);
        if (id->source != TOPO_FROM_NOTHING && id->socket_shift != b->socket_shift)
            note_count(out, TOPO_NOTE_MIXED_SHIFTS, cpu, id->socket_shift, b->socket_shift);
        out->hybrid |= id->rank != b->ids[0].rank;
    }
    for (uint32_t rank = 1; rank < b->n; rank++) {
        uint32_t id = b->ids[cpu_at(b, rank)].apic_id;

        if (id == b->ids[cpu_at(b, rank - 1)].apic_id)
            note_count(out, TOPO_NOTE_SAME_APIC_ID, cpu_at(b, rank), id, id);
    }
}

void topology_build(const struct topo_ids ids[], uint32_t n, uint32_t flags, uint64_t scratch[],
                    struct cpu_place places[], struct topo_result *out)
{
    struct build b = {ids, places, scratch, scratch + n, n, socket_shift_of_all(ids, n)};

    ASSERT(n <= CPUS_MAX);
    *out = (struct topo_result){.threads = n};
    for (uint32_t cpu = 0; cpu < n; cpu++)
        b.order[cpu] = FIELD_PREP(BITS(43, 12), ids[cpu].apic_id) | cpu;
    sort_u64(b.order, n);
    out->sockets = sockets_number(&b);
    out->cores = groups_number(&b, GROUP_CORE);
    out->threads_per_core_max = threads_number(&b);
    if (flags & TOPO_UNITS_ARE_SIBLINGS)
        units_number(&b);
    out->llcs = groups_number(&b, GROUP_LLC);
    for (uint32_t cpu = 0; cpu < n; cpu++) {
        places[cpu].cpu = cpu;
        places[cpu].apic_id = ids[cpu].apic_id;
        places[cpu].unit = flags & TOPO_UNITS_ARE_SIBLINGS ? places[cpu].unit : 0;
        /* Stronger cores first, then lower CPU numbers: always positive. */
        places[cpu].asym_prio =
            (int32_t)((uint32_t)ids[cpu].rank << ASYM_RANK_SHIFT) + (int32_t)(CPUS_MAX - 1 - cpu);
    }
    notes_collect(&b, out);
}

const char *topology_note_text(enum topo_note_code code)
{
    static const char *const texts[TOPO_NOTES] = {
        [TOPO_NOTE_SOCKET_SHIFT] = "CPUID's socket shift leaves no room for its own CPU count",
        [TOPO_NOTE_EMPTY_LEAF_B] = "CPUID leaf 0xB is empty or cut short; older leaves are used",
        [TOPO_NOTE_AMD_THREADS] = "CPUID leaf 0x8000001E's threads per core are not credible",
        [TOPO_NOTE_LLC_SPAN] = "CPUID shows a last-level cache wider than the socket; cut",
        [TOPO_NOTE_NO_LEAVES] = "no CPUID topology; one socket of single-thread cores assumed",
        [TOPO_NOTE_MIXED_SHIFTS] = "CPUs disagree about CPUID's socket shift; the greatest is used",
        [TOPO_NOTE_SAME_APIC_ID] = "two CPUs carry one APIC id",
    };

    return texts[code];
}
