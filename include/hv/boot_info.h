/*
 * What the boot loader handed over, freed of the protocol (multiboot 1 or 2) it came by.
 *
 * Strings are copies in the caller's arena; module contents stay where the loader put them.
 */
#ifndef HV_BOOT_INFO_H
#define HV_BOOT_INFO_H

#include "hv/firmware.h"

#define BOOT_MODULES_MAX 64
#define BOOT_RSDP_BYTES  36

struct boot_module {
    paddr_t start;
    paddr_t end;        /* exclusive, >= start */
    const char *string; /* its command line, in the arena; never NULL */
};

enum boot_framebuffer_kind { FRAMEBUFFER_NONE, FRAMEBUFFER_RGB, FRAMEBUFFER_TEXT };

struct boot_framebuffer {
    paddr_t addr;
    uint32_t kind; /* enum boot_framebuffer_kind */
    uint32_t pitch_bytes;
    uint32_t width; /* pixels, or characters for text */
    uint32_t height;
    uint32_t bits_per_pixel;
    uint8_t red_pos, red_bits, green_pos, green_bits, blue_pos, blue_bits;
};

struct boot_info {
    struct memmap *map;    /* [i] caller's; receives the firmware's ranges, trimmed to pages */
    char *arena;           /* [i] caller's; command line, loader name, module strings */
    size_t arena_capacity; /* [i] */
    size_t arena_used;

    uint32_t protocol; /* 1 or 2 */
    bool efi;          /* an EFI system table or EFI memory map was handed over */
    const char *cmdline;
    const char *loader;
    uint32_t nmodules;
    uint32_t modules_dropped;
    struct boot_module modules[BOOT_MODULES_MAX];
    paddr_t info_base; /* where the loader's own structure lies: claim it until parsing ends */
    uint64_t info_bytes;
    uint32_t rsdp_bytes; /* 0: none handed over, scan for it */
    uint8_t rsdp[BOOT_RSDP_BYTES];
    struct boot_framebuffer framebuffer;
};

#endif
