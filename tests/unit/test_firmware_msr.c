/*
 * What firmware left in the MSRs: switches, the APIC's mode, memory types, TSC_ADJUST. The fake CPU
 * has the MSRs it is given; a locked one, or one that is not there, refuses.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "arch/x86/firmware_msr.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/regs/svm.h"

#define MSRS 64

static struct {
    uint32_t n;
    uint32_t msr[MSRS];
    uint64_t value[MSRS];
    bool read_only, forgetful;
    char log[128]; /* writes */
} fake;

static int slot_of(uint32_t msr)
{
    for (uint32_t i = 0; i < fake.n; i++)
        if (fake.msr[i] == msr)
            return (int)i;
    return -1;
}

static void give(uint32_t msr, uint64_t value)
{
    int slot = slot_of(msr);

    if (slot < 0)
        slot = (int)fake.n++;
    assert_true(slot < MSRS);
    fake.msr[slot] = msr;
    fake.value[slot] = value;
}

static int fake_read(uint32_t msr, uint64_t *value)
{
    int slot = slot_of(msr);

    *value = slot < 0 ? 0 : fake.value[slot];
    return slot < 0 ? -EFAULT : 0;
}

static int fake_write(uint32_t msr, uint64_t value)
{
    size_t used = strlen(fake.log);
    int slot = slot_of(msr);

    snprintf(fake.log + used, sizeof(fake.log) - used, "%x=%lx ", msr, value);
    if (slot < 0 || fake.read_only)
        return -EFAULT;
    if (msr == MSR_APIC_BASE) { /* SDM 3A figure 10-27: off to x2APIC, and back to xAPIC, fault */
        uint64_t old = fake.value[slot];

        if ((value & APIC_BASE_X2APIC) && !(old & APIC_BASE_ENABLE))
            return -EFAULT;
        if ((old & APIC_BASE_X2APIC) && !(value & APIC_BASE_X2APIC))
            return -EFAULT;
    }
    if (!fake.forgetful)
        fake.value[slot] = value;
    return 0;
}

static const struct msr_ops ops = {fake_read, fake_write};

static void begin(void)
{
    memset(&fake, 0, sizeof(fake));
}

static void test_vmx(void **state)
{
    static const struct {
        const char *name;
        bool present;
        uint64_t value;
        bool read_only, forgetful;
        const char *why; /* part of it; NULL: allowed */
        const char *log;
    } rows[] = {
        {"locked on", true, 5, false, false, NULL, ""},
        {"locked on, TXT too", true, 7, false, false, NULL, ""},
        {"unlocked: switched on and locked", true, 0, false, false, NULL, "3a=5 "},
        {"unlocked, SENTER bits kept", true, 0xff00, false, false, NULL, "3a=ff05 "},
        {"locked off", true, 1, false, false, "enable Intel Virtualization Technology", ""},
        {"under TXT only", true, 3, false, false, "turn TXT off", ""},
        {"not there", false, 0, false, false, "cannot be read", ""},
        {"refuses", true, 0, true, false, "cannot be written", "3a=5 "},
        {"forgets", true, 0, false, true, "does not keep", "3a=5 "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *why = NULL;
        int err;

        begin();
        if (rows[i].present)
            give(MSR_FEATURE_CONTROL, rows[i].value);
        fake.read_only = rows[i].read_only;
        fake.forgetful = rows[i].forgetful;
        err = firmware_allows_vmx(&ops, &why);
        if (err != (rows[i].why ? -ENODEV : 0) || (rows[i].why && !strstr(why, rows[i].why)) ||
            strcmp(fake.log, rows[i].log) != 0)
            fail_msg("%s: %d, %s, wrote %s", rows[i].name, err, why ? why : "-", fake.log);
    }
}

static void test_svm(void **state)
{
    const char *why = NULL;

    (void)state;
    begin();
    assert_int_equal(firmware_allows_svm(&ops, &why), 0); /* no such MSR, no switch */
    give(MSR_VM_CR, 0);
    assert_int_equal(firmware_allows_svm(&ops, &why), 0);
    give(MSR_VM_CR, VM_CR_LOCK); /* locked, but on */
    assert_int_equal(firmware_allows_svm(&ops, &why), 0);
    give(MSR_VM_CR, VM_CR_LOCK | VM_CR_SVMDIS);
    assert_int_equal(firmware_allows_svm(&ops, &why), -ENODEV);
    assert_non_null(strstr(why, "locked off by firmware; enable SVM Mode"));
    give(MSR_VM_CR, VM_CR_SVMDIS);
    assert_int_equal(firmware_allows_svm(&ops, &why), -ENODEV);
    assert_non_null(strstr(why, "switched off"));
    assert_string_equal(fake.log, "");
}

static void test_apic_mode(void **state)
{
    static const struct {
        const char *name;
        bool offered;  /* by the boot CPU */
        uint64_t boot; /* IA32_APIC_BASE there */
        uint64_t cpu;  /* and on the CPU that follows it */
        int err;
        bool x2apic;
        const char *log;
    } rows[] = {
        {"xAPIC only", false, 0x900, 0xfee00800, 0, false, ""},
        {"xAPIC only, off", false, 0x900, 0xfee00000, 0, false, "1b=fee00800 "},
        {"x2APIC offered", true, 0x900, 0xfee00800, 0, true, "1b=fee00c00 "},
        {"x2APIC offered, off", true, 0x900, 0xfee00000, 0, true, "1b=fee00800 1b=fee00c00 "},
        {"x2APIC on, maybe locked: not touched", true, 0xd00, 0xfee00c00, 0, true, ""},
        {"x2APIC on, though not offered", false, 0xd00, 0xfee00c00, 0, true, ""},
        {"boot CPU on, this one not yet", true, 0xd00, 0xfee00800, 0, true, "1b=fee00c00 "},
        {"this one on, boot CPU without", false, 0x900, 0xfee00c00, -EIO, false, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        bool x2apic = firmware_wants_x2apic(rows[i].offered, rows[i].boot);

        begin();
        give(MSR_APIC_BASE, rows[i].cpu);
        if (x2apic != rows[i].x2apic || firmware_set_apic_mode(&ops, x2apic) != rows[i].err ||
            strcmp(fake.log, rows[i].log) != 0)
            fail_msg("%s: wrote %s", rows[i].name, fake.log);
    }
    begin(); /* a CPU without the MSR */
    assert_int_equal(firmware_set_apic_mode(&ops, false), -EIO);
    give(MSR_APIC_BASE, 0xfee00000);
    fake.read_only = true;
    assert_int_equal(firmware_set_apic_mode(&ops, true), -EIO);
}

static void give_mtrrs(void)
{
    begin();
    give(0xfe, 0x508); /* 8 pairs, fixed ones, WC */
    give(0x2ff, 0xc06);
    give(0x250, 0x0606060606060606);
    for (uint32_t msr = 0x268; msr <= 0x26f; msr++)
        give(msr, 0x0505050505050505);
    for (uint32_t pair = 0; pair < 8; pair++) {
        give(0x200 + 2 * pair, pair << 28);
        give(0x201 + 2 * pair, pair < 3 ? 0x7ff0000800 : 0);
    }
}

static void test_mtrrs(void **state)
{
    static const struct {
        const char *name;
        uint32_t msr;
        uint64_t value;
        uint32_t differences;
    } rows[] = {
        {"the same", 0x2ff, 0xc06, 0},
        {"default type", 0x2ff, 0xc00, MTRR_DIFFERS_DEFAULT},
        {"switched off", 0x2ff, 0x006, MTRR_DIFFERS_DEFAULT},
        {"a fixed range", 0x26f, 0, MTRR_DIFFERS_FIXED},
        {"the first fixed range", 0x250, 0, MTRR_DIFFERS_FIXED},
        {"a base", 0x202, 0x10000006, MTRR_DIFFERS_VARIABLE},
        {"a mask", 0x205, 0x7fe0000800, MTRR_DIFFERS_VARIABLE},
        {"one switched off", 0x205, 0, MTRR_DIFFERS_VARIABLE},
        {"the base of one not in use", 0x206, 0x123456000, 0},
        {"the mask of one not in use", 0x207, 0x7000000000, 0},
        {"fewer pairs", 0xfe, 0x502, MTRR_DIFFERS_DEFAULT | MTRR_DIFFERS_VARIABLE},
        {"more than are looked at", 0xfe, 0x5ff, MTRR_DIFFERS_DEFAULT},
    };
    struct mtrr_state boot, other;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        give_mtrrs();
        mtrr_capture(&ops, &boot);
        give(rows[i].msr, rows[i].value);
        mtrr_capture(&ops, &other);
        if (mtrr_compare(&other, &boot) != rows[i].differences)
            fail_msg("%s: %x", rows[i].name, mtrr_compare(&other, &boot));
        assert_string_equal(fake.log, "");
    }
    begin(); /* none at all, on both */
    mtrr_capture(&ops, &boot);
    mtrr_capture(&ops, &other);
    assert_int_equal(mtrr_compare(&other, &boot), 0);
}

static void test_tsc_adjust(void **state)
{
    (void)state;
    assert_int_equal(tsc_adjust_wanted(true, true, 0, 0), 0);
    assert_int_equal(tsc_adjust_wanted(true, true, 1234, 0), 0);   /* the boot CPU */
    assert_int_equal(tsc_adjust_wanted(true, false, -1234, 0), 0); /* its neighbour */
    assert_int_equal(tsc_adjust_wanted(false, true, 0, 0), 0);
    assert_int_equal(tsc_adjust_wanted(false, true, 500, 0), 500); /* a socket started later */
    assert_int_equal(tsc_adjust_wanted(false, true, -500, 0), 0);
    assert_int_equal(tsc_adjust_wanted(false, false, 500, 500), 500);
    assert_int_equal(tsc_adjust_wanted(false, false, 0, 500), 500);
    assert_int_equal(tsc_adjust_wanted(false, false, 7, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vmx),        cmocka_unit_test(test_svm),
        cmocka_unit_test(test_apic_mode),  cmocka_unit_test(test_mtrrs),
        cmocka_unit_test(test_tsc_adjust),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
