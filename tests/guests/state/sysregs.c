/*
 * System registers of the `state` guest: one table row per register.
 *
 * A row says how to read and write it and how a random number is made a legal value that does not
 * disturb the runtime: breakpoints stay disabled, TPR below the runtime's vectors, protection key 0
 * open, PAT entries 0 to 3 (the only ones the page tables use) as they are. Rows are loaded from
 * the top: a segment register clears its base, so the bases come after. Rows whose register CPUID
 * does not offer are left out.
 */
#include "tests/guests/state/state.h"

enum {
    CR4_DE_TSD = 0x0c,
    CR4_OSXSAVE = 1 << 18,
    CR4_PKE = 1 << 22,
    EFER_SCE = 1 << 0,
    EFER_NXE = 1 << 11,
};

struct row {
    const char *name;
    uint32_t msr; /* where read and write are the MSR's */
    uint64_t (*read)(uint32_t msr);
    void (*write)(uint32_t msr, uint64_t value);
    uint64_t (*shape)(uint64_t random);
    bool (*offered)(void); /* NULL: always */
};

static uint64_t boot_cr0, boot_cr4, boot_efer; /* [i] the runtime's own bits */
static bool has_xsave, has_pku;                /* [i] */

static uint64_t read_msr(uint32_t msr)
{
    return asm_rdmsr(msr);
}

static void write_msr(uint32_t msr, uint64_t value)
{
    asm_wrmsr(msr, value);
}

#define ROW_ACCESS(reg)                                      \
    static uint64_t read_##reg(uint32_t unused)              \
    {                                                        \
        (void)unused;                                        \
        return asm_read_##reg();                             \
    }                                                        \
    static void write_##reg(uint32_t unused, uint64_t value) \
    {                                                        \
        (void)unused;                                        \
        asm_write_##reg(value);                              \
    }

#define ASM_SEGMENT(reg)                                            \
    static uint64_t asm_read_##reg(void)                            \
    {                                                               \
        uint64_t value = 0;                                         \
                                                                    \
        asm volatile("mov %%" #reg ", %0" : "=r"(value));           \
        return value & 0xffff;                                      \
    }                                                               \
    static void asm_write_##reg(uint64_t value)                     \
    {                                                               \
        asm volatile("mov %k0, %%" #reg : : "r"(value) : "memory"); \
    }

ASM_SEGMENT(ds)
ASM_SEGMENT(es)
ASM_SEGMENT(fs)
ASM_SEGMENT(gs)

static uint64_t asm_read_xcr0(void)
{
    uint32_t lo, hi;

    asm volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

static void asm_write_xcr0(uint64_t value)
{
    asm volatile("xsetbv" : : "c"(0), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

static uint64_t asm_read_pkru(void)
{
    uint32_t lo, hi;

    asm volatile("rdpkru" : "=a"(lo), "=d"(hi) : "c"(0));
    return lo;
}

static void asm_write_pkru(uint64_t value)
{
    asm volatile("wrpkru" : : "c"(0), "a"((uint32_t)value), "d"(0));
}

ROW_ACCESS(ds)
ROW_ACCESS(es)
ROW_ACCESS(fs)
ROW_ACCESS(gs)
ROW_ACCESS(cr0)
ROW_ACCESS(cr2)
ROW_ACCESS(cr4)
ROW_ACCESS(cr8)
ROW_ACCESS(xcr0)
ROW_ACCESS(pkru)
ROW_ACCESS(dr0)
ROW_ACCESS(dr1)
ROW_ACCESS(dr2)
ROW_ACCESS(dr3)
ROW_ACCESS(dr6)
ROW_ACCESS(dr7)

/* TSC_AUX as RDTSCP shows it: the value that matters to a guest. */
static uint64_t read_rdtscp(uint32_t msr)
{
    uint32_t aux;

    (void)msr;
    asm volatile("rdtscp" : "=c"(aux) : : "eax", "edx");
    return aux;
}

static uint64_t shape_any(uint64_t r)
{
    return r;
}

static uint64_t shape_32(uint64_t r)
{
    return (uint32_t)r;
}

static uint64_t shape_16(uint64_t r)
{
    return (uint16_t)r;
}

static uint64_t shape_canonical(uint64_t r)
{
    return (uint64_t)((int64_t)(r << 16) >> 16);
}

/* AMD keeps 32 bits of SYSENTER's addresses on some parts. */
static uint64_t shape_sysenter(uint64_t r)
{
    return pv.amd ? (uint32_t)r : shape_canonical(r);
}

static uint64_t shape_selector(uint64_t r)
{
    static const uint8_t selectors[] = {0, 0x10, 0x18, 0x1b};

    return selectors[r % ARRAY_SIZE(selectors)];
}

static uint64_t shape_cr0(uint64_t r)
{
    return boot_cr0 | (r & 1u << 18); /* AM: of effect in ring 3 only */
}

static uint64_t shape_cr4(uint64_t r)
{
    return boot_cr4 | (r & CR4_DE_TSD);
}

static uint64_t shape_cr8(uint64_t r)
{
    return r % 8;
}

static uint64_t shape_xcr0(uint64_t r)
{
    return r & 1 ? vectors_offered() : 3;
}

static uint64_t shape_pkru(uint64_t r)
{
    return (uint32_t)r & ~3u;
}

static uint64_t shape_dr6(uint64_t r)
{
    return 0xffff0ff0 | (r & 0xe00f);
}

/* No breakpoint enabled; conditions execute, write or access, lengths 1, 2 or 4. */
static uint64_t shape_dr7(uint64_t r)
{
    static const uint8_t fields[] = {0, 1, 3, 1};
    uint64_t dr7 = 0x400;

    for (uint32_t i = 0; i < 8; i++)
        dr7 |= (uint64_t)fields[r >> (2 * i) & 3] << (16 + 2 * i);
    return dr7;
}

static uint64_t shape_pat(uint64_t r)
{
    static const uint8_t types[] = {0, 1, 4, 5, 6, 7, 0, 6};
    uint64_t pat = 0x00070406;

    for (uint32_t i = 0; i < 4; i++)
        pat |= (uint64_t)types[r >> (3 * i) & 7] << (32 + 8 * i);
    return pat;
}

static uint64_t shape_efer(uint64_t r)
{
    bool nx = asm_cpuid(0x80000001, 0).edx & 1u << 20;

    return boot_efer | (r & EFER_SCE) | (nx ? r & EFER_NXE : 0);
}

static bool offers_xsave(void)
{
    return has_xsave;
}

static bool offers_pku(void)
{
    return has_pku;
}

static bool offers_rdtscp(void)
{
    return asm_cpuid(0x80000001, 0).edx & 1u << 27;
}

#define MSR(name, msr, shape)                       \
    {                                               \
        name, msr, read_msr, write_msr, shape, NULL \
    }
#define REG(reg, shape)                               \
    {                                                 \
#reg, 0, read_##reg, write_##reg, shape, NULL \
    }

static const struct row rows[] = {
    REG(ds, shape_selector),
    REG(es, shape_selector),
    REG(fs, shape_selector),
    REG(gs, shape_selector),
    MSR("fs_base", 0xc0000100, shape_canonical),
    MSR("gs_base", 0xc0000101, shape_canonical),
    MSR("kernel_gs_base", 0xc0000102, shape_canonical),
    MSR("star", 0xc0000081, shape_any),
    MSR("lstar", 0xc0000082, shape_canonical),
    MSR("cstar", 0xc0000083, shape_canonical),
    MSR("fmask", 0xc0000084, shape_32),
    MSR("efer", 0xc0000080, shape_efer),
    MSR("sysenter_cs", 0x174, shape_16),
    MSR("sysenter_esp", 0x175, shape_sysenter),
    MSR("sysenter_eip", 0x176, shape_sysenter),
    MSR("pat", 0x277, shape_pat),
    {"tsc_aux", 0xc0000103, read_msr, write_msr, shape_32, offers_rdtscp},
    {"rdtscp", 0xc0000103, read_rdtscp, write_msr, shape_32, offers_rdtscp},
    REG(cr0, shape_cr0),
    REG(cr2, shape_canonical),
    REG(cr4, shape_cr4),
    REG(cr8, shape_cr8),
    {"xcr0", 0, read_xcr0, write_xcr0, shape_xcr0, offers_xsave},
    {"pkru", 0, read_pkru, write_pkru, shape_pkru, offers_pku},
    REG(dr0, shape_canonical),
    REG(dr1, shape_canonical),
    REG(dr2, shape_canonical),
    REG(dr3, shape_canonical),
    REG(dr6, shape_dr6),
    REG(dr7, shape_dr7),
};

void sysregs_init(void)
{
    has_xsave = asm_cpuid(1, 0).ecx & 1u << 26;
    has_pku = asm_cpuid(0, 0).eax >= 7 && (asm_cpuid(7, 0).ecx & 1u << 3);
    boot_cr0 = asm_read_cr0();
    boot_cr4 = asm_read_cr4() | (has_xsave ? CR4_OSXSAVE : 0) | (has_pku ? CR4_PKE : 0);
    boot_efer = asm_rdmsr(0xc0000080);
}

/* Two rows over one register (TSC_AUX) share its pattern. */
static uint64_t row_value(const struct row *row, uint64_t key)
{
    uint64_t tag = row->msr ? row->msr : (uint64_t)(row - rows);

    return row->shape(state_hash(key ^ tag << 48));
}

void sysregs_load(uint64_t key)
{
    asm_write_cr4(boot_cr4); /* for XSETBV and WRPKRU */
    for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (!rows[i].offered || rows[i].offered())
            rows[i].write(rows[i].msr, row_value(&rows[i], key));
}

bool sysregs_check(uint64_t key, struct state_fault *fault)
{
    for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
        uint64_t value;

        if (rows[i].offered && !rows[i].offered())
            continue;
        value = rows[i].read(rows[i].msr);
        fault->should_be = row_value(&rows[i], key);
        if (value == fault->should_be)
            continue;
        rt_snprintf(fault->what, sizeof(fault->what), "%s", rows[i].name);
        fault->is = value;
        return false;
    }
    return true;
}
