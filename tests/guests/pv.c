/*
 * pv: does the machine keep what docs/guest-abi.md and the local APIC promise?
 *
 * A line per check (pv/check.h), at the end `PV N passed, M failed`; exit code 0 or 1. Natively the
 * paravirtual groups are skipped with a line, the local APIC's run.
 * Options: only=hyper|halt|clock|timer|lapic|ipi.
 */
#include "tests/guests/pv/check.h"

static const struct {
    const char *name;
    void (*run)(void);
} groups[] = {
    {"hyper", hyper_tests}, {"halt", halt_tests},   {"clock", clock_tests},
    {"timer", timer_tests}, {"lapic", lapic_tests}, {"ipi", ipi_tests},
};

/* NMIs are sent by several checks; trap_dispatch has counted it, there is no EOI. */
static void nmi_taken(struct trap_frame *frame)
{
    (void)frame;
}

int guest_main(void)
{
    trap_set_handler(VEC_NMI, nmi_taken);
    rt_printf("pv: %u vCPUs, %s, hypervisor \"%s\", features %#x, %s\n", smp_count, pv.vendor,
              pv.signature, pv.features, apic_is_x2 ? "x2APIC" : "xAPIC");
    for (uint32_t i = 0; i < ARRAY_SIZE(groups); i++)
        if (!opt_flag("only") || opt_is("only", groups[i].name))
            groups[i].run();
    rt_printf("PV %u passed, %u failed\n", checks_passed, checks_failed);
    return checks_failed != 0;
}
