/*
 * Prints docs/parameters.md from the option table (hv/options.h), so that the page cannot say
 * anything else than the parser does. `make docs` calls it, `make check` compares.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/cmdline.h"
#include "hv/guest_config.h"
#include "sched/sched.h"

static const char *const kind_names[] = {
    [OPTION_KIND_BOOL] = "on or off",
    [OPTION_KIND_TEXT] = "text",
};

/* "off on fake= x" as `off`, `on`, `fake=<n>`, `x`. */
static void print_words(const struct option_desc *d)
{
    const char *at = d->words;

    while (*at) {
        int n = (int)strcspn(at, " ");

        printf("`%.*s%s`", n, at, at[n - 1] == '=' ? "<n>" : "");
        at += n + (at[n] == ' ');
        if (*at)
            printf(", ");
    }
}

static void print_form(const struct option_desc *d)
{
    if (d->kind == OPTION_KIND_WORD)
        print_words(d);
    else if (d->kind == OPTION_KIND_UINT)
        printf("%llu to %llu", (unsigned long long)d->min, (unsigned long long)d->max);
    else
        printf("%s", kind_names[d->kind]);
}

static void print_options(void)
{
    struct options defaults;

    options_default(&defaults);
    for (uint32_t id = 0; id < OPTION_COUNT; id++) {
        const struct option_desc *d = &option_table[id];
        char value[OPTION_TEXT_CHARS];

        option_format(&defaults, (enum option_id)id, value, sizeof(value));
        printf("| `%s` | ", d->name);
        print_form(d);
        printf(" | `%s` | %s | %s |\n", value, d->when == OPTION_WHEN_RUNTIME ? "yes" : "",
               d->help);
    }
}

/* What a preset changes, as the options that would do the same. */
static void print_preset(const char *name)
{
    struct options defaults, preset;
    struct sched_params params;
    const char *between = "";

    options_default(&defaults);
    preset = defaults;
    if (sched_params_preset(&params, name))
        abort();
    sched_params_show(&params, &preset);
    printf("`sched_preset=%s`: ", name);
    for (uint32_t id = 0; id < OPTION_COUNT; id++) {
        char was[OPTION_TEXT_CHARS], is[OPTION_TEXT_CHARS];

        option_format(&defaults, (enum option_id)id, was, sizeof(was));
        option_format(&preset, (enum option_id)id, is, sizeof(is));
        if (strcmp(was, is) == 0)
            continue;
        printf("%s`%s=%s`", between, option_table[id].name, is);
        between = ", ";
    }
    printf("; an option that is given by name wins.\n");
}

int main(void)
{
    printf("# Command line\n\n"
           "Generated from `include/hv/options.h` by `tools/gen_parameters.c`; do not edit.\n\n"
           "Options are `name=value`; a switch may be written `name` (on) or `no-name` (off). `-` "
           "and\n"
           "`_` in names are the same. Names are Xen's where the meaning is equal. Of repeated "
           "options\n"
           "the last counts; an unknown or malformed one is named in a warning and ignored. Those "
           "marked\n"
           "*running* can be changed on the console with `param`.\n\n"
           "| option | values | default | running | meaning |\n"
           "|---|---|---|---|---|\n");
    print_options();
    printf("\n## Presets\n\n");
    print_preset("credit2-2016");
    printf("\n## Guests\n\n"
           "A guest is a boot module whose line reads\n\n"
           "    FILE name=web vcpus=4 memory=256M [key=value...] -- guest command line\n\n"
           "| key | values | default |\n"
           "|---|---|---|\n"
           "| `name` | up to %d letters, digits, `-`, `_`, `.` | FILE without folder and suffix |\n"
           "| `vcpus` | 1 to %u | 1, or sockets x cores x threads |\n"
           "| `memory` | 2M or more | 64M |\n"
           "| `weight` | 1 to %u | 256 |\n"
           "| `cap` | per cent of one CPU, at most 100 for each vCPU; 0: none | 0 |\n"
           "| `cpus` | CPUs it may run on, such as `0-3,8` | all |\n"
           "| `nodes` | nodes its memory comes from, such as `0-1` | chosen by placement |\n"
           "| `sockets`, `cores`, `threads` | what it sees; the product is `vcpus` | a socket for "
           "each "
           "home node, if these have equally many vCPUs, else one |\n"
           "| `l3-cache` | on, off | off |\n"
           "| `pv` | on, off, or some of kvmclock,nodelay,steal,unhalt,tlb,ipi,yield | on |\n"
           "| `initrd` | name of another module, handed to the guest | none |\n"
           "| `autostart` | on, off | on |\n",
           GUEST_NAME_CHARS - 1, GUEST_VCPUS_MAX, GUEST_WEIGHT_MAX);
    return 0;
}
