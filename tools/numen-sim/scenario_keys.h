/*
 * The tables behind a scenario's sections (scenario_keys.c), and whether what they were filled with
 * fits together (scenario_fit.c).
 */
#ifndef NUMEN_SIM_SCENARIO_KEYS_H
#define NUMEN_SIM_SCENARIO_KEYS_H

#include "tools/numen-sim/scenario.h"

extern const struct key run_keys[], machine_keys[], vm_keys[];

#define SCENARIO_FAULT_CHARS 256u

/* Else `fault`, of SCENARIO_FAULT_CHARS, says why there is no such machine. */
bool scenario_machine_fits(const struct scenario *s, char *fault);

/* -1, or the line that asks for what is not there, and `fault` says what. */
int scenario_parts_fit(const struct scenario *s, char *fault);

/* Is `name` a key of a boot module's line? */
bool guest_has_key(const char *name);

/* Does the option mean anything here? Else it is the image's alone. */
bool option_is_simulated(enum option_id id);

/* "500ms", "weight.web", "512": false when it is none of the known ones. */
bool action_parse(struct scenario_action *a, const char *time, const char *name, const char *value);

#endif
