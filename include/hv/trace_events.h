/*
 * Trace events: one list that is the enum, the names, and the meaning of the two arguments.
 *
 * The image records them in its trace rings, a test may count them. X(NAME, "name", "argument a",
 * "argument b"). A unit is shown as unit_trace_id(): VM id in the high half, index in the low half;
 * TRACE_NO_UNIT is the idle CPU.
 */
#ifndef HV_TRACE_EVENTS_H
#define HV_TRACE_EVENTS_H

#include "hv/types.h"

#define TRACE_EVENT_LIST(X)                             \
    X(SCHED_SWITCH, "sched_switch", "from", "to")       \
    X(SCHED_WAKE, "sched_wake", "unit", "last_cpu")     \
    X(SCHED_TICKLE, "sched_tickle", "unit", "cpu")      \
    X(SCHED_MIGRATE, "sched_migrate", "unit", "runq")   \
    X(SCHED_RESET, "sched_reset", "runq", "given_ns")   \
    X(SCHED_YIELD_TO, "sched_yield_to", "unit", "cpu")  \
    X(SCHED_STEAL, "sched_steal", "unit", "from_runq")  \
    X(SCHED_BALANCE, "sched_balance", "runq", "peer")   \
    X(SCHED_PARK, "sched_park", "unit", "until_ns")     \
    X(SCHED_UNPARK, "sched_unpark", "unit", "grant_ns") \
    X(SCHED_CPU_ONLINE, "sched_cpu_online", "cpu", "on")

#define TRACE_EVENT_ID(id, name, a, b) TRACE_##id,
enum trace_event { TRACE_EVENT_LIST(TRACE_EVENT_ID) TRACE_EVENT_COUNT };
#undef TRACE_EVENT_ID

#define TRACE_NO_UNIT UINT64_MAX

#endif
