# The test guests: build/guests/NAME.elf, multiboot-1 kernels as ELF32 (QEMU's -kernel takes no
# ELF64), and topo64.elf, the same program left as ELF64, for the other half of a guest loader.
# Included by the top Makefile; `make -f tests/guests/guests.mk guests` from the root works as well.

BUILD         ?= build
CC            ?= gcc
LD            ?= ld
OBJCOPY       ?= objcopy

GUEST_OUT     := $(BUILD)/guests
GUEST_OBJ     := $(GUEST_OUT)/obj
GUEST_SRC     := $(wildcard tests/guests/*.c)
GUEST_RT_SRC  := $(wildcard tests/guests/rt/*.c) $(wildcard tests/guests/rt/*.S)
GUEST_NAMES   := $(patsubst tests/guests/%.c,%,$(GUEST_SRC))
GUEST_RT_OBJ  := $(patsubst tests/guests/%,$(GUEST_OBJ)/%.o,$(GUEST_RT_SRC))
GUEST_ELFS    := $(GUEST_NAMES:%=$(GUEST_OUT)/%.elf) $(GUEST_OUT)/topo64.elf

GUEST_CFLAGS  := -std=gnu17 -ffreestanding -mno-red-zone -mgeneral-regs-only -fno-pie -fno-pic \
    -fno-stack-protector -fno-strict-aliasing -fno-common -fno-asynchronous-unwind-tables \
    -fcf-protection=none -O2 -g -Wall -Wextra -Wshadow -Wundef -Wvla -Wstrict-prototypes \
    -Wmissing-prototypes -Wframe-larger-than=1024 -Werror -Iinclude -I.
GUEST_LDFLAGS := -m elf_x86_64 -nostdlib -static -z max-page-size=4096 -z noexecstack \
    --fatal-warnings -T tests/guests/guest.ld

.PHONY: guests
guests: $(GUEST_ELFS)

$(GUEST_OBJ)/%.c.o: tests/guests/%.c tests/guests/guests.mk
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(GUEST_CFLAGS) -MMD -MP -c $< -o $@

$(GUEST_OBJ)/%.S.o: tests/guests/%.S tests/guests/guests.mk
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(GUEST_CFLAGS) -MMD -MP -c $< -o $@

# A guest NAME may have more parts in tests/guests/NAME/.
define GUEST_RULE
$(GUEST_OBJ)/$(1).elf64: $(GUEST_OBJ)/$(1).c.o $(GUEST_RT_OBJ) tests/guests/guest.ld \
    $(patsubst tests/guests/%,$(GUEST_OBJ)/%.o,$(wildcard tests/guests/$(1)/*.[cS]))
	$$(call say,LD) $(LD) $(GUEST_LDFLAGS) -o $$@ $$(filter %.o,$$^)
endef
$(foreach name,$(GUEST_NAMES),$(eval $(call GUEST_RULE,$(name))))

$(GUEST_OUT)/%.elf: $(GUEST_OBJ)/%.elf64
	$(call say,OBJCOPY) $(OBJCOPY) -O elf32-i386 --strip-debug $< $@

$(GUEST_OUT)/topo64.elf: $(GUEST_OBJ)/topo.elf64
	$(call say,CP) cp $< $@

.SECONDARY:
-include $(wildcard $(GUEST_OBJ)/*.d $(GUEST_OBJ)/*/*.d)
