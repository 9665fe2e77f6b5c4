/* A 16550 serial port without interrupts. See uart.c. */
#ifndef VMM_UART_H
#define VMM_UART_H

#include "hv/types.h"

#define VMM_UART_PORTS 8
#define VMM_UART_FIFO  64 /* bytes typed and not yet read; a power of two */

/* The host calls for one VM one at a time: no lock here (kernel/vm.h, device_lock). */
struct vmm_uart {
    void *host;
    uint8_t ier, lcr, mcr, scratch;
    uint16_t divisor;
    bool fifo_on;
    bool overrun;
    uint32_t head, tail; /* of fifo; head - tail bytes wait */
    uint8_t fifo[VMM_UART_FIFO];
};

void vmm_uart_init(struct vmm_uart *uart, void *host);
uint8_t vmm_uart_read(struct vmm_uart *uart, uint32_t reg);
void vmm_uart_write(struct vmm_uart *uart, uint32_t reg, uint8_t value);

/* A byte typed for the guest. One that finds the FIFO full is lost and shows as an overrun. */
void vmm_uart_receive(struct vmm_uart *uart, uint8_t byte);

#endif
