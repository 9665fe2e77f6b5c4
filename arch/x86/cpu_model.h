/* What a CPU is called: family, model, stepping, kind of core. See cpu_model.c. */
#ifndef ARCH_X86_CPU_MODEL_H
#define ARCH_X86_CPU_MODEL_H

#include "hv/types.h"

/* Family, model, stepping from leaf 1 EAX as people quote them. */
void cpu_model_decode(uint32_t eax, uint32_t *family, uint32_t *model, uint32_t *stepping);

/* From leaf 0x1A EAX of a hybrid machine's CPU; NULL: it says nothing. */
const char *cpu_model_core_kind(uint32_t eax);

#endif
