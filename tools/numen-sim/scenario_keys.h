/* The tables behind a scenario's sections. See scenario_keys.c. */
#ifndef NUMEN_SIM_SCENARIO_KEYS_H
#define NUMEN_SIM_SCENARIO_KEYS_H

#include "tools/numen-sim/scenario.h"

extern const struct key run_keys[], machine_keys[], vm_keys[];

/* NULL, or why there is no such machine. */
const char *machine_config_fault(const struct machine_config *m);

/* Is `name` a key of a boot module's line? */
bool guest_has_key(const char *name);

/* "500ms", "weight.web", "512": false when it is none of the known ones. */
bool action_parse(struct scenario_action *a, const char *time, const char *name, const char *value);

#endif
