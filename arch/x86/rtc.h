/* The wall clock at boot. See rtc.c. */
#ifndef ARCH_X86_RTC_H
#define ARCH_X86_RTC_H

#include "hv/types.h"

/* Reads the CMOS clock once, on the boot CPU. */
void rtc_init(void);

/* Seconds since 1970-01-01 UTC when arch_now() was 0; 0 when there is no such clock. */
uint64_t rtc_boot_seconds(void);

#endif
