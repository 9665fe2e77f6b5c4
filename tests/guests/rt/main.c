/*
 * The order in which a guest comes up, and how it ends.
 */
#include "tests/guests/rt/rt.h"

enum {
    PORT_EXIT = 0xf4,
    PORT_BOCHS = 0x8900, /* "Shutdown" written here ends Bochs */
    PIC_MASTER_MASK = 0x21,
    PIC_SLAVE_MASK = 0xa1,
};

_Noreturn void rt_main(uint32_t magic, uint32_t info);

void rt_exit(int code)
{
    asm_cli();
    asm_out8(PORT_EXIT, (uint8_t)code);
    rt_printf("exit: code %d, no exit port answered\n", code);
    for (const char *p = "Shutdown"; *p; p++)
        asm_out8(PORT_BOCHS, (uint8_t)*p);
    for (;;)
        asm_hlt();
}

void rt_fail(const char *why)
{
    rt_printf("FAIL: %s\n", why);
    rt_exit(RT_EXIT_FAIL);
}

void rt_main(uint32_t magic, uint32_t info)
{
    /* Bochs leaves the PIC unmasked with its vectors on top of the exceptions. */
    asm_out8(PIC_MASTER_MASK, 0xff);
    asm_out8(PIC_SLAVE_MASK, 0xff);
    boot_read(magic, info);
    print_init();
    cpu_build_idt();
    pv_init();
    apic_init();
    smp_init_boot_cpu();
    time_init();
    apic_calibrate();
    smp_start();
    lock_init();
    asm_sti();
    rt_exit(guest_main());
}
