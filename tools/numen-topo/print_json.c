/*
 * The machine as one line of JSON.
 *
 * First the members that the console's `topology --json` has, written by the same code
 * (kernel/topology_json.c); then the tables as they were read, used or not. Nothing
 * is in use here, so a node's free_bytes are its ram_bytes.
 */
#include "tools/numen-topo/topo.h"

#include "kernel/json.h"
#include "kernel/topology_json.h"

static void put_to_file(void *ctx, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, ctx);
}

static void put_nodes(struct json *j, const struct machine_view *m)
{
    json_begin_array(j, "nodes");
    for (uint32_t node = 0; node < m->numa.nnodes; node++) {
        json_begin_object(j, NULL);
        topology_json_node(j, &m->numa, node, m->places, m->ncpus, m->numa.node[node].ram_bytes);
        json_end_object(j);
    }
    json_end_array(j);
}

static void put_madt(struct json *j, const struct madt_info *madt)
{
    json_begin_object(j, "madt");
    json_begin_array(j, "entries");
    for (uint32_t i = 0; i < madt->ncpus; i++) {
        const struct madt_cpu *cpu = &madt->cpus[i];

        json_begin_object(j, NULL);
        json_string(j, "kind", cpu->kind == FW_CPU_X2APIC ? "x2apic" : "lapic");
        json_u64(j, "uid", cpu->uid);
        json_u64(j, "apic_id", cpu->apic_id);
        json_u64(j, "flags", cpu->flags);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static void put_srat(struct json *j, const struct srat_info *srat)
{
    json_begin_object(j, "srat");
    json_begin_array(j, "cpus");
    for (uint32_t i = 0; i < srat->ncpus; i++) {
        json_begin_object(j, NULL);
        json_u64(j, "apic_id", srat->cpus[i].apic_id);
        json_u64(j, "pxm", srat->cpus[i].pxm);
        json_u64(j, "flags", srat->cpus[i].flags);
        json_end_object(j);
    }
    json_end_array(j);
    json_begin_array(j, "mem");
    for (uint32_t i = 0; i < srat->nmem; i++) {
        json_begin_object(j, NULL);
        json_u64(j, "pxm", srat->mem[i].pxm);
        json_u64(j, "base", srat->mem[i].base);
        json_u64(j, "length", srat->mem[i].length);
        json_u64(j, "flags", srat->mem[i].flags);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static void put_slit(struct json *j, const struct slit_info *slit)
{
    json_begin_array(j, "slit");
    for (uint32_t from = 0; from < slit->n; from++) {
        json_begin_array(j, NULL);
        for (uint32_t to = 0; to < slit->n; to++)
            json_u64(j, NULL, slit->rows[(size_t)from * slit->n + to]);
        json_end_array(j);
    }
    json_end_array(j);
}

void print_json(const struct machine_view *m, FILE *out)
{
    struct json j;

    json_init(&j, put_to_file, out);
    json_begin_object(&j, NULL);
    json_begin_array(&j, "cpus");
    for (uint32_t i = 0; i < m->ncpus; i++)
        topology_json_cpu(&j, &m->places[i], m->online[i]);
    json_end_array(&j);
    topology_json_counts(&j, m->topology.sockets, m->topology.cores, m->topology.threads);
    put_nodes(&j, m);
    topology_json_distance(&j, &m->numa);
    topology_json_warnings(&j, m->warnings);
    put_madt(&j, &m->madt);
    put_srat(&j, &m->srat);
    put_slit(&j, &m->slit);
    json_end_object(&j);
    fputc('\n', out);
}
