/*
 * Off and reset, step by step.
 *
 * Decides the order, what is written where, and how long each step may take. Reset: the FADT's
 * register, the keyboard controller, both once more, chipset register CF9, a triple fault; UEFI's
 * ResetSystem is left alone (often broken). Off: ACPI mode first where the machine is not in it
 * (before that the chipset ignores the sleep registers), then SLP_TYP, then the same with SLP_EN. A
 * hardware-reduced machine has other registers and no mode. Does not decide who else must stop
 * before. Invariants: every wait ends; whatever fails, the next step is tried. Source: ACPI 6.4
 * 4.8.3.2 (PM1), 4.8.3.6 (reset), 4.8.3.7 (sleep control), 16.3 (S5); Intel ICH data sheets (CF9).
 */
#include "arch/x86/way_out.h"

#define KBD_STATUS_FULL   0x02u
#define KBD_RESET         0xfeu
#define KBD_POLL_NS       (10 * NS_PER_US)
#define KBD_POLLS         1000u
#define CF9_SYSTEM        0x02u
#define CF9_SYSTEM_RESET  0x06u
#define RESET_WAIT_NS     (50 * NS_PER_MS)

#define PM1_CONTROL_SCI   BIT(0) /* the machine is in ACPI mode */
#define PM1_SLP_TYP       BITS(12, 10)
#define PM1_SLP_EN        BIT(13)
#define PM1_WAKE_STATUS   BIT(15) /* written to clear: left set, it would wake at once */
#define SLEEP_TYP         BITS(4, 2)
#define SLEEP_EN          BIT(5)
#define SLEEP_WAKE_STATUS BIT(7)
#define MODE_POLL_NS      NS_PER_MS
#define MODE_POLLS        3000u
#define OFF_WAIT_NS       NS_PER_SEC

static const struct acpi_register keyboard = {0x64, ACPI_SPACE_IO};
static const struct acpi_register cf9 = {0xcf9, ACPI_SPACE_IO};

static void reset_by_keyboard(const struct way_out_ops *ops)
{
    /* A controller that is not there reads as full for ever. */
    for (uint32_t i = 0; i < KBD_POLLS && (ops->read(&keyboard, 1) & KBD_STATUS_FULL); i++)
        ops->delay(KBD_POLL_NS);
    ops->write(&keyboard, 1, KBD_RESET);
}

void way_out_reset(const struct way_out_ops *ops, const struct fadt_info *fadt)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (fadt && fadt->reset.addr) {
            ops->write(&fadt->reset, 1, fadt->reset_value);
            ops->delay(RESET_WAIT_NS);
        }
        reset_by_keyboard(ops);
        ops->delay(RESET_WAIT_NS);
    }
    ops->write(&cf9, 1, CF9_SYSTEM);
    ops->write(&cf9, 1, CF9_SYSTEM_RESET);
    ops->delay(RESET_WAIT_NS);
    ops->triple_fault();
}

/* Also tried in vain: some machines are in ACPI mode for good and keep SCI_EN to themselves. */
static void enter_acpi_mode(const struct way_out_ops *ops, const struct fadt_info *fadt)
{
    const struct acpi_register *control = &fadt->pm1_control[0];
    const struct acpi_register smi = {fadt->smi_command, ACPI_SPACE_IO};

    if ((ops->read(control, 2) & PM1_CONTROL_SCI) || !fadt->smi_command || !fadt->acpi_enable)
        return;
    ops->write(&smi, 1, fadt->acpi_enable);
    for (uint32_t i = 0; i < MODE_POLLS && !(ops->read(control, 2) & PM1_CONTROL_SCI); i++)
        ops->delay(MODE_POLL_NS);
}

static void off_by_sleep_control(const struct way_out_ops *ops, const struct fadt_info *fadt,
                                 const struct acpi_s5 *s5)
{
    if (fadt->sleep_status.addr)
        ops->write(&fadt->sleep_status, 1, SLEEP_WAKE_STATUS);
    ops->write(&fadt->sleep_control, 1, (uint32_t)(FIELD_PREP(SLEEP_TYP, s5->typ_a) | SLEEP_EN));
}

static void off_by_pm1(const struct way_out_ops *ops, const struct fadt_info *fadt,
                       const struct acpi_s5 *s5)
{
    const uint8_t types[2] = {s5->typ_a, s5->typ_b};
    uint32_t values[2] = {0, 0};

    enter_acpi_mode(ops, fadt);
    for (uint32_t block = 0; block < 2; block++) {
        const struct acpi_register *control = &fadt->pm1_control[block];

        if (fadt->pm1_event[block].addr)
            ops->write(&fadt->pm1_event[block], 2, PM1_WAKE_STATUS);
        if (!control->addr)
            continue;
        values[block] = ops->read(control, 2) & ~(uint32_t)(PM1_SLP_TYP | PM1_SLP_EN);
        values[block] |= (uint32_t)FIELD_PREP(PM1_SLP_TYP, types[block]);
        ops->write(control, 2, values[block]);
    }
    for (uint32_t block = 0; block < 2; block++) {
        if (fadt->pm1_control[block].addr)
            ops->write(&fadt->pm1_control[block], 2, values[block] | (uint32_t)PM1_SLP_EN);
    }
}

void way_out_off(const struct way_out_ops *ops, const struct fadt_info *fadt,
                 const struct acpi_s5 *s5)
{
    if (!fadt || !s5->known)
        return;
    if (fadt->hardware_reduced ? !fadt->sleep_control.addr : !fadt->pm1_control[0].addr)
        return;
    if (fadt->hardware_reduced)
        off_by_sleep_control(ops, fadt, s5);
    else
        off_by_pm1(ops, fadt, s5);
    ops->delay(OFF_WAIT_NS);
}
