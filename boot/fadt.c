/*
 * FADT: the PM timer, the reset register and what switches the machine off.
 *
 * Decides which of two descriptions of a register counts: the 64-bit X_ field where the table has
 * it and it names memory or I/O space, else the 32-bit port. Reads no register. Invariant: a field
 * is read only where the table's length holds it; tables of revision 1 end at offset 116. Source:
 * ACPI 6.4 sections 5.2.9 (FADT) and 5.2.3.2 (generic address structure).
 */
#include "boot/fadt.h"

#include "boot/acpi.h"
#include "boot/bytes.h"

enum {
    FADT_REVISION = 8,
    FADT_DSDT = 40,
    FADT_SMI_COMMAND = 48,
    FADT_ACPI_ENABLE = 52,
    FADT_PM1A_EVENT = 56,
    FADT_PM1B_EVENT = 60,
    FADT_PM1A_CONTROL = 64,
    FADT_PM1B_CONTROL = 68,
    FADT_PM_TIMER = 76,
    FADT_FLAGS = 112,
    FADT_BYTES_REV1 = 116,
    FADT_RESET = 116,
    FADT_RESET_VALUE = 128,
    FADT_X_DSDT = 140,
    FADT_X_PM1A_EVENT = 148,
    FADT_X_PM1B_EVENT = 160,
    FADT_X_PM1A_CONTROL = 172,
    FADT_X_PM1B_CONTROL = 184,
    FADT_X_PM_TIMER = 208,
    FADT_SLEEP_CONTROL = 244,
    FADT_SLEEP_STATUS = 256,
};

#define FLAG_TIMER_32BIT      BIT(8)
#define FLAG_RESET_SUPPORTED  BIT(10)
#define FLAG_HARDWARE_REDUCED BIT(20)

struct fadt_bytes {
    const uint8_t *p;
    size_t length;
};

static uint64_t field(const struct fadt_bytes *t, size_t at, size_t bytes)
{
    if (at + bytes > t->length)
        return 0;
    return bytes == 8 ? read_le64(t->p + at) : bytes == 4 ? read_le32(t->p + at) : t->p[at];
}

static struct acpi_register read_gas(const struct fadt_bytes *t, size_t at)
{
    struct acpi_register r = {
        .space = (uint32_t)field(t, at + GAS_SPACE, 1),
        .addr = field(t, at + GAS_ADDRESS, 8),
    };

    if (at + GAS_BYTES > t->length)
        return (struct acpi_register){0};
    return r;
}

static struct acpi_register read_register(const struct fadt_bytes *t, size_t x_at, size_t port_at)
{
    struct acpi_register r = read_gas(t, x_at);

    if (!r.addr || r.space > ACPI_SPACE_IO)
        r = (struct acpi_register){.space = ACPI_SPACE_IO, .addr = field(t, port_at, 4)};
    return r;
}

/* The registers at fixed ports, which a hardware-reduced machine does not have. */
static void read_fixed(const struct fadt_bytes *t, struct fadt_info *info)
{
    info->pm_timer = read_register(t, FADT_X_PM_TIMER, FADT_PM_TIMER);
    info->pm1_event[0] = read_register(t, FADT_X_PM1A_EVENT, FADT_PM1A_EVENT);
    info->pm1_event[1] = read_register(t, FADT_X_PM1B_EVENT, FADT_PM1B_EVENT);
    info->pm1_control[0] = read_register(t, FADT_X_PM1A_CONTROL, FADT_PM1A_CONTROL);
    info->pm1_control[1] = read_register(t, FADT_X_PM1B_CONTROL, FADT_PM1B_CONTROL);
    info->smi_command = (uint16_t)field(t, FADT_SMI_COMMAND, 4);
    info->acpi_enable = (uint8_t)field(t, FADT_ACPI_ENABLE, 1);
}

static struct acpi_register read_sleep_register(const struct fadt_bytes *t, size_t at)
{
    struct acpi_register r = read_gas(t, at);

    return r.space > ACPI_SPACE_IO ? (struct acpi_register){0} : r;
}

int fadt_parse(const void *data, size_t bytes, struct fadt_info *info, struct fw_warnings *w,
               size_t *fault)
{
    struct fadt_bytes t = {.p = data};
    uint32_t flags;
    int err;

    *info = (struct fadt_info){0};
    err = acpi_header_check(data, bytes, ACPI_SIG_FADT, FADT_BYTES_REV1, &t.length, w, fault);
    if (err)
        return err;
    flags = (uint32_t)field(&t, FADT_FLAGS, 4);
    info->pm_timer_32bit = flags & FLAG_TIMER_32BIT;
    info->hardware_reduced = flags & FLAG_HARDWARE_REDUCED;
    info->dsdt = field(&t, FADT_X_DSDT, 8);
    if (!info->dsdt)
        info->dsdt = field(&t, FADT_DSDT, 4);
    if (info->hardware_reduced) {
        info->sleep_control = read_sleep_register(&t, FADT_SLEEP_CONTROL);
        info->sleep_status = read_sleep_register(&t, FADT_SLEEP_STATUS);
    } else {
        read_fixed(&t, info);
    }
    if ((flags & FLAG_RESET_SUPPORTED) && t.p[FADT_REVISION] >= 2) {
        info->reset = read_gas(&t, FADT_RESET);
        info->reset_value = (uint8_t)field(&t, FADT_RESET_VALUE, 1);
    }
    return 0;
}
