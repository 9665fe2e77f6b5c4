/*
 * Inside of the topology decoder: what topology.c asks of its vendor and cache parts.
 *
 * Nobody else includes this.
 */
#ifndef ARCH_X86_TOPOLOGY_PARTS_H
#define ARCH_X86_TOPOLOGY_PARTS_H

#include "arch/x86/regs/cpuid.h"
#include "arch/x86/topology.h"

#define LEAF1_EBX_LOGICAL BITS(23, 16) /* CPUs in the package, where HTT is set */
#define LEAF1_EDX_HTT     BIT(28)

bool topo_is_amd(struct cpuid_dump dump); /* AMD or Hygon */

/* Family with the extended part added, as AMD counts them: 0x0f, 0x10, 0x15, 0x17, .. */
uint32_t topo_family(struct cpuid_dump dump);

/* Logical CPUs in the package by leaf 1; 1 where it does not tell. Saturates at 255. */
uint32_t topo_leaf1_logical(struct cpuid_dump dump);

void topo_note_add(struct topo_ids *ids, enum topo_note_code code, uint32_t told, uint32_t used);

/* Shifts by 0x80000008 and 0x8000001E. False: no such leaves, nothing is changed. */
bool topo_amd_shifts(struct topo_ids *ids, struct cpuid_dump dump);

/* What AMD tells besides the shifts: compute units, and the dies of a package of two. */
void topo_amd_units(struct topo_ids *ids, struct cpuid_dump dump);

/* Families 10h and 15h, whose L3 is the die's: dies in the package. 0: another part. */
uint32_t topo_amd_dies(struct cpuid_dump dump);

/* Fills llc_shift, llc_level and llc_part; the other shifts stand already. */
void topo_llc_decode(struct topo_ids *ids, struct cpuid_dump dump);

#endif
