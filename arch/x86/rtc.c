/*
 * The CMOS real-time clock, read once at boot for the guests' wall clock.
 *
 * The clock may be absent: every wait is bounded, and values that are no date give 0,
 * which is 1970. The century register is not standard; years are taken as 2000 to 2099. Source:
 * MC146818 data sheet; the register numbers are those of the PC/AT.
 */
#include "arch/x86/rtc.h"

#include "arch/x86/asm.h"
#include "hv/bits.h"
#include "kernel/arch.h"

#define RTC_INDEX_PORT 0x70
#define RTC_DATA_PORT  0x71

enum rtc_reg {
    RTC_SECONDS = 0,
    RTC_MINUTES = 2,
    RTC_HOURS = 4,
    RTC_DAY = 7,
    RTC_MONTH = 8,
    RTC_YEAR = 9,
    RTC_STATUS_A = 10,
    RTC_STATUS_B = 11
};

#define RTC_A_UPDATING BIT(7)
#define RTC_B_BINARY   BIT(2)
#define RTC_B_24_HOURS BIT(1)
#define RTC_HOUR_PM    BIT(7)

#define RTC_READS_MAX  10000 /* polls of the update flag; an update takes 2 ms */

struct rtc_time {
    uint32_t second, minute, hour, day, month, year;
};

static uint64_t boot_seconds; /* [i] */

static uint8_t rtc_read(uint8_t reg)
{
    asm_outb(RTC_INDEX_PORT, reg);
    return asm_inb(RTC_DATA_PORT);
}

static uint32_t rtc_number(uint8_t raw, bool binary)
{
    return binary ? raw : (raw & 0xfu) + (raw >> 4) * 10u;
}

static void rtc_read_time(struct rtc_time *t)
{
    uint8_t mode = rtc_read(RTC_STATUS_B);
    bool binary = mode & RTC_B_BINARY;
    uint8_t hour = rtc_read(RTC_HOURS);

    t->second = rtc_number(rtc_read(RTC_SECONDS), binary);
    t->minute = rtc_number(rtc_read(RTC_MINUTES), binary);
    t->hour = rtc_number(hour & (uint8_t)~RTC_HOUR_PM, binary);
    if (!(mode & RTC_B_24_HOURS))
        t->hour = t->hour % 12 + (hour & RTC_HOUR_PM ? 12 : 0);
    t->day = rtc_number(rtc_read(RTC_DAY), binary);
    t->month = rtc_number(rtc_read(RTC_MONTH), binary);
    t->year = 2000 + rtc_number(rtc_read(RTC_YEAR), binary);
}

static bool rtc_time_is_valid(const struct rtc_time *t)
{
    return t->second < 60 && t->minute < 60 && t->hour < 24 && t->day >= 1 && t->day <= 31 &&
           t->month >= 1 && t->month <= 12 && t->year < 2100;
}

/* Days from 1970-01-01; the years 2000 to 2099 have a leap year every fourth. */
static uint64_t rtc_days(const struct rtc_time *t)
{
    static const uint16_t before_month[12] = {0,   31,  59,  90,  120, 151,
                                              181, 212, 243, 273, 304, 334};
    uint64_t years = t->year - 2000;
    uint64_t leaps = (years + 3) / 4 + (years % 4 == 0 && t->month > 2);

    return 10957 + years * 365 + leaps + before_month[t->month - 1] + t->day - 1;
}

void rtc_init(void)
{
    struct rtc_time t;

    for (uint32_t i = 0; rtc_read(RTC_STATUS_A) & RTC_A_UPDATING; i++)
        if (i == RTC_READS_MAX)
            return;
    rtc_read_time(&t);
    if (rtc_time_is_valid(&t))
        boot_seconds = ((rtc_days(&t) * 24 + t.hour) * 60 + t.minute) * 60 + t.second -
                       arch_now() / NS_PER_SEC;
}

uint64_t rtc_boot_seconds(void)
{
    return boot_seconds;
}
