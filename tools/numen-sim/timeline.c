/*
 * The timeline of a run, as SVG.
 *
 * A strip a CPU, siblings close together, cores and sockets set apart; a VM has a hue, its vCPUs
 * shades of it. Each span carries a tooltip. Where there were more spans than record.c keeps, the
 * picture ends early and says so.
 */
#include "tools/numen-sim/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "hv/bits.h"
#include "tools/numen-sim/record.h"
#include "tools/numen-sim/sim.h"

enum {
    LEFT = 64,
    TOP = 40,
    WIDTH = 1200,
    STRIP = 14,
    CORE_GAP = 4,
    SOCKET_GAP = 10,
    LEGEND = 18,
};

static int strip_top(const struct sim *sim, uint32_t cpu)
{
    const struct cpu_place *place = &sim->places[cpu];

    return TOP + (int)cpu * STRIP + (int)place->core * CORE_GAP + (int)place->socket * SOCKET_GAP;
}

/* Golden angle: neighbours in number are far apart in hue. */
static uint32_t hue_of(const struct sim_vm *vm)
{
    return vm->id * 137 % 360;
}

static uint32_t lightness_of(const struct vcpu *v)
{
    return 45 + v->index * 7 % 35;
}

static ns_t picture_end(const struct sim *sim)
{
    const struct record *r = sim->record;

    return r->dropped ? r->spans[r->nspans - 1].from : sim->now;
}

static double x_of(const struct sim *sim, ns_t at)
{
    ns_t begin = SIM_BEGIN, end = picture_end(sim);

    at = MIN(at, end);
    return LEFT + (double)(at - begin) * WIDTH / (double)MAX(end - begin, 1u);
}

static void draw_span(const struct sim *sim, const struct record_span *s, FILE *out)
{
    double from = x_of(sim, s->from), to = x_of(sim, s->to);

    fprintf(out,
            "<rect x='%.2f' y='%d' width='%.2f' height='%d' fill='hsl(%u,65%%,%u%%)'>"
            "<title>%s/%u on CPU %u, %.3f to %.3f ms</title></rect>\n",
            from, strip_top(sim, s->cpu), to - from, STRIP - 2, hue_of(s->v->vm),
            lightness_of(s->v), s->v->vm->name, s->v->index, s->cpu,
            (double)(s->from - SIM_BEGIN) / 1e6,
            (double)(MIN(s->to, picture_end(sim)) - SIM_BEGIN) / 1e6);
}

static void draw_axis(const struct sim *sim, int bottom, FILE *out)
{
    double ms = (double)(picture_end(sim) - SIM_BEGIN) / 1e6;

    for (int i = 0; i <= 10; i++) {
        int x = LEFT + WIDTH * i / 10;

        fprintf(out,
                "<line x1='%d' y1='%d' x2='%d' y2='%d' stroke='#ccc'/>"
                "<text x='%d' y='%d' text-anchor='middle'>%.4g ms</text>\n",
                x, TOP - 4, x, bottom, x, TOP - 8, ms * i / 10);
    }
    for (uint32_t cpu = 0; cpu < sim->ncpus; cpu++)
        fprintf(out, "<text x='%d' y='%d' text-anchor='end'>CPU %u</text>\n", LEFT - 6,
                strip_top(sim, cpu) + STRIP - 4, cpu);
}

static void draw_legend(const struct sim *sim, int y, FILE *out)
{
    for (uint32_t i = 0; i < sim->nvms; i++)
        fprintf(out,
                "<rect x='%d' y='%d' width='12' height='12' fill='hsl(%u,65%%,55%%)'/>"
                "<text x='%d' y='%d'>%s</text>\n",
                LEFT + (int)(i % 8) * 150, y + (int)(i / 8) * LEGEND, hue_of(&sim->vms[i]),
                LEFT + (int)(i % 8) * 150 + 16, y + (int)(i / 8) * LEGEND + 10, sim->vms[i].name);
}

/* Names of VMs are letters and digits, but a path may be anything. */
static void draw_escaped(const char *text, FILE *out)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || strchr("<>&'\"", *text))
            fprintf(out, "&#%u;", (unsigned char)*text < ' ' ? '?' : (unsigned)*text);
        else
            fputc(*text, out);
}

static void draw_title(const struct sim *sim, FILE *out)
{
    fprintf(out, "<text x='%d' y='14' font-size='13'>", LEFT);
    draw_escaped(sim->scenario->path, out);
    fprintf(out, ": simulated%s</text>\n",
            sim->record->dropped ? ", cut where there was too much to draw" : "");
}

void timeline_draw(const struct sim *sim, FILE *out)
{
    const struct record *r = sim->record;
    int bottom = strip_top(sim, sim->ncpus - 1) + STRIP;
    int height = bottom + LEGEND * (int)(sim->nvms / 8 + 2);

    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
            "font-family='sans-serif' font-size='10'>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            LEFT + WIDTH + 40, height);
    draw_title(sim, out);
    draw_axis(sim, bottom, out);
    for (uint32_t i = 0; i < r->nspans; i++)
        draw_span(sim, &r->spans[i], out);
    draw_legend(sim, bottom + 8, out);
    fprintf(out, "</svg>\n");
}
