# Everything that runs on the builder's own machine: pure code in its second and third life.
#
# The pure folders are compiled into an archive, once under ASan+UBSan for the unit tests, once under
# libFuzzer, once plainly for the host programs. A program pulls in what it names, so a test supplies
# only those *_host.h functions that the code under test calls.

# Of kernel/, what needs no machine: it is tested hosted, though the folder is not pure.
HOSTED_KERNEL := $(addprefix kernel/,format.c lock.c log.c json.c topology_json.c line_edit.c mixer.c \
                                     guest_output.c screen.c screen_picture.c)

# Of arch/, what decides without touching a register: it acts through structs of operations.
HOSTED_ARCH := $(addprefix arch/x86/,ap_call.c cpu_model.c firmware_msr.c pci_uart.c \
                                    tsc_measure.c uart16550.c way_out.c)

PURE_SRCS := $(wildcard boot/*.c sched/*.c mm/*.c vmm/*.c arch/x86/topology*.c \
                        arch/x86/guest_cpuid*.c arch/x86/pagetable.c) $(HOSTED_ARCH) $(HOSTED_KERNEL)

HOSTED_CFLAGS := -std=gnu17 -fno-strict-aliasing -fno-common -g -MMD -MP $(WARNINGS) $(INCLUDES)
SANITIZE      := -fsanitize=address,undefined -fno-sanitize-recover=undefined
UNIT_CFLAGS   := $(HOSTED_CFLAGS) -O1 $(SANITIZE)
TOOL_CFLAGS   := $(HOSTED_CFLAGS) -O2
FUZZ_CFLAGS   := $(HOSTED_CFLAGS) -O1 -fsanitize=fuzzer-no-link,address,undefined

# --- unit tests: tests/unit/test_X.c -> build/unit/test_X; other files there are shared support
UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_*.c))
UNIT_SHARE := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c))

# An unknown one is run_unit.py's to tell.
UNIT_ASKED := $(if $(UNIT),$(filter $(UNIT:%=$(B)/unit/%),$(UNIT_TESTS)),$(UNIT_TESTS))

unit: $(UNIT_ASKED) ## build and run the unit tests; UNIT=test_x runs one
	@$(PYTHON) tools/run_unit.py $(if $(UNIT),$(UNIT:%=$(B)/unit/%),$(UNIT_TESTS))

$(B)/unit/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(UNIT_CFLAGS) -c -o $@ $<

$(B)/unit/libpure.a: $(PURE_SRCS:%.c=$(B)/unit/obj/%.o) $(UNIT_SHARE:%.c=$(B)/unit/obj/%.o)
	@rm -f $@ && ar rcs $@ $^

# Those of numen-sim's own parts, with all of it but main.
SIM_PARTS := $(filter-out %/main.c,$(wildcard tools/numen-sim/*.c))

$(B)/unit/libsim.a: $(SIM_PARTS:%.c=$(B)/unit/obj/%.o)
	@rm -f $@ && ar rcs $@ $^

$(B)/unit/test_sim_%: $(B)/unit/obj/tests/unit/test_sim_%.o $(B)/unit/libsim.a $(B)/unit/libpure.a
	$(call say,LD) $(CC) $(SANITIZE) -o $@ $^ -lcmocka -linih -lcjson -pthread

$(B)/unit/test_%: $(B)/unit/obj/tests/unit/test_%.o $(B)/unit/libpure.a
	$(call say,LD) $(CC) $(SANITIZE) -o $@ $^ -lcmocka -pthread

# --- branch coverage of the parsers, always by gcc; only their own objects count
COVERAGE_SRCS   := $(wildcard boot/*.c arch/x86/topology*.c mm/numa*.c)
COVERAGE_TESTS  := $(patsubst tests/unit/%.c,build/coverage/%,\
                              $(filter-out tests/unit/test_sim_%,$(wildcard tests/unit/test_*.c)))
COVERAGE_CFLAGS := $(HOSTED_CFLAGS) -O0

coverage: $(COVERAGE_TESTS) ## branches of the pure parsers that the unit tests take
	@$(PYTHON) tools/run_coverage.py $(COVERAGE_TESTS)

$(COVERAGE_SRCS:%.c=build/coverage/obj/%.o): COVERAGE_CFLAGS += --coverage

build/coverage/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC) gcc $(COVERAGE_CFLAGS) -c -o $@ $<

build/coverage/libpure.a: $(PURE_SRCS:%.c=build/coverage/obj/%.o) \
                          $(UNIT_SHARE:%.c=build/coverage/obj/%.o)
	@rm -f $@ && ar rcs $@ $^

build/coverage/test_%: build/coverage/obj/tests/unit/test_%.o build/coverage/libpure.a
	$(call say,LD) gcc --coverage -o $@ $^ -lcmocka -pthread

# --- benchmarks of pure code: tests/bench/bench_X.c -> build/bench/X, built as the image is but for
# the flags of its address space, with its string functions
BENCHES      := $(patsubst tests/bench/bench_%.c,$(B)/bench/%,$(wildcard tests/bench/bench_*.c))
BENCH_CFLAGS  = $(filter-out -mcmodel=kernel,$(IMAGE_CFLAGS))
BENCH_PURE   := $(filter-out kernel/%,$(PURE_SRCS)) kernel/format.c kernel/lock.c kernel/string.c

$(B)/bench/obj/%.o: %.c mk/image.mk mk/hosted.mk
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(BENCH_CFLAGS) -c -o $@ $<

$(B)/bench/libpure.a: $(BENCH_PURE:%.c=$(B)/bench/obj/%.o) $(B)/bench/obj/tests/unit/host_stubs.o \
                      $(B)/obj/arch/x86/string.S.o
	@rm -f $@ && ar rcs $@ $^

# Without debug information, since Debian 12's valgrind does not read clang's.
$(B)/bench/%: $(B)/bench/obj/tests/bench/bench_%.o $(B)/bench/libpure.a
	$(call say,LD) $(CC) -no-pie -Wl,--strip-debug -o $@ $^

# The scheduler's once more, with debug builds' calls at each lock and no other difference.
BENCH_LOCK_OBJS := $(patsubst %.c,$(B)/bench/locks/%.o,$(wildcard sched/*.c) tests/bench/bench_sched.c)
BENCHES         += $(B)/bench/sched-locks

$(B)/bench/locks/%.o: %.c mk/image.mk mk/hosted.mk
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(BENCH_CFLAGS) -DHV_DEBUG -c -o $@ $<

$(B)/bench/sched-locks: $(BENCH_LOCK_OBJS) $(B)/bench/libpure.a
	$(call say,LD) $(CC) -no-pie -Wl,--strip-debug -o $@ $^

benches: $(BENCHES)

# --- host programs: tools/gen_x.c -> build/host/gen-x, tools/numen-x/*.c -> build/host/numen-x
TOOL_SRCS    := $(wildcard tools/*.c)
TOOL_FOLDERS := $(patsubst tools/%/,%,$(wildcard tools/numen-*/))
HOST_TOOLS   := $(patsubst tools/%.c,$(B)/host/%,$(subst _,-,$(TOOL_SRCS))) \
                $(TOOL_FOLDERS:%=$(B)/host/%)

host-tools: $(HOST_TOOLS) ## the host programs, build/host/*

$(B)/host/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(TOOL_CFLAGS) -c -o $@ $<

$(B)/host/libpure.a: $(PURE_SRCS:%.c=$(B)/host/obj/%.o) $(B)/host/obj/tests/unit/host_stubs.o
	@rm -f $@ && ar rcs $@ $^

define host_tool
$(B)/host/$(subst _,-,$(1)): $(B)/host/obj/tools/$(1).o $(B)/host/libpure.a
	$$(call say,LD) $$(CC) -o $$@ $$^
endef
$(foreach t,$(TOOL_SRCS:tools/%.c=%),$(eval $(call host_tool,$(t))))

LIBS_numen-sim := -linih -lcjson

# Those in folders are also built under the sanitizers, build/unit/numen-x, for their tests.
define host_tool_folder
$(B)/host/$(1): $(patsubst %.c,$(B)/host/obj/%.o,$(wildcard tools/$(1)/*.c)) $(B)/host/libpure.a
	$$(call say,LD) $$(CC) -o $$@ $$^ $$(LIBS_$(1))
$(B)/unit/$(1): $(patsubst %.c,$(B)/unit/obj/%.o,$(wildcard tools/$(1)/*.c)) $(B)/unit/libpure.a
	$$(call say,LD) $$(CC) $$(SANITIZE) -o $$@ $$^ $$(LIBS_$(1))
endef
$(foreach t,$(TOOL_FOLDERS),$(eval $(call host_tool_folder,$(t))))
TESTED_TOOLS := $(TOOL_FOLDERS:%=$(B)/unit/%)

host-test: host-tools $(TESTED_TOOLS) $(BENCHES) ## the tests of the host programs: TEST='-k memory' picks
	@NUMEN_BUILD=$(B) $(PYTHON) -m pytest -q -rs tests/host $(TEST)

# The programs stand on glibc, which the pure code does not.
$(B)/host/obj/tools/%.o: TOOL_CFLAGS += -D_GNU_SOURCE
$(B)/unit/obj/tools/%.o: UNIT_CFLAGS += -D_GNU_SOURCE

# The page of options is a file of the repository, so that it can be read without a build.
ifneq ($(wildcard tools/gen_parameters.c),)
docs: $(B)/host/gen-parameters ## write docs/parameters.md anew from the option table
	$< >docs/parameters.md
endif

# --- fuzzers: tests/fuzz/fuzz_X.c, always by clang
FUZZERS      := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 30

fuzz: $(FUZZERS) ## run each fuzzer for FUZZ_SECONDS (30)
	@$(PYTHON) tools/run_fuzz.py --seconds $(FUZZ_SECONDS) $(FUZZERS)

fuzzers: $(FUZZERS)

build/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC) clang $(FUZZ_CFLAGS) -c -o $@ $<

# numen-topo's parts as well, whose readers of text are fuzzed.
FUZZED_TOOL_SRCS := $(filter-out %/main.c,$(wildcard tools/numen-topo/*.c))
build/fuzz/obj/tools/%.o: FUZZ_CFLAGS += -D_GNU_SOURCE

build/fuzz/libpure.a: $(patsubst %.c,build/fuzz/obj/%.o,$(PURE_SRCS) $(FUZZED_TOOL_SRCS)) \
                      build/fuzz/obj/tests/unit/host_stubs.o
	@rm -f $@ && ar rcs $@ $^

# numen-sim's files have names of their own folder's only: an archive apart.
build/fuzz/libsim.a: $(SIM_PARTS:%.c=build/fuzz/obj/%.o)
	@rm -f $@ && ar rcs $@ $^

build/fuzz/fuzz_scenario: build/fuzz/obj/tests/fuzz/fuzz_scenario.o build/fuzz/libsim.a \
                          build/fuzz/libpure.a
	$(call say,LD) clang -fsanitize=fuzzer,address,undefined -o $@ $^ -linih -lcjson

build/fuzz/fuzz_%: build/fuzz/obj/tests/fuzz/fuzz_%.o build/fuzz/libpure.a
	$(call say,LD) clang -fsanitize=fuzzer,address,undefined -o $@ $^

-include $(wildcard $(patsubst %.c,$(B)/unit/obj/%.d,$(PURE_SRCS) $(wildcard tests/unit/*.c)) \
                    $(patsubst %.c,$(B)/host/obj/%.d,$(PURE_SRCS) $(TOOL_SRCS)) \
                    $(patsubst %.c,$(B)/host/obj/%.d,$(wildcard tools/numen-*/*.c)) \
                    $(patsubst %.c,$(B)/unit/obj/%.d,$(wildcard tools/numen-*/*.c)) \
                    $(patsubst %.c,$(B)/bench/obj/%.d,$(BENCH_PURE) $(wildcard tests/bench/*.c)) \
                    $(BENCH_LOCK_OBJS:.o=.d) \
                    $(patsubst %.c,build/fuzz/obj/%.d,$(PURE_SRCS) $(wildcard tests/fuzz/*.c) \
                      $(FUZZED_TOOL_SRCS) $(SIM_PARTS)) \
                    $(patsubst %.c,build/coverage/obj/%.d,$(PURE_SRCS) $(wildcard tests/unit/*.c)))

.PHONY: unit coverage host-tools host-test benches docs fuzz fuzzers
