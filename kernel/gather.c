/*
 * Standstill: what may only change while no CPU uses it changes here.
 *
 * CPU 0 closes a gate, sets HAZARD_GATHER on the others and waits until each has written the gate's
 * number into its own word. A CPU does that in its hazard loop, where it holds no lock and is
 * inside nothing, and stays until the gate has another number. Guests notice a pause of some
 * microseconds.
 *
 * The wait is bounded: after GATHER_WAIT_NS the gate opens again and nothing was done. A CPU that
 * comes too late writes a number that no later gate has. Interrupts are off while a CPU waits; a
 * panic or power off elsewhere stops it by NMI.
 */
#include "kernel/gather.h"

#include <errno.h>

#include "hv/assert.h"
#include "kernel/arch.h"
#include "kernel/cpu.h"

#define GATHER_WAIT_NS NS_PER_SEC

static uint32_t gate; /* [a] odd: closed; written by CPU 0 only */

static bool others_are_here(uint32_t number)
{
    for (uint32_t i = 1; i < cpu_count; i++)
        /* Acquire pairs with gather_wait: what that CPU did before is visible. */
        if (cpus[i] && atomic_get_acquire(&cpus[i]->gathered) != number)
            return false;
    return true;
}

int gather_call(void (*fn)(void *arg), void *arg)
{
    uint32_t number = gate + 1;
    ns_t give_up = arch_now() + GATHER_WAIT_NS;
    int error = 0;

    ASSERT(cpu_this()->id == 0);
    atomic_set(&gate, number); /* before the hazard bits, which are seq-cst */
    for (uint32_t i = 1; i < cpu_count; i++)
        if (cpus[i])
            cpu_hazard(cpus[i], HAZARD_GATHER);
    while (!error && !others_are_here(number)) {
        __builtin_ia32_pause();
        error = arch_now() > give_up ? -ETIMEDOUT : 0;
    }
    if (!error)
        fn(arg);
    /* Release pairs with gather_wait: who goes on sees what fn wrote. */
    atomic_set_release(&gate, number + 1);
    return error;
}

void gather_wait(void)
{
    uint32_t number = atomic_get_acquire(&gate);

    if (!(number & 1))
        return; /* too late */
    atomic_set_release(&cpu_this()->gathered, number);
    while (atomic_get_acquire(&gate) == number)
        __builtin_ia32_pause();
}
