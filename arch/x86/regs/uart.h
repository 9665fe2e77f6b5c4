/*
 * The 16550 UART: registers relative to the port's base (National Semiconductor PC16550D).
 */
#ifndef ARCH_X86_REGS_UART_H
#define ARCH_X86_REGS_UART_H

#include "hv/bits.h"

enum uart_register {
    UART_DATA = 0, /* receive buffer, transmit holding; with DLAB: divisor, low byte */
    UART_IER = 1,  /* with DLAB: divisor, high byte */
    UART_IIR = 2,  /* read */
    UART_FCR = 2,  /* write */
    UART_LCR = 3,
    UART_MCR = 4,
    UART_LSR = 5,
    UART_MSR = 6,
};

#define UART_IER_RECEIVE   BIT(0)
#define UART_IER_TRANSMIT  BIT(1)
#define UART_IER_ALL       BITS(3, 0)

#define UART_IIR_NONE      BIT(0)     /* no interrupt is pending */
#define UART_IIR_FIFO      BITS(7, 6) /* both set: the FIFOs work */

#define UART_FCR_ENABLE    BIT(0)
#define UART_FCR_CLEAR     BITS(2, 1)

#define UART_LCR_DATA_BITS BITS(1, 0) /* 5 to 8 */
#define UART_LCR_TWO_STOPS BIT(2)
#define UART_LCR_PARITY    BIT(3)
#define UART_LCR_EVEN      BIT(4)
#define UART_LCR_DLAB      BIT(7)

#define UART_MCR_DTR       BIT(0)
#define UART_MCR_RTS       BIT(1)
#define UART_MCR_OUT2      BIT(3) /* gates the interrupt line on a PC */

#define UART_LSR_READY     BIT(0) /* a byte was received */
#define UART_LSR_THRE      BIT(5) /* the transmitter takes bytes */

#define UART_REGISTERS     8u
#define UART_FIFO_BYTES    16u

#define DEBUG_PORT         0xe9

#endif
