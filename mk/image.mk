# The hypervisor image.
#
# It is linked three times, because it carries its own symbol table for panic traces: first with an
# empty table, then with one of the right size, then with one of the right addresses. The generator
# fails if the third link moved anything.

# -fno-delete-null-pointer-checks: without it gcc takes the pointer that cpu_this() loads from gs:0 for
# one that points nowhere, and drops stores through it.
IMAGE_CFLAGS := -std=gnu17 -ffreestanding -mcmodel=kernel -mno-red-zone -mgeneral-regs-only \
                -fno-pie -fno-strict-aliasing -fno-common -fno-stack-protector \
                -fno-delete-null-pointer-checks \
                -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fcf-protection=none \
                -O2 -g -MMD -MP $(WARNINGS) -Wframe-larger-than=1024 $(INCLUDES) $(if $(DEBUG),-DHV_DEBUG)
IMAGE_LDFLAGS := -nostdlib -static -z max-page-size=4096 -z noexecstack --build-id=none -T linker.ld

IMAGE_SRCS := $(wildcard boot/*.c arch/x86/*.c kernel/*.c sched/*.c mm/*.c vmm/*.c)
IMAGE_ASMS := $(wildcard boot/*.S arch/x86/*.S kernel/*.S)
IMAGE_OBJS := $(IMAGE_SRCS:%.c=$(B)/obj/%.o) $(IMAGE_ASMS:%.S=$(B)/obj/%.S.o) $(B)/obj/font.o

# The framebuffer console's font: in the public domain, from the package console-setup-linux.
FONT := /usr/share/consolefonts/Lat15-Fixed16.psf.gz

image: $(B)/numen.elf $(B)/numen32.elf ## the hypervisor alone

$(B)/obj/%.o: %.c mk/image.mk
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(IMAGE_CFLAGS) -c -o $@ $<

$(B)/obj/%.S.o: %.S mk/image.mk
	@mkdir -p $(@D)
	$(call say,AS) $(CC) $(IMAGE_CFLAGS) -c -o $@ $<

$(B)/obj/font.S: tools/gen_font.py $(FONT)
	@mkdir -p $(@D)
	$(call say,FONT) $(PYTHON) $^ >$@

$(B)/obj/font.o: $(B)/obj/font.S
	@$(CC) -c -o $@ $<

$(B)/obj/ksyms%.o: $(B)/obj/ksyms%.S
	@$(CC) -c -o $@ $<

$(B)/obj/ksyms0.S: tools/gen_symbols.py
	@mkdir -p $(@D)
	@$(PYTHON) tools/gen_symbols.py </dev/null >$@

$(B)/obj/ksyms1.S: $(B)/obj/pass0.elf
	@nm $< | $(PYTHON) tools/gen_symbols.py >$@

$(B)/obj/ksyms2.S: $(B)/obj/pass1.elf
	@nm $< | $(PYTHON) tools/gen_symbols.py >$@

$(B)/obj/pass%.elf: $(B)/obj/ksyms%.o $(IMAGE_OBJS) linker.ld
	$(call say,LD) ld $(IMAGE_LDFLAGS) -o $@ $(filter %.o,$^)

$(B)/numen.elf: $(B)/obj/pass2.elf
	@nm $< | $(PYTHON) tools/gen_symbols.py | cmp - $(B)/obj/ksyms2.S
	@cp $< $@

# QEMU's -kernel takes multiboot 1 only from a 32-bit ELF file; the code inside is the same.
$(B)/numen32.elf: $(B)/numen.elf
	$(call say,OBJCOPY) objcopy --strip-debug -O elf32-i386 $< $@

-include $(wildcard $(patsubst %.o,%.d,$(IMAGE_OBJS)))

.PHONY: image
