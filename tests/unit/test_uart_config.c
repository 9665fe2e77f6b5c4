/* com1=: every form of it, and what is refused leaves the configuration alone. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/uart.h"

static const struct uart_config com1 = {115200, 8, 1, UART_PARITY_NONE, 0x3f8, 4};

static void test_good(void **state)
{
    static const struct {
        const char *text;
        struct uart_config config;
    } rows[] = {
        {"", {115200, 8, 1, UART_PARITY_NONE, 0x3f8, 4}},
        {"9600", {9600, 8, 1, UART_PARITY_NONE, 0x3f8, 4}},
        {"57600,7e2", {57600, 7, 2, UART_PARITY_EVEN, 0x3f8, 4}},
        {"auto", {0, 8, 1, UART_PARITY_NONE, 0x3f8, 4}},
        {"auto,,0x2f8,3", {0, 8, 1, UART_PARITY_NONE, 0x2f8, 3}},
        {"115200,8o1,1000,0", {115200, 8, 1, UART_PARITY_ODD, 1000, 0}},
        {",,0x3e8", {115200, 8, 1, UART_PARITY_NONE, 0x3e8, 4}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct uart_config c = com1;

        assert_int_equal(uart_config_parse(&c, rows[i].text), 0);
        assert_int_equal(c.baud, rows[i].config.baud);
        assert_int_equal(c.data_bits, rows[i].config.data_bits);
        assert_int_equal(c.stop_bits, rows[i].config.stop_bits);
        assert_int_equal(c.parity, rows[i].config.parity);
        assert_int_equal(c.io_base, rows[i].config.io_base);
        assert_int_equal(c.irq, rows[i].config.irq);
    }
}

static void test_bad(void **state)
{
    static const char *const rows[] = {
        "x",
        "0",
        "115201",
        "9600x",
        "9600,9n1",
        "9600,8x1",
        "9600,8n3",
        "9600,8n",
        "9600,8",
        "9600,8n1x",
        "9600,8n1,0",
        "9600,8n1,0xfff9",
        "9600,8n1,zz",
        "9600,8n1,0x3f8,16",
        "9600,8n1,0x3f8,4,5",
        "9600,8n1,0x",
        "99999999999999999999",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct uart_config c;

        memcpy(&c, &com1, sizeof(c)); /* padding too, for the comparison */
        assert_int_equal(uart_config_parse(&c, rows[i]), -EINVAL);
        assert_memory_equal(&c, &com1, sizeof(c));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
