/*
 * The machine as a picture, in the manner of lstopo: boxes in boxes, and a strip for the memory of
 * each node that has CPUs in a socket.
 *
 * One function measures a box from its contents and one draws it; both place the children by
 * place_children, so they cannot disagree. Children flow in rows that keep a box about twice as
 * wide as high. CPUs carry the colour of their node and a tooltip. Lengths are SVG pixels.
 */
#include "tools/numen-topo/topo.h"

#include <stdlib.h>

enum level { LEVEL_MACHINE, LEVEL_SOCKET, LEVEL_LLC, LEVEL_CORE, LEVEL_CPU };

enum {
    GAP = 6,
    TITLE = 18, /* height of a line of text */
    CPU_WIDTH = 48,
    CPU_HEIGHT = 24,
    TEXT_RISE = 5, /* from the bottom of a line to its text's */
    MACHINE_WIDTH = 420,
    SOCKET_WIDTH = 220,
    LLC_WIDTH = 60,
    CORE_WIDTH = 72,
};

static const int least_width[] = {MACHINE_WIDTH, SOCKET_WIDTH, LLC_WIDTH, CORE_WIDTH, CPU_WIDTH};
static const char *const fills[] = {"#ffffff", "#f0f0f0", "#fafaff", "#e0e0e0", NULL};
static const char *const node_colours[] = {"#a8d5a2", "#f6c28b", "#9fc5e8", "#e6a8d7",
                                           "#fff2a8", "#a2d9d9", "#d9b38c", "#c5b3e6"};

struct picture {
    const struct machine_view *m;
    const uint32_t *order;
    FILE *out;
};

/* A box and its CPUs, order[from..to). */
struct box {
    enum level level;
    uint32_t from, to;
};

struct extent {
    int width, height;
};

static struct extent measure(const struct picture *p, struct box box);
static void draw(const struct picture *p, struct box box, int x, int y);

static const char *colour_of(uint32_t node)
{
    return node_colours[node % (sizeof(node_colours) / sizeof(node_colours[0]))];
}

/* The child that begins at order[from]. */
static struct box child_at(const struct picture *p, struct box box, uint32_t from)
{
    static const enum group kinds[] = {GROUP_SOCKET, GROUP_LLC, GROUP_CORE, GROUP_CPU};
    uint32_t end = machine_group_end(p->m, p->order, from, box.to, kinds[box.level]);

    return (struct box){box.level + 1, from, end};
}

/* Whether `node` gets a strip in the box: a socket's own nodes, and those without CPUs below. */
static bool has_strip(const struct picture *p, struct box box, uint32_t node)
{
    if (box.level == LEVEL_MACHINE)
        return p->m->numa.node[node].ncpus == 0;
    for (uint32_t i = box.from; box.level == LEVEL_SOCKET && i < box.to; i++)
        if (p->m->places[p->order[i]].node == node)
            return true;
    return false;
}

static int strips_height(const struct picture *p, struct box box)
{
    int height = 0;

    for (uint32_t node = 0; node < p->m->numa.nnodes; node++)
        height += has_strip(p, box, node) ? TITLE + GAP : 0;
    return height;
}

/* Width to fill before a new row begins: that of a box twice as wide as high. */
static int wanted_width(const struct picture *p, struct box box)
{
    uint64_t area = 0, side = 1;

    for (uint32_t i = box.from; i < box.to;) {
        struct box child = child_at(p, box, i);
        struct extent e = measure(p, child);

        area += (uint64_t)(e.width + GAP) * (uint64_t)(e.height + GAP);
        i = child.to;
    }
    while (side * side < 2 * area)
        side++;
    return (int)side;
}

/* Places the children from (x, y) on, and draws them if told to. Returns what they take. */
static struct extent place_children(const struct picture *p, struct box box, int x, int y,
                                    bool show)
{
    int wanted = wanted_width(p, box), left = 0, top = 0, row = 0;
    struct extent all = {0, 0};

    for (uint32_t i = box.from; i < box.to;) {
        struct box child = child_at(p, box, i);
        struct extent e = measure(p, child);

        if (left && left + e.width > wanted) {
            top += row + GAP;
            left = row = 0;
        }
        if (show)
            draw(p, child, x + left, y + top);
        left += e.width + GAP;
        row = MAX(row, e.height);
        all.width = MAX(all.width, left - GAP);
        all.height = top + row;
        i = child.to;
    }
    return all;
}

static struct extent measure(const struct picture *p, struct box box)
{
    struct extent inner;

    if (box.level == LEVEL_CPU)
        return (struct extent){CPU_WIDTH, CPU_HEIGHT};
    inner = place_children(p, box, 0, 0, false);
    return (struct extent){MAX(inner.width + 2 * GAP, least_width[box.level]),
                           TITLE + strips_height(p, box) + inner.height + 2 * GAP};
}

static void draw_rect(const struct picture *p, int x, int y, struct extent e, const char *fill)
{
    fprintf(p->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, y,
            e.width, e.height, fill);
}

static void draw_cpu(const struct picture *p, struct box box, int x, int y)
{
    uint32_t cpu = p->order[box.from];
    const struct cpu_place *place = &p->m->places[cpu];

    fprintf(p->out, "<g%s><title>CPU %u, APIC id %u, node %u%s</title>\n",
            p->m->online[cpu] ? "" : " opacity=\"0.4\"", cpu, place->apic_id, place->node,
            p->m->online[cpu] ? "" : ", offline");
    draw_rect(p, x, y, (struct extent){CPU_WIDTH, CPU_HEIGHT}, colour_of(place->node));
    fprintf(p->out, "<text x=\"%d\" y=\"%d\">%u</text></g>\n", x + GAP,
            y + CPU_HEIGHT - TEXT_RISE - 2, cpu);
}

static void draw_title(const struct picture *p, struct box box, int x, int y)
{
    const struct topo_result *t = &p->m->topology;
    const struct cpu_place *place = &p->m->places[box.from < box.to ? p->order[box.from] : 0];

    fprintf(p->out, "<text x=\"%d\" y=\"%d\">", x + GAP, y + TITLE - TEXT_RISE);
    if (box.level == LEVEL_MACHINE)
        fprintf(p->out, "%u sockets, %u LLCs, %u cores, %u threads, %u nodes", t->sockets, t->llcs,
                t->cores, t->threads, p->m->numa.nnodes);
    else if (box.level == LEVEL_SOCKET)
        fprintf(p->out, "socket %u", place->socket);
    else if (box.level == LEVEL_LLC)
        fprintf(p->out, "LLC %u", place->llc);
    else
        fprintf(p->out, "core %u", place->core);
    fprintf(p->out, "</text>\n");
}

static void draw_strips(const struct picture *p, struct box box, int x, int y, int width)
{
    char text[TEXT_BYTES];

    for (uint32_t node = 0; node < p->m->numa.nnodes; node++) {
        if (!has_strip(p, box, node))
            continue;
        draw_rect(p, x, y, (struct extent){width, TITLE}, colour_of(node));
        fprintf(p->out, "<text x=\"%d\" y=\"%d\">node %u, %s</text>\n", x + GAP,
                y + TITLE - TEXT_RISE, node, format_bytes(text, p->m->numa.node[node].ram_bytes));
        y += TITLE + GAP;
    }
}

static void draw(const struct picture *p, struct box box, int x, int y)
{
    struct extent e = measure(p, box);

    if (box.level == LEVEL_CPU) {
        draw_cpu(p, box, x, y);
        return;
    }
    draw_rect(p, x, y, e, fills[box.level]);
    draw_title(p, box, x, y);
    draw_strips(p, box, x + GAP, y + TITLE, e.width - 2 * GAP);
    place_children(p, box, x + GAP, y + TITLE + strips_height(p, box) + GAP / 2, true);
}

void print_svg(const struct machine_view *m, FILE *out)
{
    uint32_t *order = machine_cpu_order(m);
    struct picture p = {m, order, out};
    struct box machine = {LEVEL_MACHINE, 0, m->ncpus};
    struct extent e = measure(&p, machine);

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<style>rect { stroke: #404040; }</style>\n",
            e.width + 2 * GAP, e.height + 2 * GAP);
    draw(&p, machine, GAP, GAP);
    fprintf(out, "</svg>\n");
    free(order);
}
