/* Stack traces by frame pointers, with names from the image's symbol table. See backtrace.c. */
#ifndef ARCH_X86_BACKTRACE_H
#define ARCH_X86_BACKTRACE_H

#include "hv/types.h"

/* "function+0x12" for an address in the image, else the number; returns as format_text does. */
int backtrace_place(char *text, size_t bytes, uint64_t rip);

bool backtrace_is_code(uint64_t address);

/* One line per frame, from `rip` outward. Stops at the first frame that is not on a stack. */
void backtrace_print(uint64_t rip, uint64_t rbp);

#endif
