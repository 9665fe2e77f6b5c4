/*
 * DBG2: the ports that firmware sets aside for debuggers.
 *
 * Decides which of them a console can use: serial ports of the 16550's kind, by their first
 * address. All others are named in a warning. The table tells no rate: a port in I/O space gets a
 * PC's usual one, for one in memory, whose clock is not known, the firmware's is left alone. All
 * are polled. Every entry is bounded by its own length and the table's; an impossible length ends
 * the walk. Source: Microsoft, Debug Port Table 2 (DBG2).
 */
#include "boot/dbg2.h"

#include <errno.h>

#include "boot/acpi.h"
#include "boot/bytes.h"
#include "boot/serial_gas.h"
#include "boot/serial_option.h"
#include "boot/warn.h"

enum {
    DBG2_OFFSET = 36,
    DBG2_COUNT = 40,
    DBG2_LEAST = 44,
    /* in an entry */
    ENTRY_LENGTH = 1,
    ENTRY_ADDRESSES = 3,
    ENTRY_TYPE = 12,
    ENTRY_SUBTYPE = 14,
    ENTRY_GAS_OFFSET = 18,
    ENTRY_LEAST = 22,
};

#define TYPE_SERIAL 0x8000u

static void read_entry(const uint8_t *entry, size_t length, size_t at, struct dbg2_info *info,
                       struct fw_warnings *w)
{
    struct serial_config port = serial_com1();
    uint32_t type = read_le16(entry + ENTRY_TYPE), subtype = read_le16(entry + ENTRY_SUBTYPE);
    size_t gas = read_le16(entry + ENTRY_GAS_OFFSET);

    if (type != TYPE_SERIAL || !serial_subtype_known(subtype)) {
        boot_warn(w, "DBG2: port of type 0x%x, subtype 0x%x is none that Numen drives; ignored",
                  type, subtype);
        return;
    }
    if (!entry[ENTRY_ADDRESSES] || gas < ENTRY_LEAST || gas + GAS_BYTES > length ||
        serial_gas_read(entry + gas, subtype, &port)) {
        boot_warn(w, "DBG2: the port at offset %zu has no usable address; ignored", at);
        return;
    }
    if (info->count == DBG2_PORTS_MAX)
        return;
    port.irq = 0;
    if (port.space == SERIAL_MMIO)
        port.clock_hz = port.baud = 0;
    info->ports[info->count++] = port;
}

int dbg2_parse(const void *data, size_t bytes, struct dbg2_info *info, struct fw_warnings *w,
               size_t *fault)
{
    const uint8_t *p = data;
    size_t length, at, entry_bytes;
    uint32_t count;
    int err;

    *info = (struct dbg2_info){0};
    err = acpi_header_check(data, bytes, ACPI_SIG_DBG2, DBG2_LEAST, &length, w, fault);
    if (err)
        return err;
    at = read_le32(p + DBG2_OFFSET);
    count = read_le32(p + DBG2_COUNT);
    if (at < DBG2_LEAST || at > length) {
        *fault = DBG2_OFFSET;
        boot_warn(w, "DBG2: entries from offset %zu of %zu bytes; table ignored", at, length);
        return -EINVAL;
    }
    for (uint32_t i = 0; i < count; i++, at += entry_bytes) {
        entry_bytes = length - at >= ENTRY_LEAST ? read_le16(p + at + ENTRY_LENGTH) : 0;
        if (entry_bytes < ENTRY_LEAST || entry_bytes > length - at) {
            boot_warn(w, "DBG2: entry %u of length %zu at offset %zu ends the table", i,
                      entry_bytes, at);
            break;
        }
        read_entry(p + at, entry_bytes, at, info, w);
    }
    return 0;
}
