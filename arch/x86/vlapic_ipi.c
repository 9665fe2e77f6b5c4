/*
 * Interprocessor interrupts between the vCPUs of one VM: the ICR write and KVM's SEND_IPI.
 *
 * Decides which vCPUs an ICR names and what each delivery mode posts to them. Delivery itself is a
 * pending bit and a wake or kick; nothing waits. Modes: fixed, lowest priority (the first named
 * vCPU), NMI, INIT, start-up. SMI and ExtINT have no source here and are ignored, as is the INIT
 * de-assert. Source: SDM 11.6.1, 11.12.9, 11.12.10.
 */
#include "arch/x86/vlapic_ipi.h"

#include <errno.h>

#include "arch/x86/regs/apic.h"
#include "arch/x86/vlapic.h"
#include "kernel/vm.h"

/* One vCPU gets what the ICR says. */
static void ipi_deliver(struct vcpu *to, uint64_t icr)
{
    uint8_t vector = (uint8_t)FIELD_GET(APIC_ICR_VECTOR, icr);

    switch (FIELD_GET(APIC_ICR_MODE, icr)) {
    case APIC_MODE_FIXED:
    case APIC_MODE_LOWEST:
        vlapic_post(to->lapic, vector);
        break;
    case APIC_MODE_NMI:
        vcpu_post(to, PENDING_NMI);
        break;
    case APIC_MODE_INIT:
        if ((icr & APIC_ICR_ASSERT) || !(icr & APIC_ICR_LEVEL)) {
            atomic_fetch_and(&to->pending, ~(uint32_t)PENDING_SIPI);
            vcpu_post(to, PENDING_INIT);
        }
        break;
    case APIC_MODE_SIPI:
        atomic_set(&to->sipi_vector, vector);
        vcpu_post(to, PENDING_SIPI);
        break;
    default:
        break;
    }
}

/* Does the logical destination name this APIC id? */
static bool ipi_logical_match(uint32_t destination, uint32_t apic_id)
{
    uint32_t ldr = vlapic_ldr(apic_id);

    return FIELD_GET(APIC_LDR_CLUSTER, destination) == FIELD_GET(APIC_LDR_CLUSTER, ldr) &&
           (destination & ldr & APIC_LDR_MEMBERS);
}

static bool ipi_names(const struct vcpu *from, const struct vcpu *to, uint64_t icr)
{
    uint32_t destination = (uint32_t)FIELD_GET(APIC_ICR_X2APIC_DEST, icr);

    switch (FIELD_GET(APIC_ICR_SHORTHAND, icr)) {
    case APIC_TO_SELF:
        return to == from;
    case APIC_TO_ALL:
        return true;
    case APIC_TO_OTHERS:
        return to != from;
    default:
        if (destination == APIC_X2APIC_BROADCAST)
            return true;
        if (icr & APIC_ICR_DEST_LOGICAL)
            return ipi_logical_match(destination, to->apic_id);
        return to->apic_id == destination;
    }
}

static void ipi_to_named(struct vcpu *from, uint64_t icr)
{
    bool one = FIELD_GET(APIC_ICR_MODE, icr) == APIC_MODE_LOWEST;

    for (uint32_t i = 0; i < from->vm->vcpu_count; i++) {
        struct vcpu *to = from->vm->vcpus[i];

        if (!ipi_names(from, to, icr))
            continue;
        from->stats.ipis++;
        ipi_deliver(to, icr);
        if (one)
            return;
    }
}

static bool ipi_is_physical_unicast(uint64_t icr)
{
    return !FIELD_GET(APIC_ICR_SHORTHAND, icr) && !(icr & APIC_ICR_DEST_LOGICAL) &&
           FIELD_GET(APIC_ICR_X2APIC_DEST, icr) != APIC_X2APIC_BROADCAST;
}

static bool ipi_vector_is_illegal(uint64_t icr)
{
    return FIELD_GET(APIC_ICR_MODE, icr) <= APIC_MODE_LOWEST &&
           FIELD_GET(APIC_ICR_VECTOR, icr) < VLAPIC_VECTOR_MIN;
}

int vlapic_write_icr(struct vlapic *lapic, uint64_t icr)
{
    struct vcpu *from = lapic->vcpu;
    struct vcpu *to;

    if (icr & ~APIC_ICR_X2APIC_VALID)
        return -EINVAL;
    lapic->icr = icr;
    if (ipi_vector_is_illegal(icr)) {
        lapic->esr_pending |= APIC_ESR_SEND_ILLEGAL;
        return 0;
    }
    if (!ipi_is_physical_unicast(icr)) {
        ipi_to_named(from, icr);
        return 0;
    }
    to = vcpu_by_apic_id(from->vm, (uint32_t)FIELD_GET(APIC_ICR_X2APIC_DEST, icr));
    if (to) {
        from->stats.ipis++;
        ipi_deliver(to, icr);
    }
    return 0;
}

uint64_t vlapic_send_bitmap(struct vcpu *from, const uint64_t bitmap[2], uint32_t lowest,
                            uint64_t icr)
{
    uint64_t delivery = FIELD_GET(APIC_ICR_MODE, icr);
    uint64_t sent = 0;

    if ((delivery != APIC_MODE_FIXED && delivery != APIC_MODE_NMI) || ipi_vector_is_illegal(icr))
        return 0;
    for (uint32_t word = 0; word < 2; word++) {
        for (uint64_t rest = bitmap[word]; rest; rest &= rest - 1) {
            uint32_t id = lowest + word * 64 + (uint32_t)__builtin_ctzll(rest);
            struct vcpu *to = vcpu_by_apic_id(from->vm, id);

            if (!to)
                continue;
            ipi_deliver(to, icr);
            sent++;
        }
    }
    from->stats.ipis += sent;
    return sent;
}
