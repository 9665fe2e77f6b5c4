/*
 * The parts of `topology --json` (see topology_json.h).
 *
 * Written once for the image and the host program, so that the two cannot come to differ. Decides
 * names and order of the members; what is written when, in which steps, is the caller's.
 */
#include "kernel/topology_json.h"

void topology_json_cpu(struct json *j, const struct cpu_place *place, bool online)
{
    json_begin_object(j, NULL);
    json_u64(j, "cpu", place->cpu);
    json_u64(j, "apic_id", place->apic_id);
    json_u64(j, "thread", place->thread);
    json_u64(j, "core", place->core);
    json_u64(j, "llc", place->llc);
    json_u64(j, "socket", place->socket);
    json_u64(j, "node", place->node);
    json_bool(j, "online", online);
    json_end_object(j);
}

void topology_json_counts(struct json *j, uint32_t sockets, uint32_t cores, uint32_t threads)
{
    json_u64(j, "sockets", sockets);
    json_u64(j, "cores", cores);
    json_u64(j, "threads", threads);
}

static void put_ranges(struct json *j, const struct numa *numa, uint32_t node)
{
    json_begin_array(j, "ranges");
    for (uint32_t i = 0; i < numa->nranges; i++) {
        if (numa->range[i].node != node)
            continue;
        json_begin_array(j, NULL);
        json_u64(j, NULL, numa->range[i].base);
        json_u64(j, NULL, numa->range[i].end - 1);
        json_end_array(j);
    }
    json_end_array(j);
}

void topology_json_node(struct json *j, const struct numa *numa, uint32_t node,
                        const struct cpu_place *places, uint32_t ncpus, uint64_t free_bytes)
{
    json_u64(j, "node", node);
    json_u64(j, "pxm", numa->node[node].pxm);
    json_begin_array(j, "cpus");
    for (uint32_t i = 0; i < ncpus; i++)
        if (places[i].node == node)
            json_u64(j, NULL, i);
    json_end_array(j);
    json_u64(j, "ram_bytes", numa->node[node].ram_bytes);
    json_u64(j, "free_bytes", free_bytes);
    put_ranges(j, numa, node);
}

void topology_json_distance(struct json *j, const struct numa *numa)
{
    json_begin_array(j, "distance");
    for (uint32_t from = 0; from < numa->nnodes; from++) {
        json_begin_array(j, NULL);
        for (uint32_t to = 0; to < numa->nnodes; to++)
            json_u64(j, NULL, numa_distance(numa, from, to));
        json_end_array(j);
    }
    json_end_array(j);
}

void topology_json_warnings(struct json *j, const struct fw_warnings *w)
{
    json_begin_array(j, "warnings");
    for (uint32_t i = 0; i < w->count; i++)
        json_string(j, NULL, w->text[i]);
    json_end_array(j);
}
