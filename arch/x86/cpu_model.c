/*
 * What a CPU is called.
 *
 * Decides how the numbers of CPUID are put together, for the boot's line per CPU and for what
 * depends on the model. Does not decide how strong a core is; topology.c does.
 * Source: SDM 2A CPUID, leaves 1 and 0x1A; APM 3 appendix E.3 (the extended model counts from
 * family 15 on there, and in family 6 at Intel).
 */
#include "arch/x86/cpu_model.h"

#include "arch/x86/regs/cpuid.h"

void cpu_model_decode(uint32_t eax, uint32_t *family, uint32_t *model, uint32_t *stepping)
{
    *family = (uint32_t)FIELD_GET(CPUID_1_EAX_FAMILY, eax);
    *model = (uint32_t)FIELD_GET(CPUID_1_EAX_MODEL, eax);
    *stepping = (uint32_t)FIELD_GET(CPUID_1_EAX_STEPPING, eax);
    if (*family == 6 || *family == 15)
        *model |= (uint32_t)FIELD_GET(CPUID_1_EAX_EXT_MODEL, eax) << 4;
    if (*family == 15)
        *family += (uint32_t)FIELD_GET(CPUID_1_EAX_EXT_FAMILY, eax);
}

const char *cpu_model_core_kind(uint32_t eax)
{
    switch (FIELD_GET(CPUID_CORE_TYPE_EAX_KIND, eax)) {
    case CPUID_CORE_KIND_ATOM:
        return "Atom";
    case CPUID_CORE_KIND_CORE:
        return "Core";
    default:
        return NULL;
    }
}
