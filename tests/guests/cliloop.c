/*
 * cliloop: loops for ever with interrupts off. The host must take the CPU away from it.
 *
 * Options: how=pause|jmp (a loop of PAUSE, the default, or a bare jump), all (on every vCPU, else
 * vCPU 0 only, the others halt).
 */
#include "tests/guests/rt/rt.h"

static void cliloop_pause(void *arg)
{
    (void)arg;
    asm_cli();
    for (;;)
        asm_pause();
}

static void cliloop_jump(void *arg)
{
    (void)arg;
    asm_cli();
    asm volatile("1: jmp 1b");
}

int guest_main(void)
{
    bool jump = opt_is("how", "jmp");

    rt_printf("cliloop: %s with interrupts off on %s\n", jump ? "jmp" : "pause",
              opt_flag("all") ? "every vCPU" : "vCPU 0");
    smp_run_first(opt_flag("all") ? smp_count : 1, jump ? cliloop_jump : cliloop_pause, NULL);
    return 1;
}
