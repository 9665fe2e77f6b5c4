/* A UART that is a PCI function, by its address or by its class. See pci_uart.c. */
#ifndef ARCH_X86_PCI_UART_H
#define ARCH_X86_PCI_UART_H

#include "hv/serial.h"

/* Configuration space by 32-bit words; `function` as in hv/serial.h, `offset` a multiple of 4. */
struct pci_config_ops {
    uint32_t (*read)(void *ctx, uint32_t function, uint32_t offset);
    void (*write)(void *ctx, uint32_t function, uint32_t offset, uint32_t value);
    void *ctx;
};

/*
 * Find the function that config->pci means, say where its registers are (space and base, unless
 * *config says so already), and let it decode them. 0; -ENODEV: no such function, or none with an
 * address; -EAGAIN: its registers are in memory and `may_map` is false; nothing is changed then.
 */
__attribute__((warn_unused_result)) int pci_uart_resolve(const struct pci_config_ops *ops,
                                                         struct serial_config *config,
                                                         bool may_map);

#endif
