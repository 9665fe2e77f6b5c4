/*
 * What the device models of a VM ask of whoever hosts them. `host` is the pointer given to
 * vmm_init.
 */
#ifndef VMM_VMM_HOST_H
#define VMM_VMM_HOST_H

#include "hv/types.h"

/* Bytes that the guest sent out of its serial port. */
void vmm_host_console(void *host, const char *bytes, size_t n);

/* The guest wrote its exit code: it is to run no further. */
void vmm_host_exit(void *host, uint8_t code);

#endif
