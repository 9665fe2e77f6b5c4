/*
 * The table of command-line options: one X-macro list that is the parser's table, the struct of
 * values, docs/parameters.md and the console's `param` command.
 *
 * Spelt as in Xen where the meaning is equal. A row:
 *   X(KIND, field, "name", default, min, max, words, when, "help")
 * KIND BOOL (bool), UINT (uint64_t), WORD (struct option_word), TEXT
 * (char[OPTION_TEXT_CHARS]). `words` lists the words of a WORD, in the order of its enum;
 * a word that ends in "=" takes a number between min and max. `when`: BOOT, or RUNTIME when the
 * console may set it.
 */
#ifndef HV_OPTIONS_H
#define HV_OPTIONS_H

#include "hv/types.h"

#define OPTION_TEXT_CHARS 64

enum option_loglvl { LOGLVL_NONE, LOGLVL_ERROR, LOGLVL_WARNING, LOGLVL_INFO, LOGLVL_DEBUG };
enum option_numa { NUMA_OFF, NUMA_ON, NUMA_FAKE, NUMA_NOACPI };
enum option_smt { SMT_OFF, SMT_ON, SMT_COMPUTE_UNIT };
enum option_sched_gran { GRAN_CPU, GRAN_CORE };
enum option_ple { PLE_OFF, PLE_ON, PLE_AUTO };

/* Powers of two: 2^-3 of a unit that is always runnable is 0.125. */
#define BALANCE_WORDS     "-6 -5 -4 -3 -2 -1 0 1 2 3"
#define BALANCE_WORD_ZERO 6

#define OPTION_LIST(X)                                                                           \
    X(TEXT, console, "console", "com1,vga", 0, 0, "", BOOT,                                      \
      "Where output goes: com1, vga (the screen, if the boot loader gives one), e9 (the "        \
      "debug port of Bochs and QEMU) or none; several by commas. With sync every byte is "       \
      "waited for, which helps when the boot hangs.")                                            \
    X(TEXT, com1, "com1", "", 0, 0, "", BOOT,                                                    \
      "Serial port as baud[/base-baud][,DPS[,where[,irq]]][,reg-shift=n][,reg-width=n]. Baud "   \
      "`auto` leaves the firmware's rate; base-baud is the rate of divisor 1 (115200). `where` " \
      "is an I/O port, an address above 0xffff, a PCI function bus:dev.fn, `pci` (the first "    \
      "beyond bus 0) or `amt` (the first on bus 0); irq 0 polls. Without `where` the ports of "  \
      "BIOS data area, SPCR and DBG2 are used together, else COM1 at 115200,8n1.")               \
    X(UINT, panic, "panic", 0, 0, 86400, "", RUNTIME,                                            \
      "Seconds after a panic until the machine is reset; 0 leaves it halted.")                   \
    X(WORD, loglvl, "loglvl", LOGLVL_INFO, 0, 0, "none error warning info debug", RUNTIME,       \
      "Least severe message that is printed.")                                                   \
    X(WORD, numa, "numa", NUMA_ON, 1, NODES_MAX, "off on fake= noacpi", BOOT,                    \
      "Nodes from SRAT (on), one node (off), equal parts of memory (fake), or one node because " \
      "SRAT is not read (noacpi).")                                                              \
    X(WORD, smt, "smt", SMT_ON, 0, 0, "off on compute-unit", BOOT,                               \
      "Use every hardware thread (on) or one per core (off); with compute-unit the scheduler "   \
      "takes the two cores of an AMD family 15h unit for siblings.")                             \
    X(UINT, maxcpus, "maxcpus", CPUS_MAX, 1, CPUS_MAX, "", BOOT,                                 \
      "Most CPUs to bring up, the boot CPU included.")                                           \
    X(WORD, credit2_runqueue, "credit2_runqueue", 3, 0, 0, "cpu core llc socket node all",       \
      RUNTIME, "CPUs that share one runqueue.")                                                  \
    X(UINT, sched_credit2_max_cpus_runqueue, "sched_credit2_max_cpus_runqueue", 16, 1, 64, "",   \
      RUNTIME, "Most CPUs in one runqueue; a larger group is split evenly.")                     \
    X(UINT, sched_ratelimit_us, "sched_ratelimit_us", 1000, 0, 500000, "", RUNTIME,              \
      "Microseconds a unit runs before another may preempt it; 0 turns the limit off.")          \
    X(WORD, sched_preset, "sched_preset", 0, 0, 0, "default credit2-2016", RUNTIME,              \
      "A named set of scheduler parameters; docs/parameters.md lists them.")                     \
    X(WORD, sched_gran, "sched-gran", GRAN_CPU, 0, 0, "cpu core", BOOT,                          \
      "What is scheduled as one: with core, the hardware threads of a core run vCPUs of one VM " \
      "at a time, and guests may see threads=2. Not with credit2_runqueue=cpu.")                 \
    X(BOOL, asym, "asym", true, 0, 0, "", RUNTIME,                                               \
      "Prefer CPUs of higher priority among idle cores (asymmetric packing).")                   \
    X(BOOL, asym_busy, "asym_busy", false, 0, 0, "", RUNTIME,                                    \
      "With asym: a busy CPU, too, takes work, waiting or running, from CPUs of lower "          \
      "priority, whatever the loads, as Linux did before its fix. To measure that fault.")       \
    X(UINT, sched_credit_init_us, "sched_credit_init_us", 10000, 1000, 25000, "", RUNTIME,       \
      "Microseconds of credit that a reset gives to each unit.")                                 \
    X(UINT, sched_carryover_us, "sched_carryover_us", 500, 0, 10000, "", RUNTIME,                \
      "Most credit, in microseconds, that survives a reset.")                                    \
    X(UINT, sched_slice_min_us, "sched_slice_min_us", 500, 10, 100000, "", RUNTIME,              \
      "Shortest time between two looks at who should run on a CPU, in microseconds.")            \
    X(UINT, sched_slice_max_us, "sched_slice_max_us", 10000, 100, 100000, "", RUNTIME,           \
      "Longest such time while somebody waits, in microseconds.")                                \
    X(UINT, sched_credit2_migrate_resist, "sched_credit2_migrate_resist", 500, 0, 100000, "",    \
      RUNTIME,                                                                                   \
      "Microseconds of credit a unit must be ahead by to take a CPU it did not last run on.")    \
    X(UINT, credit2_load_window_shift, "credit2_load_window_shift", 30, 10, 40, "", RUNTIME,     \
      "Load averages decay over 2 to this power ns.")                                            \
    X(WORD, credit2_balance_under, "credit2_balance_under", 6, 0, 0, BALANCE_WORDS, RUNTIME,     \
      "Difference in load of two runqueues, as a power of two, that is left alone when the "     \
      "busier one is below its capacity.")                                                       \
    X(WORD, credit2_balance_over, "credit2_balance_over", 3, 0, 0, BALANCE_WORDS, RUNTIME,       \
      "The same when the busier one is above its capacity.")                                     \
    X(UINT, sched_balance_period_us, "sched_balance_period_us", 10000, 100, 100000, "", RUNTIME, \
      "Least time between two balance passes of one runqueue, in microseconds.")                 \
    X(BOOL, sched_smt_aware, "sched_smt_aware", true, 0, 0, "", RUNTIME,                         \
      "Prefer fully idle cores to idle siblings of busy threads.")                               \
    X(BOOL, sched_newidle_pull, "sched_newidle_pull", true, 0, 0, "", RUNTIME,                   \
      "A CPU that goes idle takes waiting work from other runqueues.")                           \
    X(BOOL, sched_neighbour_wake, "sched_neighbour_wake", true, 0, 0, "", RUNTIME,               \
      "A unit that wakes may go at once to an idle core of another runqueue.")                   \
    X(BOOL, sched_overdue_push, "sched_overdue_push", true, 0, 0, "", RUNTIME,                   \
      "A unit that waited for the rate limit goes to an idle CPU of another runqueue.")          \
    X(BOOL, sched_smt_spread, "sched_smt_spread", true, 0, 0, "", RUNTIME,                       \
      "A core that goes idle takes a unit from a core with two busy threads.")                   \
    X(BOOL, sched_stay_warm, "sched_stay_warm", true, 0, 0, "", RUNTIME,                         \
      "Units that run briefly stay on their core, and CPUs take those that last ran on them.")   \
    X(BOOL, sched_soft_affinity, "sched_soft_affinity", true, 0, 0, "", RUNTIME,                 \
      "Prefer the CPUs of a unit's soft affinity, by default those of its home nodes.")          \
    X(BOOL, sched_numa_cost, "sched_numa_cost", true, 0, 0, "", RUNTIME,                         \
      "Leaving the preferred CPUs must pay for the distance between the nodes.")                 \
    X(WORD, ple, "ple", PLE_AUTO, 0, 0, "off on auto", BOOT,                                     \
      "Intercept guests' pause loops: never, always, or where the CPU has a filter (auto).")

struct option_word {
    uint32_t word;   /* index in the list of words */
    uint32_t number; /* what followed "word=", else 0 */
};

#define OPTION_TYPE_BOOL(field) bool field
#define OPTION_TYPE_UINT(field) uint64_t field
#define OPTION_TYPE_WORD(field) struct option_word field
#define OPTION_TYPE_TEXT(field) char field[OPTION_TEXT_CHARS]

#define OPTION_FIELD(kind, field, name, dflt, min, max, words, when, help) \
    OPTION_TYPE_##kind(field);
struct options {
    OPTION_LIST(OPTION_FIELD)
    uint64_t given; /* bit by enum option_id: set by somebody, not a default */
};
#undef OPTION_FIELD

#define OPTION_ID(kind, field, name, dflt, min, max, words, when, help) OPTION_##field,
enum option_id { OPTION_LIST(OPTION_ID) OPTION_COUNT };
#undef OPTION_ID

#endif
