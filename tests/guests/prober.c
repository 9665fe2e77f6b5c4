/*
 * prober: reads every MSR of the usual ranges and every port, each with a fix-up, and counts what
 * faulted. The host must answer each with a value or #GP, and live.
 *
 * Natively, without KVM's ABI, the UART is read by bytes only.
 * Options: msrs=off, ports=off (leave that half out), list=on (lists each MSR that answered).
 */
#include "tests/guests/rt/rt.h"

static const struct {
    uint32_t first, last;
} ranges[] = {
    {0x00000000, 0x00001fff}, {0xc0000000, 0xc0001fff}, {0xc0010000, 0xc0011fff},
    {0x40000000, 0x400000ff}, {0x4b564d00, 0x4b564dff},
};

static void probe_msrs(void)
{
    bool list = opt_is("list", "on");
    uint64_t value;

    for (uint32_t r = 0; r < ARRAY_SIZE(ranges); r++) {
        uint32_t answered = 0, faulted = 0;

        for (uint32_t msr = ranges[r].first; msr <= ranges[r].last; msr++) {
            bool ok = asm_rdmsr_safe(msr, &value);

            answered += ok;
            faulted += !ok;
            if (ok && list)
                rt_printf("prober: MSR %#x = %#lx\n", msr, value);
        }
        rt_printf("prober: MSRs %08x-%08x: %u answered, %u faulted\n", ranges[r].first,
                  ranges[r].last, answered, faulted);
    }
}

struct port_counts {
    uint32_t answered, ones, faulted;
};

static void count(struct port_counts *c, bool ok, bool ones)
{
    c->answered += ok;
    c->ones += ok && ones;
    c->faulted += !ok;
}

/*
 * QEMU's own UART model aborts QEMU on wide reads; without a hypervisor in between these are left
 * out.
 */
static bool wide_is_safe(uint32_t port)
{
    return pv.kvm || port < 0x3f5 || port > 0x3ff;
}

static void probe_ports(void)
{
    struct port_counts c[3] = {0};

    for (uint32_t port = 0; port < 0x10000; port++) {
        uint8_t v8;
        uint16_t v16;
        uint32_t v32;
        bool ok;

        ok = asm_in8_safe((uint16_t)port, &v8);
        count(&c[0], ok, v8 == UINT8_MAX);
        if (!wide_is_safe(port))
            continue;
        ok = asm_in16_safe((uint16_t)port, &v16);
        count(&c[1], ok, v16 == UINT16_MAX);
        ok = asm_in32_safe((uint16_t)port, &v32);
        count(&c[2], ok, v32 == UINT32_MAX);
    }
    for (uint32_t i = 0; i < 3; i++)
        rt_printf("prober: ports by %u bits: %u answered (%u all ones), %u faulted\n", 8u << i,
                  c[i].answered, c[i].ones, c[i].faulted);
}

int guest_main(void)
{
    rt_printf("prober: starts\n");
    if (!opt_is("msrs", "off"))
        probe_msrs();
    if (!opt_is("ports", "off"))
        probe_ports();
    rt_printf("prober: done\n");
    return 0;
}
