/*
 * Calling the other CPUs.
 *
 * Decides the sequence and its patience: INIT to all, SIPI to all, SIPI again to those that have
 * not come, and the whole once more for those that still have not, since a SIPI that meets a CPU in
 * SMM is lost. Each step goes only to those that are missing: a CPU that runs must never get INIT.
 * Does not decide how a CPU claims its slot. Invariant: every wait ends; a CPU that is not there
 * costs a little over three seconds, one that gets stuck five. Source: SDM 3A 8.4.4.1
 * (INIT-SIPI-SIPI).
 */
#include "arch/x86/ap_call.h"

/* Modern parts need nothing between INIT and SIPI; others get the 10 ms of the specification. */
#define INIT_WAIT_NS     (10 * NS_PER_MS)
#define INIT_WAIT_NEW_NS (10 * NS_PER_US)
#define SIPI_WAIT_NS     (300 * NS_PER_US)
/* Long, since only a CPU that is not there takes them: an SMI, or a busy host, may hold one up. */
#define CLAIM_WAIT_NS  (200 * NS_PER_MS)
#define CLAIM_AGAIN_NS (3 * NS_PER_SEC)
#define READY_WAIT_NS  (5 * NS_PER_SEC)
#define POLL_NS        (20 * NS_PER_US)

/* Until `count` says none, or time is up. Returns what it said last. */
static uint32_t wait_while(const struct ap_call_ops *ops, uint32_t (*count)(void), ns_t limit)
{
    uint32_t left = count();

    for (ns_t waited = 0; left && waited < limit; waited += POLL_NS) {
        ops->delay(POLL_NS);
        left = count();
    }
    return left;
}

static void call_once(const struct ap_call_ops *ops, bool modern, ns_t patience)
{
    ops->send(AP_IPI_INIT);
    ops->delay(modern ? INIT_WAIT_NEW_NS : INIT_WAIT_NS);
    ops->send(AP_IPI_SIPI);
    if (!wait_while(ops, ops->waiting, SIPI_WAIT_NS))
        return;
    ops->send(AP_IPI_SIPI);
    (void)wait_while(ops, ops->waiting, patience);
}

uint32_t ap_call(const struct ap_call_ops *ops, bool modern)
{
    call_once(ops, modern, CLAIM_WAIT_NS);
    if (!ops->close())
        return 0;
    ops->reopen();
    call_once(ops, modern, CLAIM_AGAIN_NS);
    return ops->close();
}

uint32_t ap_wait_ready(const struct ap_call_ops *ops)
{
    return wait_while(ops, ops->unready, READY_WAIT_NS);
}
