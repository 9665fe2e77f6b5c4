# Numen's build. `make help` lists the targets; the parts are in mk/*.mk:
#   image.mk   the hypervisor, with its symbol table     hosted.mk  unit tests, fuzzers, host programs
#   rigs.mk    ISO, QEMU, Bochs, tests, benchmarks       tests/guests/guests.mk  the guests
#
# CC=clang builds into build/clang, DEBUG=1 into .../debug; nothing else changes the place. V=1 shows
# the commands.

ifeq ($(origin CC),default)
CC := gcc
endif
TOOLCHAIN := $(if $(findstring clang,$(CC)),clang,gcc)
PYTHON    := /usr/bin/python3
B         := build$(if $(filter clang,$(TOOLCHAIN)),/clang)$(if $(DEBUG),/debug)

# Missing Debian packages are installed before anything is built. Done while this file is read, since
# only that comes before every other job of a parallel make.
ifeq ($(MAKELEVEL),0)
ifneq ($(filter-out clean help deps,$(or $(MAKECMDGOALS),all)),)
DEPS_LOG := $(shell tools/deps.sh --quiet >&2)
endif
endif

WARNINGS := -Wall -Wextra -Wshadow -Wundef -Wvla -Wstrict-prototypes -Wmissing-prototypes \
            -Werror $(if $(filter clang,$(TOOLCHAIN)),-Wthread-safety)
INCLUDES := -I include -I .

# `$(call say,LD) command`: the command runs, and one short line is shown for it.
say = @$(if $(V),set -x;,echo '  $(1)	$@';)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules -j$(shell nproc)

all: image guests host-tools ## the image, the guests and the host programs

include mk/image.mk
include mk/hosted.mk
-include tests/guests/guests.mk
include mk/rigs.mk

# guests.mk sets GUEST_ELFS to the list of build/guests/*.elf and holds their rules.
guests: $(GUEST_ELFS) ## the guests, build/guests/*.elf

deps: ## install the Debian packages that are missing (as root, or by sudo)
	tools/deps.sh

clean: ## remove everything built
	rm -rf build

help: ## this list
	@echo 'make [CC=clang] [DEBUG=1] [V=1] TARGET'
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile mk/*.mk | expand -t 16 | sort

.PHONY: all guests deps clean help
