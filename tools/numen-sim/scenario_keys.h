/*
 * The tables behind a scenario's sections (scenario_keys.c), and whether what they were filled with
 * fits together (scenario_fit.c).
 */
#ifndef NUMEN_SIM_SCENARIO_KEYS_H
#define NUMEN_SIM_SCENARIO_KEYS_H

#include "tools/numen-sim/scenario.h"

extern const struct key run_keys[], machine_keys[], vm_keys[];

struct reader;
struct workload;

/*
 * Do the parts go together? False after a line that says what does not (scenario_fit.c). Options
 * that exclude each other are told as well, and what is done instead.
 */
bool scenario_fits(const struct reader *r);

/* Keys of a boot module's line: those that every workload heeds, by blanks; whether this one does;
 * the others, which a guest in the image has and a simulated one has no use for. */
extern const char guest_keys_used[];
bool guest_key_is_used(const char *name, const struct workload *w);
bool guest_key_is_idle(const char *name);

/* Does the option mean anything here? Else it is the image's alone. */
bool option_is_simulated(enum option_id id);

/* "500ms", "weight.web", "512": false when it is none of the known ones. */
bool action_parse(struct scenario_action *a, const char *time, const char *name, const char *value);

#endif
