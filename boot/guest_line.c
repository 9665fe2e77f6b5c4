/*
 * The line of a boot module that is a guest:
 *   FILE name=web vcpus=4 memory=256M [key=value...] -- guest command line
 *
 * Decides spelling, ranges and defaults, and that sockets * cores * threads is the number of vCPUs.
 * Does not know the machine: whether there is such a CPU, node or that much memory is the VM
 * builder's to find out. Invariants: on success every string is terminated, vcpus is 1 to
 * GUEST_VCPUS_MAX, every range ascends. The words up to "--" are unquoted; the guest's command line
 * behind it is copied as it stands.
 */
#include "boot/guest_line.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "boot/token.h"
#include "boot/warn.h"
#include "hv/text.h"

#define WORD_CHARS     256
#define MEMORY_DEFAULT (64 * MIB)
#define MEMORY_MIN     (2 * MIB)
#define MEMORY_MAX     BIT(46)
#define WEIGHT_DEFAULT 256

typedef int key_setter(struct guest_config *c, const char *value);

static int set_count(const char *value, uint64_t min, uint64_t max, uint32_t *out)
{
    uint64_t v;
    int err = token_number(value, &v);

    if (err)
        return err;
    if (v < min || v > max)
        return -ERANGE;
    *out = (uint32_t)v;
    return 0;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static int set_name_field(const char *value, char *out)
{
    size_t n = strlen(value);

    if (n == 0)
        return -EINVAL;
    if (n >= GUEST_NAME_CHARS)
        return -ERANGE;
    for (size_t i = 0; i < n; i++)
        if (!is_name_char(value[i]))
            return -EINVAL;
    memcpy(out, value, n + 1);
    return 0;
}

/* Takes "N" or "N-M" from *text, up to a comma or the end. */
static int read_range(const char **text, uint32_t max, struct guest_range *range)
{
    char part[24];
    const char *comma = strchr(*text, ',');
    size_t n = comma ? (size_t)(comma - *text) : strlen(*text);
    char *dash;
    int err;

    if (n >= sizeof(part))
        return -EINVAL;
    memcpy(part, *text, n);
    part[n] = 0;
    *text += n;
    dash = strchr(part, '-');
    if (dash)
        *dash++ = 0;
    err = set_count(part, 0, max, &range->first);
    if (!err)
        err = set_count(dash ? dash : part, 0, max, &range->last);
    if (!err && range->last < range->first)
        err = -EINVAL;
    return err;
}

static int set_ranges(const char *value, uint32_t max, struct guest_ranges *out)
{
    out->count = 0;
    for (;; value++) {
        int err;

        if (out->count == GUEST_RANGES_MAX)
            return -ERANGE;
        err = read_range(&value, max, &out->range[out->count]);
        if (err)
            return err;
        out->count++;
        if (!*value)
            return 0;
    }
}

static int set_name(struct guest_config *c, const char *value)
{
    return set_name_field(value, c->name);
}

static int set_initrd(struct guest_config *c, const char *value)
{
    return set_name_field(value, c->initrd);
}

static int set_vcpus(struct guest_config *c, const char *value)
{
    return set_count(value, 1, GUEST_VCPUS_MAX, &c->vcpus);
}

static int set_memory(struct guest_config *c, const char *value)
{
    uint64_t bytes;
    int err = token_bytes(value, &bytes);

    if (err)
        return err;
    if (bytes < MEMORY_MIN || bytes > MEMORY_MAX)
        return -ERANGE;
    c->memory_bytes = ALIGN_UP(bytes, PAGE_BYTES);
    return 0;
}

static int set_weight(struct guest_config *c, const char *value)
{
    return set_count(value, 1, GUEST_WEIGHT_MAX, &c->weight);
}

static int set_cap(struct guest_config *c, const char *value)
{
    return set_count(value, 0, GUEST_CAP_MAX, &c->cap);
}

static int set_cpus(struct guest_config *c, const char *value)
{
    return set_ranges(value, CPUS_MAX - 1, &c->cpus);
}

static int set_nodes(struct guest_config *c, const char *value)
{
    return set_ranges(value, NODES_MAX - 1, &c->nodes);
}

static int set_sockets(struct guest_config *c, const char *value)
{
    return set_count(value, 1, GUEST_VCPUS_MAX, &c->sockets);
}

static int set_cores(struct guest_config *c, const char *value)
{
    return set_count(value, 1, GUEST_VCPUS_MAX, &c->cores);
}

static int set_threads(struct guest_config *c, const char *value)
{
    return set_count(value, 1, 2, &c->threads);
}

static int set_l3(struct guest_config *c, const char *value)
{
    return token_bool(value, &c->l3_cache);
}

static int set_autostart(struct guest_config *c, const char *value)
{
    return token_bool(value, &c->autostart);
}

static const struct {
    const char *name;
    uint32_t bits;
} pv_names[] = {
    {"kvmclock", GUEST_PV_KVMCLOCK}, {"nodelay", GUEST_PV_NODELAY}, {"steal", GUEST_PV_STEAL},
    {"unhalt", GUEST_PV_UNHALT},     {"tlb", GUEST_PV_TLB},         {"ipi", GUEST_PV_IPI},
    {"yield", GUEST_PV_YIELD},
};

static uint32_t pv_bits(const char *name, size_t length)
{
    for (size_t i = 0; i < ARRAY_SIZE(pv_names); i++)
        if (strlen(pv_names[i].name) == length && memcmp(pv_names[i].name, name, length) == 0)
            return pv_names[i].bits;
    return 0;
}

static int set_pv(struct guest_config *c, const char *value)
{
    uint32_t mask = 0;
    bool on;

    if (token_bool(value, &on) == 0) {
        c->pv = on ? (uint32_t)GUEST_PV_ALL : 0;
        return 0;
    }
    for (;; value++) {
        const char *comma = strchr(value, ',');
        size_t n = comma ? (size_t)(comma - value) : strlen(value);
        uint32_t bits = pv_bits(value, n);

        if (!bits)
            return -EINVAL;
        mask |= bits;
        value += n;
        if (!*value)
            break;
    }
    c->pv = mask;
    return 0;
}

static const struct guest_key {
    const char *name;
    key_setter *set;
    const char *form; /* told when the value is refused */
} guest_keys[] = {
    {"name", set_name, "1 to 31 letters, digits, or any of - _ ."},
    {"vcpus", set_vcpus, "1 to 255"},
    {"memory", set_memory, "2M or more, such as 256M"},
    {"weight", set_weight, "1 to 65535"},
    {"cap", set_cap, "per cent of one CPU, at most 100 for each vCPU; 0: none"},
    {"cpus", set_cpus, "at most 16 ranges of CPUs, such as 0-3,8"},
    {"nodes", set_nodes, "at most 16 ranges of nodes, such as 0-1"},
    {"sockets", set_sockets, "1 to 255"},
    {"cores", set_cores, "1 to 255"},
    {"threads", set_threads, "1 or 2"},
    {"l3-cache", set_l3, "on or off"},
    {"pv", set_pv, "on, off, or some of kvmclock,nodelay,steal,unhalt,tlb,ipi,yield"},
    {"initrd", set_initrd, "the name of another module"},
    {"autostart", set_autostart, "on or off"},
};

__attribute__((format(printf, 3, 4))) static int fail(struct guest_line_error *error, size_t offset,
                                                      const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    text_vformat(error->text, sizeof(error->text), fmt, args);
    va_end(args);
    error->offset = offset;
    return -EINVAL;
}

/* The module's file name without folder and suffix serves as name where there is no name=. */
static void name_from_file(const char *file, char *name)
{
    const char *base = file, *dot = NULL;
    size_t n;

    for (const char *at = file; *at; at++)
        if (*at == '/')
            base = at + 1;
    for (const char *at = base; *at; at++)
        if (*at == '.' && at != base)
            dot = at;
    n = dot ? (size_t)(dot - base) : strlen(base);
    n = MIN(n, (size_t)GUEST_NAME_CHARS - 1);
    for (size_t i = 0; i < n; i++)
        name[i] = is_name_char(base[i]) ? base[i] : '_';
    name[n] = 0;
}

static int read_word(struct guest_config *c, char *word, size_t offset,
                     struct guest_line_error *error, struct fw_warnings *w)
{
    char *equals = strchr(word, '=');

    if (!equals) {
        if (offset == 0)
            name_from_file(word, c->name);
        else
            boot_warn(w, "guest %s: word %s is unknown; ignored", c->name, word);
        return 0;
    }
    *equals = 0;
    for (size_t i = 0; i < ARRAY_SIZE(guest_keys); i++) {
        const struct guest_key *key = &guest_keys[i];

        if (strcmp(word, key->name) != 0)
            continue;
        if (key->set(c, equals + 1) == 0)
            return 0;
        return fail(error, offset, "guest %s: %s=%s must be %s", c->name, word, equals + 1,
                    key->form);
    }
    boot_warn(w, "guest %s: key %s is unknown; ignored", c->name, word);
    return 0;
}

/* Fills in what was not given, so that sockets * cores * threads == vcpus. */
static int complete_topology(struct guest_config *c, struct guest_line_error *error)
{
    uint32_t threads = c->threads ? c->threads : 1;
    uint32_t sockets = c->sockets ? c->sockets : 1;
    uint32_t cores = c->cores;

    if (!c->vcpus)
        c->vcpus = MIN(sockets * (cores ? cores : 1) * threads, GUEST_VCPUS_MAX + 1);
    if (!cores)
        cores = MAX(c->vcpus / (sockets * threads), 1u);
    else if (!c->sockets)
        sockets = MAX(c->vcpus / (cores * threads), 1u);
    if (sockets * cores * threads != c->vcpus || c->vcpus > GUEST_VCPUS_MAX)
        return fail(error, 0, "guest %s: %u sockets of %u cores of %u threads are not %u vCPUs",
                    c->name, sockets, cores, threads, c->vcpus);
    c->sockets_given = c->sockets || c->cores;
    c->sockets = sockets;
    c->cores = cores;
    c->threads = threads;
    return 0;
}

/* More than all vCPUs together can use is a mistake, most likely one for another VM. */
static int check_cap(const struct guest_config *c, struct guest_line_error *error)
{
    if (c->cap > 100 * c->vcpus)
        return fail(error, 0, "guest %s: cap=%u: its vCPUs cannot use more than %u", c->name,
                    c->cap, 100 * c->vcpus);
    return 0;
}

static int copy_cmdline(struct guest_config *c, const char *from, size_t offset,
                        struct guest_line_error *error)
{
    size_t n;

    while (*from == ' ')
        from++;
    n = strlen(from);
    if (n >= GUEST_CMDLINE_CHARS)
        return fail(error, offset, "guest %s: its command line is longer than %u", c->name,
                    GUEST_CMDLINE_CHARS - 1);
    memcpy(c->cmdline, from, n + 1);
    return 0;
}

int guest_line_parse(const char *line, struct guest_config *config, struct guest_line_error *error,
                     struct fw_warnings *w)
{
    const char *at = line;
    char word[WORD_CHARS];
    size_t offset = 0;
    bool cut;
    int err = 0;

    memset(config, 0, sizeof(*config));
    config->memory_bytes = MEMORY_DEFAULT;
    config->weight = WEIGHT_DEFAULT;
    config->pv = (uint32_t)GUEST_PV_ALL;
    config->autostart = true;
    while (!err && token_next(&at, word, sizeof(word), &cut)) {
        if (strcmp(word, "--") == 0) {
            err = copy_cmdline(config, at, (size_t)(at - line), error);
            break;
        }
        if (cut)
            return fail(error, offset, "guest %s: too long: %s", config->name, word);
        err = read_word(config, word, offset, error, w);
        offset = (size_t)(at - line) + token_blanks(at);
    }
    if (!err)
        err = complete_topology(config, error);
    return err ? err : check_cap(config, error);
}
