# Machines to run it on, and the tests.

# CMDLINE= is the hypervisor's command line; MODEL=ryzen makes Bochs an AMD-V machine.
MODEL ?= corei7_skylake_x
export NUMEN_BUILD := $(B)

iso: build/numen.iso ## build/numen.iso, for BIOS and UEFI, CD and USB stick

build/numen.iso: $(B)/numen.elf boot/grub.cfg tools/make_iso.sh $(GUEST_ELFS)
	$(call say,ISO) tools/make_iso.sh $(filter %.elf,$^)

run: image guests ## the demo in QEMU: CMDLINE='numa=off'
	@$(PYTHON) tools/run.py qemu --cmdline '$(CMDLINE)'

run-bochs: image guests ## the demo under VT-x in Bochs: CMDLINE=, MODEL=ryzen for AMD-V
	@$(PYTHON) tools/run.py bochs --cmdline '$(CMDLINE)' --model $(MODEL)

# CHECK=layers runs one; the names are in tools/check/__main__.py.
check: image ## the static checks: layers, purity, headers, sizes, state, format, clang-tidy, compilers
	@$(PYTHON) tools/check $(CHECK)

check test: export IMAGE_CFLAGS := $(IMAGE_CFLAGS)
check test: export HOSTED_ARCH := $(HOSTED_ARCH)

test: all iso fuzzers $(UNIT_TESTS) $(COVERAGE_TESTS) $(TESTED_TOOLS) $(BENCHES) ## everything: unit tests, checks, fuzzers, QEMU and Bochs
	@$(PYTHON) tools/test.py

# TEST=test_boot.py or TEST='-k ovmf' runs some of them.
system: all iso ## the system tests alone: TEST='-k ovmf' picks
	@$(PYTHON) -m pytest -n 2 tests/system $(TEST)

# SOAK_SECONDS= and SOAK_SEED= choose how long each part runs, and which scenarios and commands.
soak: all fuzzers ## every fuzzer for a minute, ten minutes each of random scenarios, random commands
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=60
	@$(PYTHON) tests/host/sim_soak.py
	@$(PYTHON) -m pytest -q -s -m soak tests/system

# BENCH=topology or BENCH='exits boot' picks.
bench: image guests benches $(B)/host/numen-sim ## benchmarks in instructions; also build/bench.json: BENCH=topology picks
	@$(PYTHON) tools/bench $(BENCH)

# SEEDS='seed1 --seeds 2' picks and shortens; tools/seeds/__main__.py says more.
seeds: $(B)/host/numen-sim ## the seeds' tables, simulated: build/seeds/report.html; SEEDS='seed1' picks
	@$(PYTHON) tools/seeds $(SEEDS)

# FAULTS='deep-debt short-runs-free' picks; tests/sim/faults holds them, tools/mutate.py says how.
mutate: $(B)/host/numen-sim ## put each fault credit2 had into a copy of sched/: a scenario fails
	@$(PYTHON) tools/mutate.py $(FAULTS)

# AGREE='weights lock pingpong' picks; AGREE=seed3 measures seed 3, in about five minutes.
agree: image guests $(B)/host/numen-sim ## numen-sim against guests under Bochs: AGREE='lock' picks, AGREE=seed3
	@$(PYTHON) tools/agree $(AGREE)

format: ## put all C files into the repository's format
	find $(wildcard include boot arch kernel sched mm vmm tests tools) -name '*.[ch]' -exec clang-format -i {} +

.PHONY: iso run run-bochs check test system soak bench seeds mutate agree format
