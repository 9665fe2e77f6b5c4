/* Memory of the simulator itself: zeroed, and the program ends where there is none. */
#ifndef NUMEN_SIM_MEMORY_H
#define NUMEN_SIM_MEMORY_H

#include <stddef.h>

void *sim_alloc(size_t count, size_t bytes);
void *sim_alloc_aligned(size_t alignment, size_t bytes);

#endif
