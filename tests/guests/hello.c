/*
 * hello: what this guest was given. CPU, hypervisor, command line, memory, modules, CPUs.
 *
 * Options: exit=N (exit code, default 0).
 */
#include "tests/guests/rt/rt.h"

static void hello_print_pv(void)
{
    if (!pv.hypervisor) {
        rt_printf("hypervisor: none\n");
        return;
    }
    rt_printf("hypervisor: \"%s\"%s\n", pv.signature, pv.numen ? ", Numen" : "");
    if (pv.kvm)
        rt_printf("paravirt: features %#x yield %s\n", pv.features, pv.yields ? "yes" : "no");
}

static void hello_print_memory(void)
{
    for (uint32_t i = 0; i < boot_info.nranges; i++) {
        const struct mem_range *r = &boot_info.ranges[i];

        rt_printf("memory: %010lx-%010lx %s\n", r->base, r->base + r->bytes - 1,
                  r->type == 1 ? "RAM" : "reserved");
    }
    for (uint32_t i = 0; i < boot_info.nmodules; i++) {
        const struct module *m = &boot_info.modules[i];

        rt_printf("module: %lx-%lx \"%s\"\n", m->start, m->end - 1, m->text);
    }
}

int guest_main(void)
{
    rt_printf("hello from a guest\n");
    rt_printf("cpu: %s\n", pv.vendor);
    hello_print_pv();
    rt_printf("command line: \"%s\"\n", boot_info.cmdline);
    hello_print_memory();
    rt_printf("apic: %s, timer %lu kHz%s\n", apic_is_x2 ? "x2APIC" : "xAPIC", apic_timer_khz,
              apic_has_deadline ? ", TSC deadline" : "");
    rt_printf("tsc: %lu kHz (%s)\n", time_tsc_khz, time_source);
    rt_printf("vcpus: %u started, apic ids", smp_count);
    for (uint32_t i = 0; i < smp_count; i++)
        rt_printf(" %u", smp_cpus[i]->apic_id);
    rt_printf("\n");
    return (int)opt_u64("exit", 0) & 0x7f;
}
