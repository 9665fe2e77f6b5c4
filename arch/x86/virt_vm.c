/*
 * The memory of one VM, for both backends.
 *
 * Decides: tables come from the VM's home node; a root that goes away, or that may stand where
 * another VM's stood, makes every CPU flush (HAZARD_TLB). Adding a translation needs no
 * flush: neither EPT nor NPT keeps entries that are not present (SDM 29.4.3.1).
 */
#include "arch/x86/virt_vm.h"

#include <errno.h>

#include "arch/x86/paging.h"
#include "arch/x86/virt_state.h"
#include "kernel/arch.h"
#include "kernel/mem.h"
#include "kernel/vm.h"

/*
 * Every CPU flushes before its next entry. Without an interrupt, since none runs this VM now. The
 * fetch-or is sequentially consistent and pairs with the exchange in the hazard loop:
 * a CPU that sees the bit sees the changed table.
 */
static void translations_changed(void)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i])
            atomic_fetch_or(&cpus[i]->hazard, HAZARD_TLB);
}

int virt_vm_init(struct vm *vm, const struct pt_format *format, unsigned largest_level)
{
    int error;

    vm->hw = mem_zalloc(sizeof(*vm->hw), vm_first_node(vm));
    if (!vm->hw)
        return -ENOMEM;
    vm->hw->node = vm_first_node(vm);
    error =
        pagetable_init(&vm->hw->table, format, &paging_table_memory, &vm->hw->node, largest_level);
    if (error) {
        mem_free(vm->hw, sizeof(*vm->hw));
        vm->hw = NULL;
        return error;
    }
    translations_changed();
    return 0;
}

void virt_vm_fini(struct vm *vm)
{
    if (!vm->hw)
        return;
    pagetable_fini(&vm->hw->table);
    translations_changed();
    mem_free(vm->hw, sizeof(*vm->hw));
    vm->hw = NULL;
}

int virt_vm_map(struct vm *vm, gpa_t gpa, paddr_t pa, uint64_t bytes, bool writable)
{
    return pagetable_map(&vm->hw->table, gpa, pa, bytes,
                         PT_READ | PT_EXEC | (writable ? PT_WRITE : 0));
}

paddr_t virt_vm_lookup(struct vm *vm, gpa_t gpa, uint64_t want_bytes, uint64_t *run_bytes)
{
    return pagetable_lookup(&vm->hw->table, gpa, want_bytes, run_bytes);
}
