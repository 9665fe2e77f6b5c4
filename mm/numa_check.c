/*
 * CPUID's cores and sockets held against the firmware's nodes.
 *
 * Two tables that know nothing of each other describe the same CPUs. A node that spans sockets and
 * a socket over several nodes are both normal, and say nothing; a core in two nodes, or a socket
 * and a node that each hold only a part of the other, mean that one of the tables is wrong. Which
 * one cannot be known, so both are used as they are and a line says so. Does not look at nodes that
 * the user asked for (numa=off, numa=fake=): those follow no hardware.
 */
#include "mm/numa.h"
#include "mm/numa_impl.h"

#define UNSEEN  UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

static void note_seen(uint32_t *seen, uint32_t what)
{
    *seen = *seen == UNSEEN || *seen == what ? what : SEVERAL;
}

/* Every core has a thread 0, whose CPU is noted by core. */
static void check_cores(const struct cpu_place places[], uint32_t n, uint32_t first[],
                        struct fw_warnings *w)
{
    uint32_t torn = 0, cpu = 0;

    for (uint32_t i = 0; i < n; i++)
        if (places[i].thread == 0)
            first[places[i].core] = i;
    for (uint32_t i = n; i-- > 0;)
        if (places[first[places[i].core]].node != places[i].node) {
            torn++;
            cpu = i;
        }
    if (torn)
        numa_warn(w,
                  "SRAT: %u CPUs are in another node than their core: CPU %u in %u, CPU %u in %u",
                  torn, first[places[cpu].core], places[first[places[cpu].core]].node, cpu,
                  places[cpu].node);
}

static void check_sockets(const struct cpu_place places[], uint32_t n, uint32_t node_of[],
                          struct fw_warnings *w)
{
    uint32_t socket_of[NODES_MAX];

    for (uint32_t i = 0; i < n; i++)
        node_of[places[i].socket] = UNSEEN;
    for (uint32_t i = 0; i < NODES_MAX; i++)
        socket_of[i] = UNSEEN;
    for (uint32_t i = 0; i < n; i++) {
        note_seen(&node_of[places[i].socket], places[i].node);
        note_seen(&socket_of[places[i].node], places[i].socket);
    }
    for (uint32_t i = 0; i < n; i++)
        if (node_of[places[i].socket] == SEVERAL && socket_of[places[i].node] == SEVERAL) {
            numa_warn(w, "socket %u (CPUID) and node %u (SRAT) each hold a part of the other",
                      places[i].socket, places[i].node);
            return;
        }
}

void numa_check_places(const struct cpu_place places[], uint32_t n, enum option_numa mode,
                       uint32_t scratch[], struct fw_warnings *w)
{
    if (mode != NUMA_ON)
        return;
    check_cores(places, n, scratch, w);
    check_sockets(places, n, scratch, w);
}
