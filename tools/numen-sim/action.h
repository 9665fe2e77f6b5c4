/* What a scenario does to the machine while it runs. See action.c. */
#ifndef NUMEN_SIM_ACTION_H
#define NUMEN_SIM_ACTION_H

#include "tools/numen-sim/sim.h"

/* How many events the actions of a scenario need at most. */
uint32_t actions_count(const struct scenario *scenario);

/* Puts all of them into the simulation's events: starts of VMs and the end of the warm-up too. */
void actions_plan(struct sim *sim);
void actions_free(struct sim *sim);
void action_do(struct sim *sim, struct event *e);

#endif
