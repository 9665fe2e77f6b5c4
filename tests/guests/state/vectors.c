/*
 * x87, SSE, AVX and AVX-512 registers of the `state` guest, by XSAVE areas filled with patterns.
 *
 * The areas are in the standard format (Intel SDM 1, 13.4). Not compared: the x87 instruction and
 * data pointers and opcode, which AMD saves only with an exception pending. PKRU is a system
 * register here.
 */
#include "tests/guests/state/state.h"

enum {
    AREA_BYTES = 4096,
    XSTATE_X87 = 1 << 0,
    XSTATE_SSE = 1 << 1,
    XSTATE_AVX = 1 << 2,
    XSTATE_AVX512 = 7 << 5,
    COMPONENTS = 8,

    AT_FCW = 0, /* u16 */
    AT_FSW = 2, /* u16 */
    AT_FTW = 4, /* u8, abridged */
    AT_MXCSR = 24,
    AT_ST = 32,
    ST_BYTES = 10,
    AT_XMM = 160,
    XMM_BYTES = 256,
    AT_XSTATE_BV = 512,
};

static struct {
    uint32_t at, bytes;
} components[COMPONENTS]; /* [i] of the offered ones above SSE */
static uint64_t offered;  /* [i] */

void vectors_init(void)
{
    struct cpuid_regs r;

    if (!(asm_cpuid(1, 0).ecx & 1u << 26))
        return;
    r = asm_cpuid(0xd, 0);
    offered = r.eax & (XSTATE_X87 | XSTATE_SSE | XSTATE_AVX | XSTATE_AVX512);
    if ((offered & XSTATE_AVX512) != XSTATE_AVX512)
        offered &= ~(uint64_t)XSTATE_AVX512;
    for (uint32_t i = 2; i < COMPONENTS; i++) {
        if (!(offered & BIT(i)))
            continue;
        r = asm_cpuid(0xd, i);
        components[i].at = r.ebx;
        components[i].bytes = r.eax;
        if (r.ebx + r.eax > AREA_BYTES)
            rt_fail("an XSAVE component lies beyond 4 KiB");
    }
}

uint64_t vectors_offered(void)
{
    return offered;
}

bool vectors_alloc(struct vectors *v)
{
    v->load = mem_alloc(AREA_BYTES, PAGE_BYTES);
    v->stored = mem_alloc(AREA_BYTES, PAGE_BYTES);
    return v->load && v->stored;
}

static void fill(uint8_t *at, uint32_t bytes, uint64_t key)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(state_hash(key + i / 8) >> (i % 8 * 8));
}

static void put16(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, 2);
}

void vectors_load(struct vectors *v, uint64_t key)
{
    uint32_t mxcsr = 0x1f80 | (state_hash(key ^ 1) & 0x603f); /* all masked; rounding, flags */
    uint32_t lo, hi;

    memset(v->load, 0, AREA_BYTES);
    put16(v->load + AT_FCW, 0x037f | (state_hash(key ^ 2) & 0x0c00));
    put16(v->load + AT_FSW, state_hash(key ^ 3) & 0x7f00); /* top and condition codes */
    v->load[AT_FTW] = 0xff;
    memcpy(v->load + AT_MXCSR, &mxcsr, sizeof(mxcsr));
    for (uint32_t i = 0; i < 8; i++)
        fill(v->load + AT_ST + 16 * i, ST_BYTES, key + 0x100 * i);
    fill(v->load + AT_XMM, XMM_BYTES, key + 0x1000);
    if (!offered) {
        v->mask = 0;
        asm volatile("fxrstor64 (%0)" : : "r"(v->load) : "memory");
        return;
    }
    asm volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    v->mask = lo & offered;
    memcpy(v->load + AT_XSTATE_BV, &v->mask, sizeof(v->mask));
    for (uint32_t i = 2; i < COMPONENTS; i++)
        if (v->mask & BIT(i))
            fill(v->load + components[i].at, components[i].bytes, key + 0x10000 * i);
    asm volatile("xrstor64 (%0)" : : "r"(v->load), "a"((uint32_t)v->mask), "d"(0) : "memory");
}

/* Compares `bytes` at `at` by words of 8; names the register `name` with its number `index`. */
static bool same(const struct vectors *v, uint32_t at, uint32_t bytes, const char *name,
                 uint32_t index, struct state_fault *fault)
{
    for (uint32_t i = 0; i < bytes; i += 8) {
        uint32_t n = MIN(bytes - i, 8u);

        fault->is = fault->should_be = 0;
        memcpy(&fault->is, v->stored + at + i, n);
        memcpy(&fault->should_be, v->load + at + i, n);
        if (fault->is == fault->should_be)
            continue;
        rt_snprintf(fault->what, sizeof(fault->what), "%s%u byte %u", name, index, i);
        return false;
    }
    return true;
}

static bool legacy_same(const struct vectors *v, struct state_fault *fault)
{
    for (uint32_t i = 0; i < 8; i++)
        if (!same(v, AT_ST + 16 * i, ST_BYTES, "st", i, fault))
            return false;
    return same(v, AT_FCW, 2, "fcw", 0, fault) && same(v, AT_FSW, 2, "fsw", 0, fault) &&
           same(v, AT_FTW, 1, "ftw", 0, fault) && same(v, AT_MXCSR, 4, "mxcsr", 0, fault) &&
           same(v, AT_XMM, XMM_BYTES, "xmm", 0, fault);
}

bool vectors_check(struct vectors *v, struct state_fault *fault)
{
    memset(v->stored, 0, AREA_BYTES);
    if (!v->mask) {
        asm volatile("fxsave64 (%0)" : : "r"(v->stored) : "memory");
        return legacy_same(v, fault);
    }
    asm volatile("xsave64 (%0)" : : "r"(v->stored), "a"((uint32_t)v->mask), "d"(0) : "memory");
    if (!legacy_same(v, fault) || !same(v, AT_XSTATE_BV, 8, "xstate_bv", 0, fault))
        return false;
    for (uint32_t i = 2; i < COMPONENTS; i++)
        if (v->mask & BIT(i) && !same(v, components[i].at, components[i].bytes, "xcomp", i, fault))
            return false;
    return true;
}
