/* Calling the other CPUs by INIT and SIPI, on CPUs that a test can fake. See ap_call.c. */
#ifndef ARCH_X86_AP_CALL_H
#define ARCH_X86_AP_CALL_H

#include "hv/types.h"

enum ap_ipi { AP_IPI_INIT, AP_IPI_SIPI };

/* All of it about the CPUs that are called and have not come. */
struct ap_call_ops {
    void (*send)(enum ap_ipi ipi);
    uint32_t (*waiting)(void); /* how many there are */
    uint32_t (*close)(void);   /* who comes from now on parks; returns how many did not come */
    void (*reopen)(void);      /* call those once more */
    uint32_t (*unready)(void); /* CPUs that came but have not set themselves up yet */
    void (*delay)(ns_t ns);
};

/* Calls them, and those that do not come once more. Returns how many never came. */
uint32_t ap_call(const struct ap_call_ops *ops, bool modern);

/* Waits for those that came to be ready. Returns how many are stuck. */
uint32_t ap_wait_ready(const struct ap_call_ops *ops);

#endif
