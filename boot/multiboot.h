/* Multiboot 1 and 2 information to struct boot_info. See multiboot.c. */
#ifndef BOOT_MULTIBOOT_H
#define BOOT_MULTIBOOT_H

#include "hv/boot_info.h"

#define MULTIBOOT1_MAGIC 0x2badb002u
#define MULTIBOOT2_MAGIC 0x36d76289u

/*
 * `magic` and `pa` are EAX and EBX at entry. The caller has set info->map and info->arena with
 * their capacities; everything else is written here. The map gets the firmware's ranges, sorted and
 * trimmed to pages; image, modules and information are not claimed in it yet (boot_claim_all). 0;
 * -EINVAL: unknown magic or unreadable information (*fault is the offset in it); -ENOENT: no memory
 * map at all. Lesser faults are warnings.
 */
__attribute__((warn_unused_result)) int multiboot_parse(struct boot_info *info,
                                                        const struct phys_view *view,
                                                        uint32_t magic, paddr_t pa,
                                                        struct fw_warnings *w, size_t *fault);

/* Claims the image, every module and the loader's information in info->map, whole pages each. */
void boot_claim_all(struct boot_info *info, paddr_t image_start, paddr_t image_end);

#endif
