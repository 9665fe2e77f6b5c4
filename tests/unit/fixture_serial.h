/* Builders of SPCR and DBG2, on top of fixture_acpi.h. */
#ifndef TESTS_UNIT_FIXTURE_SERIAL_H
#define TESTS_UNIT_FIXTURE_SERIAL_H

#include "fixture_acpi.h"

/* A generic address structure. */
struct gas {
    uint8_t space, bits, access;
    uint64_t address;
};

static inline void put_gas(struct table *t, struct gas g)
{
    put(t, g.space, 1);
    put(t, g.bits, 1);
    put(t, 0, 1);
    put(t, g.access, 1);
    put(t, g.address, 8);
}

struct spcr_fields {
    uint8_t revision, kind;
    struct gas gas;
    uint8_t interrupt_type, irq, baud;
    uint32_t pci_id; /* 0: written as none */
    uint8_t bus, device, function, segment;
    uint32_t clock, precise_baud;
    size_t bytes; /* of the table; 0: 80, or 90 from revision 4 */
};

static inline void spcr_build(struct table *t, const struct spcr_fields *f)
{
    table_begin(t, "SPCR", f->revision);
    put(t, f->kind, 1);
    put_zeros(t, 3);
    put_gas(t, f->gas);
    put(t, f->interrupt_type, 1);
    put(t, f->irq, 1);
    put(t, 0, 4);
    put(t, f->baud, 1);
    put(t, 0, 1);
    put(t, 1, 1);
    put_zeros(t, 3);
    put(t, f->pci_id ? f->pci_id : 0xffffffff, 4);
    put(t, f->bus, 1);
    put(t, f->device, 1);
    put(t, f->function, 1);
    put(t, 0, 4);
    put(t, f->segment, 1);
    put(t, f->clock, 4);
    put(t, f->precise_baud, 4);
    put_zeros(t, 6);
    t->n = f->bytes ? f->bytes : f->revision >= 4 ? 90 : 80;
    table_end(t);
}

static inline void dbg2_begin(struct table *t, uint32_t count)
{
    table_begin(t, "DBG2", 0);
    put(t, 44, 4);
    put(t, count, 4);
}

static inline void dbg2_port(struct table *t, uint32_t type, uint32_t subtype, struct gas g)
{
    put(t, 0, 1);
    put(t, 22 + 12 + 4 + 2, 2);
    put(t, 1, 1);
    put(t, 2, 2); /* the name "." */
    put(t, 38, 2);
    put_zeros(t, 4);
    put(t, type, 2);
    put(t, subtype, 2);
    put_zeros(t, 2);
    put(t, 22, 2);
    put(t, 34, 2);
    put_gas(t, g);
    put(t, 8, 4);
    put(t, '.', 2);
}

#endif
