/* Who ran where, as a picture: CPUs down, time across, a colour a VM. See timeline.c. */
#ifndef NUMEN_SIM_TIMELINE_H
#define NUMEN_SIM_TIMELINE_H

#include <stdio.h>

struct sim;

/* The spans that sim->record kept. */
void timeline_draw(const struct sim *sim, FILE *out);

#endif
