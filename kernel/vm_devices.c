/*
 * The kernel as host of vmm/: port exits in, console and exit code out.
 *
 * The device models run here, in ring 0, under one lock per VM. Decides nothing
 * about devices: vmm/ does.
 */
#include "kernel/vm_devices.h"

#include "kernel/console.h"
#include "kernel/vm_life.h"
#include "vmm/vmm_host.h"

void vmm_host_console(void *host, const char *bytes, size_t n)
{
    struct vm *vm = host;

    console_guest_write(vm->id, vm->config.name, bytes, n);
}

void vmm_host_exit(void *host, uint8_t code)
{
    vm_exit(host, code);
}

void vm_devices_init(struct vm *vm)
{
    spin_init(&vm->device_lock, LOCK_DEVICE);
    vmm_init(&vm->devices, vm);
}

static uint64_t io_merge(uint64_t rax, uint32_t value, uint8_t bytes)
{
    /* A 32-bit IN zero-extends. */
    uint64_t mask = bytes == 4 ? UINT64_MAX : BIT(8 * bytes) - 1;

    return (rax & ~mask) | (value & mask);
}

void vm_devices_io(struct vcpu *v)
{
    const struct exit_io *io = &v->exit.io;
    struct vm *vm = v->vm;
    uint32_t value = (uint32_t)v->regs[VCPU_RAX];

    if (io->string) {
        vm_kill(vm, "vCPU %u: string I/O on port %#x is not supported", v->id, io->port);
        return;
    }
    virt->skip(v); /* first: a write to the exit port may end the VM */
    spin_lock(&vm->device_lock);
    if (io->in)
        value = vmm_port_read(&vm->devices, io->port, io->bytes);
    else
        vmm_port_write(&vm->devices, io->port, io->bytes, value);
    spin_unlock(&vm->device_lock);
    if (io->in)
        v->regs[VCPU_RAX] = io_merge(v->regs[VCPU_RAX], value, io->bytes);
}

void vm_devices_input(uint32_t vm_id, const char *bytes, size_t n)
{
    struct vm *vm = vms[vm_id];

    spin_lock(&vm->device_lock);
    for (size_t i = 0; i < n; i++)
        vmm_uart_receive(&vm->devices.uart, (uint8_t)bytes[i]);
    spin_unlock(&vm->device_lock);
}
