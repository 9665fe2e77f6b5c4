/*
 * Off and reset on a fake machine: what is written, in which order, and that every wait ends.
 */
#include "fixture_acpi.h"

#include "arch/x86/way_out.h"

#define PM1A    0x604u
#define PM1B    0x704u
#define STATUS  0x600u
#define SMI     0xb2u
#define CONTROL 0xfed80000u

/* The machine: its last values, and everything done to it, as text. */
static struct {
    uint32_t pm1a;
    uint32_t sci_after_ms; /* of the command that turns ACPI mode on */
    bool smi_sent, keyboard_full;
    ns_t now, smi_at;
    char log[1024];
} fake;

static void log_add(const char *fmt, ...)
{
    size_t used = strlen(fake.log);
    va_list args;

    va_start(args, fmt);
    vsnprintf(fake.log + used, sizeof(fake.log) - used, fmt, args);
    va_end(args);
}

static uint32_t fake_read(const struct acpi_register *r, uint32_t bytes)
{
    if (r->addr == 0x64)
        return fake.keyboard_full ? 0xff : 0x1c;
    assert_int_equal(bytes, 2);
    if (r->addr == PM1A && fake.smi_sent && fake.now - fake.smi_at >= fake.sci_after_ms * NS_PER_MS)
        fake.pm1a |= 1;
    return r->addr == PM1A ? fake.pm1a : 0;
}

static void fake_write(const struct acpi_register *r, uint32_t bytes, uint32_t value)
{
    log_add("%c%lx.%u=%x ", r->space == ACPI_SPACE_IO ? 'p' : 'm', r->addr, bytes, value);
    if (r->addr == PM1A)
        fake.pm1a = value;
    if (r->addr == SMI) {
        fake.smi_sent = true;
        fake.smi_at = fake.now;
    }
}

static void fake_delay(ns_t ns)
{
    fake.now += ns;
}

static void fake_triple_fault(void)
{
    log_add("triple ");
}

static const struct way_out_ops ops = {fake_read, fake_write, fake_delay, fake_triple_fault};

static const struct acpi_s5 type5 = {.known = true, .typ_a = 5, .typ_b = 7};

static void off(const struct fadt_info *fadt, const struct acpi_s5 *s5, uint32_t pm1a,
                uint32_t sci_after_ms, const char *wanted)
{
    memset(&fake, 0, sizeof(fake));
    fake.pm1a = pm1a;
    fake.sci_after_ms = sci_after_ms;
    way_out_off(&ops, fadt, s5);
    assert_string_equal(fake.log, wanted);
    assert_true(fake.now <= 5 * NS_PER_SEC);
}

static void test_off(void **state)
{
    static const struct acpi_s5 unknown = {.known = false}, type0 = {.known = true};
    struct fadt_info fadt = {
        .pm1_control = {{PM1A, ACPI_SPACE_IO}, {0, 0}}, .smi_command = SMI, .acpi_enable = 0xa0};

    (void)state;
    off(NULL, &type5, 0, 0, "");
    off(&fadt, &unknown, 0, 0, "");
    /* In ACPI mode already: type first, then the same with the enable bit; other bits stay. */
    off(&fadt, &type5, 0x0201, 0, "p604.2=1601 p604.2=3601 ");
    off(&fadt, &type0, 0x1c01, 0, "p604.2=1 p604.2=2001 ");
    /* Not yet: at once, after a while, never. */
    off(&fadt, &type5, 0, 0, "pb2.1=a0 p604.2=1401 p604.2=3401 ");
    off(&fadt, &type5, 0, 900, "pb2.1=a0 p604.2=1401 p604.2=3401 ");
    assert_true(fake.now >= 900 * NS_PER_MS);
    off(&fadt, &type5, 0, 100000, "pb2.1=a0 p604.2=1400 p604.2=3400 ");
    assert_true(fake.now >= 3 * NS_PER_SEC);
    /* Always in that mode, by a FADT without a command, though the bit does not say so. */
    fadt.smi_command = 0;
    off(&fadt, &type5, 0, 0, "p604.2=1400 p604.2=3400 ");
    fadt.smi_command = SMI;
    fadt.acpi_enable = 0;
    off(&fadt, &type5, 0, 0, "p604.2=1400 p604.2=3400 ");
    /* Two blocks, and the wake status cleared. */
    fadt.pm1_control[1] = (struct acpi_register){PM1B, ACPI_SPACE_IO};
    fadt.pm1_event[0] = (struct acpi_register){STATUS, ACPI_SPACE_IO};
    off(&fadt, &type5, 1, 0, "p600.2=8000 p604.2=1401 p704.2=1c00 p604.2=3401 p704.2=3c00 ");
    fadt.pm1_control[0].addr = 0;
    off(&fadt, &type5, 1, 0, "");
}

static void test_off_hardware_reduced(void **state)
{
    struct fadt_info fadt = {.hardware_reduced = true,
                             .sleep_control = {CONTROL, ACPI_SPACE_MEMORY},
                             .sleep_status = {CONTROL + 1, ACPI_SPACE_MEMORY},
                             .smi_command = SMI,
                             .acpi_enable = 1};

    (void)state;
    off(&fadt, &type5, 0, 0, "mfed80001.1=80 mfed80000.1=34 ");
    fadt.sleep_status.addr = 0;
    off(&fadt, &type5, 0, 0, "mfed80000.1=34 ");
    fadt.sleep_control.addr = 0;
    off(&fadt, &type5, 0, 0, "");
}

static void test_reset(void **state)
{
    struct fadt_info fadt = {.reset = {0xcf9, ACPI_SPACE_IO}, .reset_value = 0x0e};

    (void)state;
    memset(&fake, 0, sizeof(fake));
    way_out_reset(&ops, &fadt);
    assert_string_equal(fake.log, "pcf9.1=e p64.1=fe pcf9.1=e p64.1=fe pcf9.1=2 pcf9.1=6 triple ");

    fadt.reset.addr = 0;
    memset(&fake, 0, sizeof(fake));
    fake.keyboard_full = true; /* no controller: it reads as full for ever */
    way_out_reset(&ops, &fadt);
    assert_string_equal(fake.log, "p64.1=fe p64.1=fe pcf9.1=2 pcf9.1=6 triple ");
    assert_true(fake.now <= NS_PER_SEC);

    memset(&fake, 0, sizeof(fake));
    way_out_reset(&ops, NULL);
    assert_string_equal(fake.log, "p64.1=fe p64.1=fe pcf9.1=2 pcf9.1=6 triple ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_off),
                                       cmocka_unit_test(test_off_hardware_reduced),
                                       cmocka_unit_test(test_reset)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
