/* The devices of one VM and its port space. See bus.c. */
#ifndef VMM_VMM_H
#define VMM_VMM_H

#include "vmm/uart.h"

struct vmm {
    void *host; /* for vmm_host.h */
    struct vmm_uart uart;
};

void vmm_init(struct vmm *vmm, void *host);

/* One access to the port space, `bytes` 1, 2 or 4. What no device answers reads as all ones. */
uint32_t vmm_port_read(struct vmm *vmm, uint16_t port, uint8_t bytes);
void vmm_port_write(struct vmm *vmm, uint16_t port, uint8_t bytes, uint32_t value);

#endif
