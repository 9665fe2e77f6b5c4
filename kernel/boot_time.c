/*
 * How long the boot took: from head.S to the first pick, with all CPUs up and no VM built yet.
 *
 * Ticks of the TSC, so under an emulator that counts instructions they are instructions. The delays
 * that INIT and SIPI ask for are told apart: they are the same for every kernel.
 */
#include "kernel/boot_time.h"

#include "kernel/arch.h"
#include "kernel/printk.h"

uint64_t boot_entry_tsc;

static uint64_t waited_ticks;

void boot_time_waited(uint64_t ticks)
{
    waited_ticks += ticks;
}

void boot_time_print(void)
{
    uint64_t ticks = arch_tsc() - boot_entry_tsc;

    pr_info("boot: %llu ticks from entry to the first pick, and %llu in INIT/SIPI delays",
            (unsigned long long)(ticks - waited_ticks), (unsigned long long)waited_ticks);
}
