/*
 * Boot modules to VMs.
 *
 * A module whose line parses as a guest (boot/guest_line.c) becomes a struct vm; one that other
 * modules name as initrd= is data for them. Bad lines get one clear message and the rest goes on.
 */
#include <string.h>

#include "boot/guest_line.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/machine.h"
#include "kernel/mem.h"
#include "kernel/printk.h"
#include "kernel/vm_cap.h"
#include "kernel/vm_devices.h"
#include "kernel/vm_life.h"

static const struct boot_module *module_by_file(const char *name)
{
    size_t n = strlen(name);

    for (uint32_t i = 0; i < machine.boot.nmodules; i++) {
        const char *string = machine.boot.modules[i].string;
        const char *file = string;

        for (const char *p = string; *p && *p != ' '; p++)
            if (*p == '/')
                file = p + 1;
        if (strncmp(file, name, n) == 0 && (file[n] == '\0' || file[n] == ' '))
            return &machine.boot.modules[i];
    }
    return NULL;
}

static bool vm_find_initrd(struct vm *vm)
{
    const struct boot_module *m;

    if (!vm->config.initrd[0])
        return true;
    m = module_by_file(vm->config.initrd);
    if (!m) {
        pr_err("VM %s: there is no module %s for initrd=: not made", vm->config.name,
               vm->config.initrd);
        return false;
    }
    vm->initrd = phys_to_virt(m->start);
    vm->initrd_bytes = m->end - m->start;
    return true;
}

static void vm_unique_name(struct vm *vm)
{
    char base[GUEST_NAME_CHARS];

    if (!vm->config.name[0])
        format_text(vm->config.name, GUEST_NAME_CHARS, "vm%u", vm->id);
    if (!vm_find(vm->config.name))
        return;
    memcpy(base, vm->config.name, sizeof(base));
    for (uint32_t i = 2; vm_find(vm->config.name); i++)
        format_text(vm->config.name, GUEST_NAME_CHARS, "%.24s-%u", base, i);
    pr_warn("VM %s: another one has its name: called %s", base, vm->config.name);
}

static bool module_is_initrd(const struct boot_module *module)
{
    for (uint32_t i = 0; i < vm_count; i++)
        if (vms[i]->initrd == phys_to_virt(module->start))
            return true;
    return false;
}

/* Siblings are worth showing to a guest only where no other VM runs beside its vCPU. */
static void vm_threads_check(struct guest_config *c)
{
    if (c->threads == 1 || machine.options.sched_gran.word == GRAN_CORE)
        return;
    pr_warn("VM %s: threads=%u is shown as cores, for want of sched-gran=core", c->name,
            c->threads);
    c->cores *= c->threads;
    c->threads = 1;
}

static void vm_from_module(const struct boot_module *module)
{
    struct guest_line_error error;
    struct vm *vm;

    if (vm_count == VMS_MAX) {
        pr_warn("Module \"%s\": there are %u VMs already: left out", module->string, VMS_MAX);
        return;
    }
    vm = mem_zalloc(sizeof(*vm), 0);
    if (!vm) {
        pr_err("Module \"%s\": no memory for a VM: left out", module->string);
        return;
    }
    if (guest_line_parse(module->string, &vm->config, &error, &machine.warnings) < 0) {
        pr_err("Module \"%s\": %s: not made", module->string, error.text);
        mem_free(vm, sizeof(*vm));
        return;
    }
    vm->id = vm_count;
    vm->state = VM_STOPPED;
    vm->image = phys_to_virt(module->start);
    vm->image_bytes = module->end - module->start;
    spin_init(&vm->lock, LOCK_VM);
    vm_cap_init(vm);
    vm_unique_name(vm);
    vm_threads_check(&vm->config);
    if (vm_find_initrd(vm))
        vms[vm_count++] = vm;
    else
        mem_free(vm, sizeof(*vm));
}

void vm_boot_modules(void)
{
    console_guest_input = vm_devices_input;
    for (uint32_t i = 0; i < machine.boot.nmodules; i++)
        if (!module_is_initrd(&machine.boot.modules[i]))
            vm_from_module(&machine.boot.modules[i]);
    machine_print_warnings();
    if (vm_count && !virt)
        pr_warn("%u VMs are not started: this machine cannot run them", vm_count);
    for (uint32_t i = 0; virt && i < vm_count; i++)
        if (vms[i]->config.autostart)
            vm_start(vms[i]);
}
