/*
 * numen-topo: what Numen would make of a machine, from its firmware's tables and CPUID.
 *
 * Decides what the options mean, and the exit status: 0, also with warnings; 1 when nothing given
 * tells anything (what there is to say is printed all the same); 2 for a usage that cannot be
 * followed, a file that cannot be read or written included. Inputs are added in the order of the
 * options, so that a second --madt stands behind the first as in a machine that carries two.
 */
#include "tools/numen-topo/topo.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "boot/cmdline.h"

enum key {
    KEY_MADT = 256, /* beyond what could be a short option */
    KEY_SRAT,
    KEY_SLIT,
    KEY_CPUID,
    KEY_MEMMAP,
    KEY_ACPIDUMP,
    KEY_THIS_MACHINE,
    KEY_OPTION,
    KEY_JSON,
    KEY_SVG,
};

static const struct argp_option options[] = {
    {"madt", KEY_MADT, "FILE", 0, "MADT (signature APIC), binary; may be given again", 1},
    {"srat", KEY_SRAT, "FILE", 0, "SRAT, binary; may be given again", 1},
    {"slit", KEY_SLIT, "FILE", 0, "SLIT, binary; may be given again", 1},
    {"cpuid", KEY_CPUID, "FILE", 0, "CPUID leaves as text, also as `cpuid -r' prints them", 1},
    {"memmap", KEY_MEMMAP, "FILE", 0, "Memory map as text; without it SRAT's ranges are RAM", 1},
    {"acpidump", KEY_ACPIDUMP, "FILE", 0, "All tables, as the text of `acpidump'", 1},
    {"this-machine", KEY_THIS_MACHINE, NULL, 0, "Read the machine this runs on (as root)", 1},
    {"option", KEY_OPTION, "WORD", 0, "A word of Numen's command line, such as numa=off", 2},
    {"json", KEY_JSON, NULL, 0, "One line of JSON, as the console's `topology --json'", 3},
    {"svg", KEY_SVG, "FILE", 0, "Write a picture as well; to `-', instead of the tree", 3},
    {0},
};

struct run {
    struct inputs in;
    struct machine_view machine;
    uint32_t given; /* inputs, --this-machine apart */
    bool this_machine, json;
    bool has_cpuid, has_memmap;
    bool stdin_used;
    const char *svg;
};

static struct file_bytes read_input(struct run *run, const char *path, struct argp_state *state)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct file_bytes data;
    int err;

    if (is_stdin && run->stdin_used)
        argp_error(state, "standard input can be read once only");
    run->stdin_used |= is_stdin;
    err = file_read(path, &data);
    if (err)
        argp_failure(state, EXIT_USAGE, -err, "%s", path);
    run->given++;
    return data;
}

static void once(bool *flag, const char *name, struct argp_state *state)
{
    if (*flag)
        argp_error(state, "--%s can be given once only", name);
    *flag = true;
}

static void check_together(const struct run *run, struct argp_state *state)
{
    if (state->arg_num)
        argp_error(state, "too many arguments");
    if (run->this_machine && run->given)
        argp_error(state, "--this-machine stands instead of files");
    if (!run->this_machine && !run->given)
        argp_error(state, "nothing to read");
    if (run->json && run->svg && strcmp(run->svg, "-") == 0)
        argp_error(state, "--json and --svg - both want standard output");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct run *run = state->input;
    struct inputs *in = &run->in;

    switch (key) {
    case KEY_MADT:
        inputs_add_table(in, ACPI_SIG_MADT, read_input(run, arg, state));
        break;
    case KEY_SRAT:
        inputs_add_table(in, ACPI_SIG_SRAT, read_input(run, arg, state));
        break;
    case KEY_SLIT:
        inputs_add_table(in, ACPI_SIG_SLIT, read_input(run, arg, state));
        break;
    case KEY_CPUID:
        once(&run->has_cpuid, "cpuid", state);
        inputs_add_cpuid(in, read_input(run, arg, state));
        break;
    case KEY_MEMMAP:
        once(&run->has_memmap, "memmap", state);
        inputs_add_memmap(in, read_input(run, arg, state));
        break;
    case KEY_ACPIDUMP:
        inputs_add_acpidump(in, read_input(run, arg, state));
        break;
    case KEY_THIS_MACHINE:
        run->this_machine = true;
        break;
    case KEY_OPTION:
        cmdline_parse(&in->options, arg, &in->warnings);
        break;
    case KEY_JSON:
        run->json = true;
        break;
    case KEY_SVG:
        run->svg = arg;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: files are given by options", arg);
        break;
    case ARGP_KEY_END:
        check_together(run, state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static bool write_svg(const struct run *run)
{
    FILE *file = fopen(run->svg, "w");

    if (!file) {
        perror(run->svg);
        return false;
    }
    print_svg(&run->machine, file);
    if (fclose(file) == 0)
        return true;
    perror(run->svg);
    return false;
}

static bool write_results(const struct run *run)
{
    bool svg_to_stdout = run->svg && strcmp(run->svg, "-") == 0;

    if (run->svg && !svg_to_stdout && !write_svg(run))
        return false;
    if (svg_to_stdout)
        print_svg(&run->machine, stdout);
    else if (run->json)
        print_json(&run->machine, stdout);
    else
        print_tree(&run->machine, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    perror("numen-topo: standard output");
    return false;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "Show what Numen would make of a machine: sockets, caches, cores, threads and NUMA "
               "nodes.\vFILE may be `-' for standard input. Exit status: 0, also with warnings; 1 "
               "if nothing given could be used; 2 usage. For instance:\n\n"
               "  sudo acpidump | numen-topo --acpidump -",
    };
    static struct run run = {.in.boot_apic_id = FW_APIC_ID_NONE};

    argp_err_exit_status = EXIT_USAGE;
    options_default(&run.in.options);
    argp_parse(&argp, argc, argv, 0, NULL, &run);
    if (run.this_machine)
        inputs_add_this_machine(&run.in);
    machine_build(&run.machine, &run.in);
    if (!write_results(&run))
        return EXIT_USAGE;
    return machine_is_known(&run.machine, &run.in) ? EXIT_GOOD : EXIT_NOTHING_USABLE;
}
