/*
 * The port space of a VM: which device answers which port.
 *
 * The least machine that multiboot guests and Linux need (docs/guest-abi.md): a 16550 at COM1 and
 * an exit port like QEMU's isa-debug-exit. All other ports read as all ones and ignore writes, as
 * on a machine where nothing is plugged in. Devices are one byte wide; wider accesses reach
 * consecutive ports. Pure: the caller serialises calls.
 */
#include "vmm/vmm.h"

#include "vmm/vmm_host.h"

#define PORT_COM1 0x3f8
#define PORT_EXIT 0xf4

static bool port_is_uart(uint16_t port)
{
    return port >= PORT_COM1 && port < PORT_COM1 + VMM_UART_PORTS;
}

void vmm_init(struct vmm *vmm, void *host)
{
    vmm->host = host;
    vmm_uart_init(&vmm->uart, host);
}

uint32_t vmm_port_read(struct vmm *vmm, uint16_t port, uint8_t bytes)
{
    uint32_t value = 0;

    for (uint8_t i = 0; i < bytes; i++) {
        uint16_t at = (uint16_t)(port + i);
        uint32_t byte = port_is_uart(at) ? vmm_uart_read(&vmm->uart, at - PORT_COM1) : 0xff;

        value |= byte << (8 * i);
    }
    return value;
}

void vmm_port_write(struct vmm *vmm, uint16_t port, uint8_t bytes, uint32_t value)
{
    if (port == PORT_EXIT) {
        vmm_host_exit(vmm->host, (uint8_t)value);
        return;
    }
    for (uint8_t i = 0; i < bytes; i++) {
        uint16_t at = (uint16_t)(port + i);

        if (port_is_uart(at))
            vmm_uart_write(&vmm->uart, at - PORT_COM1, (uint8_t)(value >> (8 * i)));
    }
}
