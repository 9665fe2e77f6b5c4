/* Which serial ports the console uses. See serial_choice.c. */
#ifndef BOOT_SERIAL_CHOICE_H
#define BOOT_SERIAL_CHOICE_H

#include "boot/dbg2.h"
#include "boot/serial_option.h"
#include "boot/spcr.h"

#define SERIAL_BDA       0x400u /* four I/O ports of 16 bits */
#define SERIAL_BDA_PORTS 4u

enum serial_source {
    SERIAL_BY_OPTION,
    SERIAL_BY_BDA,
    SERIAL_BY_SPCR,
    SERIAL_BY_DBG2,
    SERIAL_BY_DEFAULT,
    SERIAL_SOURCES
};

/* What is known of ports. Tables not read (yet): zeroed. */
struct serial_facts {
    struct serial_option option; /* com1=; has_* false where it says nothing */
    uint16_t bda[SERIAL_BDA_PORTS];
    struct spcr_info spcr;
    struct dbg2_info dbg2;
};

/* The machine, or a fake one. */
struct serial_ops {
    /* Make I/O or memory of a PCI function. 0; -ENODEV; -EAGAIN: not reachable before later. */
    int (*resolve)(void *ctx, struct serial_config *config);
    /* Take the port as number `slot`; *config gets the stride that answered. 0 or -ENODEV. */
    int (*open)(void *ctx, uint32_t slot, struct serial_config *config);
    /* Other line settings for an open port. */
    void (*retune)(void *ctx, uint32_t slot, const struct serial_config *config);
    void *ctx;
};

struct serial_candidate {
    struct serial_config config;
    uint32_t source; /* enum serial_source */
};

#define SERIAL_ABSENT_MAX 8u

struct serial_set {
    uint32_t count;
    struct serial_candidate ports[SERIAL_PORTS]; /* by slot */
    uint32_t fresh;                              /* slots opened or retuned by the last call */
    bool waits;                                  /* com1='s port is not reachable yet */
    uint32_t nabsent;
    struct serial_candidate absent[SERIAL_ABSENT_MAX]; /* tried, and nobody answered */
};

/* Before page tables and ACPI: I/O ports only, by com1= and the BIOS data area. */
void serial_choose_early(struct serial_set *set, const struct serial_facts *facts,
                         const struct serial_ops *ops);

/* When memory can be mapped and the tables are read: the rest. */
void serial_choose_late(struct serial_set *set, const struct serial_facts *facts,
                        const struct serial_ops *ops);

#endif
