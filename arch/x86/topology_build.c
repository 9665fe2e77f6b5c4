/*
 * All CPUs' ids to dense numbers: cores, last-level caches, sockets, threads.
 *
 * Only the CPUs passed in exist; gaps in the APIC ids leave no gaps in the numbers. A group is
 * known by its APIC id prefix together with the shift that made it, so CPUs that disagree about a
 * shift (hybrid parts, a CPU whose leaves were mended) are never thrown together by chance. The
 * groups of one kind need not be contiguous in APIC ids: low-power cores sit amid the ids of the
 * L3's owners.
 *
 * Invariant: every number below its count is used; the lowest APIC ids have the lowest numbers.
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
    uint32_t flags;
};

enum group_kind { GROUP_CORE, GROUP_LLC, GROUP_SOCKET };

static uint32_t cpu_at(const struct build *b, uint32_t rank)
{
    return (uint32_t)FIELD_GET(KEY_RANK, b->order[rank]);
}

static uint64_t group_key(const struct build *b, enum group_kind kind, const struct topo_ids *id)
{
    uint64_t shift = id->socket_shift, level = 0, part = 0;

    if (kind == GROUP_CORE)
        shift = b->flags & TOPO_UNITS_ARE_CORES ? id->unit_shift : id->core_shift;
    if (kind == GROUP_LLC) {
        shift = id->llc_shift;
        level = id->llc_level;
        part = id->llc_part;
    }
    return FIELD_PREP(KEY_PREFIX, (uint64_t)id->apic_id >> shift) | FIELD_PREP(KEY_PART, part) |
           FIELD_PREP(KEY_LEVEL, level) | FIELD_PREP(KEY_SHIFT, shift);
}

static uint32_t *place_number(struct cpu_place *place, enum group_kind kind)
{
    switch (kind) {
    case GROUP_CORE:
        return &place->core;
    case GROUP_LLC:
        return &place->llc;
    default:
        return &place->socket;
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
        b->keys[rank] = group_key(b, kind, &b->ids[cpu_at(b, rank)]) | rank;
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

/* The keys still stand in core order: an index in the core is the distance from its first. */
static uint32_t threads_number(struct build *b)
{
    uint32_t most = 0, thread = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        bool first = !i || (b->keys[i] & KEY_GROUP) != (b->keys[i - 1] & KEY_GROUP);

        thread = first ? 0 : thread + 1;
        b->places[cpu_at(b, (uint32_t)FIELD_GET(KEY_RANK, b->keys[i]))].thread = thread;
        most = MAX(most, thread + 1);
    }
    return most;
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
    uint32_t least = TOPO_SHIFT_ALL, greatest = 0;

    for (uint32_t cpu = 0; cpu < b->n; cpu++) {
        const struct topo_ids *id = &b->ids[cpu];

        for (enum topo_note_code code = 0; code < TOPO_NOTES; code++)
            if (id->notes & BIT(code))
                note_count(out, code, cpu, id->told[code], id->used[code]);
        least = MIN(least, (uint32_t)id->socket_shift);
        greatest = MAX(greatest, (uint32_t)id->socket_shift);
        out->hybrid |= id->rank != b->ids[0].rank;
    }
    for (uint32_t cpu = 0; cpu < b->n; cpu++)
        if (least != greatest && b->ids[cpu].socket_shift != greatest)
            note_count(out, TOPO_NOTE_MIXED_SHIFTS, cpu, least, greatest);
    for (uint32_t rank = 1; rank < b->n; rank++) {
        uint32_t id = b->ids[cpu_at(b, rank)].apic_id;

        if (id == b->ids[cpu_at(b, rank - 1)].apic_id)
            note_count(out, TOPO_NOTE_SAME_APIC_ID, cpu_at(b, rank), id, id);
    }
}

void topology_build(const struct topo_ids ids[], uint32_t n, uint32_t flags, uint64_t scratch[],
                    struct cpu_place places[], struct topo_result *out)
{
    struct build b = {ids, places, scratch, scratch + n, n, flags};

    ASSERT(n <= CPUS_MAX);
    *out = (struct topo_result){.threads = n};
    for (uint32_t cpu = 0; cpu < n; cpu++)
        b.order[cpu] = FIELD_PREP(BITS(43, 12), ids[cpu].apic_id) | cpu;
    sort_u64(b.order, n);
    out->sockets = groups_number(&b, GROUP_SOCKET);
    out->llcs = groups_number(&b, GROUP_LLC);
    out->cores = groups_number(&b, GROUP_CORE);
    out->threads_per_core_max = threads_number(&b);
    for (uint32_t cpu = 0; cpu < n; cpu++) {
        places[cpu].cpu = cpu;
        places[cpu].apic_id = ids[cpu].apic_id;
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
        [TOPO_NOTE_EMPTY_LEAF_B] = "CPUID leaf 0xB is empty; older leaves are used",
        [TOPO_NOTE_AMD_THREADS] = "CPUID leaf 0x8000001E's threads per core are not credible",
        [TOPO_NOTE_LLC_SPAN] = "CPUID shows a last-level cache wider than the socket; cut",
        [TOPO_NOTE_NO_LEAVES] = "no CPUID topology; one socket of single-thread cores assumed",
        [TOPO_NOTE_MIXED_SHIFTS] = "CPUs disagree about CPUID's socket shift",
        [TOPO_NOTE_SAME_APIC_ID] = "two CPUs carry one APIC id",
    };

    return texts[code];
}
