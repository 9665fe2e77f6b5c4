/*
 * stream: bandwidth of each vCPU to each node's memory, reading and copying.
 *
 * A guest has no tables that say where its nodes lie, so the nodes are given: nodes=N splits the
 * RAM below 4 GiB into N equal parts at multiples of 2 MiB, as Numen lays out virtual nodes. For
 * every part all vCPUs work at once, each on a buffer of its own there. Options: nodes=N (default
 * 1, at most 8), mb=N (MiB moved by each vCPU in each measurement; 16), buf=BYTES (buffer per vCPU;
 * default 1M, halved until all fit). Prints bytes per 1000 ticks.
 */
#include "tests/guests/rt/rt.h"

enum { NODES = 8, NODE_ALIGN = 2 * 1024 * 1024, BUFFER_LEAST = 4096 };

static uint64_t option_bytes, buffer_bytes;
static uint32_t nodes;
static uint8_t *buffers[NODES][RT_CPUS_MAX];
static uint64_t rates[RT_CPUS_MAX];

struct task {
    uint32_t node;
    bool copy;
};

static void read_all(const uint8_t *from, uint64_t bytes)
{
    const uint64_t *p = (const uint64_t *)from, *end = (const uint64_t *)(from + bytes);
    uint64_t a, b, c, d;

    for (; p < end; p += 8)
        asm volatile("mov (%4), %0\n\tmov 8(%4), %1\n\tmov 16(%4), %2\n\tmov 24(%4), %3\n\t"
                     "mov 32(%4), %0\n\tmov 40(%4), %1\n\tmov 48(%4), %2\n\tmov 56(%4), %3"
                     : "=&r"(a), "=&r"(b), "=&r"(c), "=&r"(d)
                     : "r"(p)
                     : "memory");
}

static void copy_half(uint8_t *buffer, uint64_t bytes)
{
    const uint64_t *from = (const uint64_t *)buffer;
    uint64_t count = bytes / 16;
    uint64_t *to = (uint64_t *)(buffer + bytes / 2);

    asm volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
}

static void stream_work(void *arg)
{
    const struct task *task = arg;
    uint32_t me = cpu_this()->index;
    uint8_t *buffer = buffers[task->node][me];
    uint64_t start = asm_rdtsc(), moved = 0, ticks;

    for (; moved < option_bytes; moved += buffer_bytes) {
        if (task->copy)
            copy_half(buffer, buffer_bytes); /* half read and half written: all bytes count once */
        else
            read_all(buffer, buffer_bytes);
    }
    ticks = asm_rdtsc() - start;
    rates[me] = moved * 1000 / MAX(ticks, 1);
}

static void stream_measure(uint32_t node, bool copy)
{
    struct task task = {node, copy};
    const char *name = copy ? "copy" : "read";
    uint64_t total = 0;

    smp_run_first(smp_count, stream_work, &task);
    for (uint32_t i = 0; i < smp_count; i++) {
        rt_printf("stream: %s node %u vCPU %u: %lu bytes per 1000 ticks\n", name, node, i,
                  rates[i]);
        total += rates[i];
    }
    rt_printf("STREAM {\"op\":\"%s\",\"node\":%u,\"vcpus\":%u,\"bytes_per_1000_ticks\":%lu}\n",
              name, node, smp_count, total);
}

/* False when not all buffers of this size fit; memory taken before stays lost. */
static bool buffers_take(uint64_t bytes)
{
    uint64_t top = mem_top();

    for (uint32_t n = 0; n < nodes; n++) {
        uint64_t low = ALIGN_DOWN(top / nodes * n, (uint64_t)NODE_ALIGN);
        uint64_t high =
            n + 1 == nodes ? top : ALIGN_DOWN(top / nodes * (n + 1), (uint64_t)NODE_ALIGN);

        for (uint32_t i = 0; i < smp_count; i++) {
            if (!buffers[n][i] || bytes > buffer_bytes)
                buffers[n][i] = mem_alloc_within(low, high, bytes, PAGE_BYTES);
            if (!buffers[n][i])
                return false;
        }
    }
    buffer_bytes = bytes;
    return true;
}

int guest_main(void)
{
    uint64_t bytes =
        ALIGN_UP(MAX(opt_u64("buf", MIB), (uint64_t)BUFFER_LEAST), (uint64_t)BUFFER_LEAST);

    nodes = (uint32_t)MIN(MAX(opt_u64("nodes", 1), 1), (uint64_t)NODES);
    option_bytes = MAX(opt_u64("mb", 16), 1) * MIB;
    while (!buffers_take(bytes)) {
        if (bytes == BUFFER_LEAST)
            rt_fail("a node has no room for the buffers");
        bytes = MAX(ALIGN_DOWN(bytes / 2, (uint64_t)BUFFER_LEAST), (uint64_t)BUFFER_LEAST);
    }
    rt_printf("stream: %u vCPUs, %u nodes, %lu bytes each, buffers of %lu bytes\n", smp_count,
              nodes, option_bytes, buffer_bytes);
    for (uint32_t n = 0; n < nodes; n++) {
        stream_measure(n, false);
        stream_measure(n, true);
    }
    return 0;
}
