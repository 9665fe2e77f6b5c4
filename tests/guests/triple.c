/*
 * triple: triple-faults on purpose, by an exception with an empty IDT. Its VM must end, no other.
 *
 * Options: on=N (the vCPU that does it; default 0).
 */
#include "tests/guests/rt/rt.h"

static void triple_fault(void *arg)
{
    static const struct __attribute__((packed)) {
        uint16_t limit;
        uint64_t base;
    } empty;

    (void)arg;
    asm volatile("lidt %0\n\tud2" : : "m"(empty));
}

int guest_main(void)
{
    uint32_t on = (uint32_t)opt_u64("on", 0);

    if (on >= smp_count)
        rt_fail("on= names no vCPU");
    rt_printf("triple: vCPU %u faults now\n", on);
    if (on == 0)
        triple_fault(NULL);
    smp_run(on, triple_fault, NULL);
    time_delay_us(5000000);
    rt_fail("still here after a triple fault");
}
