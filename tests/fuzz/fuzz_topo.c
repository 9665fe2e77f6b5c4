/*
 * numen-topo's readers of text (acpidump, CPUID, memory map), and the machine built from what they
 * read. The first byte chooses the reader, and numa= of the machine.
 */
#include "fuzz.h"

#include "boot/cmdline.h"
#include "tools/numen-topo/topo.h"

static void check(const struct machine_view *m)
{
    FUZZ_CHECK(m->ncpus <= CPUS_MAX && m->numa.nnodes >= 1 && m->numa.nnodes <= NODES_MAX);
    for (uint32_t i = 0; i < m->ncpus; i++) {
        FUZZ_CHECK(m->places[i].node < m->numa.nnodes);
        FUZZ_CHECK(m->places[i].socket < m->topology.sockets);
        FUZZ_CHECK(m->places[i].core < m->topology.cores);
        FUZZ_CHECK(m->places[i].llc < m->topology.llcs);
    }
}

static void release(struct machine_view *m, struct inputs *in)
{
    for (uint32_t i = 0; i < in->tables.count; i++)
        free(in->bytes[i].data);
    for (uint32_t i = 0; i < in->dumps.count; i++)
        free(in->dumps.cpus[i].entries);
    free(in->dumps.cpus);
    free(in->map.ranges);
    free(m->madt.cpus);
    free(m->srat.cpus);
    free(m->srat.mem);
    free(m->places);
    free(m->online);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct inputs in;
    static struct machine_view machine;
    static FILE *nowhere;
    struct file_bytes text;

    if (bytes < 1)
        return 0;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    FUZZ_CHECK(nowhere);
    memset(&in, 0, sizeof(in));
    memset(&machine, 0, sizeof(machine));
    in.boot_apic_id = FW_APIC_ID_NONE;
    options_default(&in.options);
    in.options.numa.word = data[0] >> 2 & 3;
    in.options.numa.number = 1 + (data[0] >> 4);
    text = (struct file_bytes){malloc(bytes), bytes - 1};
    FUZZ_CHECK(text.data);
    memcpy(text.data, data + 1, bytes - 1);
    text.data[bytes - 1] = 0;
    if ((data[0] & 3) == 0)
        inputs_add_acpidump(&in, text);
    else if ((data[0] & 3) == 1)
        inputs_add_cpuid(&in, text);
    else
        inputs_add_memmap(&in, text);
    machine_build(&machine, &in);
    check(&machine);
    print_json(&machine, nowhere);
    print_tree(&machine, nowhere);
    release(&machine, &in);
    return 0;
}
