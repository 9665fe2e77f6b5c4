/*
 * The devices of a VM: port space and serial port as a guest drives them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hv/bits.h"
#include "vmm/vmm.h"
#include "vmm/vmm_host.h"

#define COM1 0x3f8

struct host {
    char out[64];
    size_t length;
    int exit_code;
};

void vmm_host_console(void *host, const char *bytes, size_t n)
{
    struct host *h = host;

    for (size_t i = 0; i < n && h->length < sizeof(h->out) - 1; i++)
        h->out[h->length++] = bytes[i];
}

void vmm_host_exit(void *host, uint8_t code)
{
    ((struct host *)host)->exit_code = code;
}

static struct host host;
static struct vmm vmm;

static int set_up(void **state)
{
    (void)state;
    memset(&host, 0, sizeof(host));
    host.exit_code = -1;
    vmm_init(&vmm, &host);
    return 0;
}

static void out(uint16_t port, uint8_t value)
{
    vmm_port_write(&vmm, port, 1, value);
}

static uint8_t in(uint16_t port)
{
    return (uint8_t)vmm_port_read(&vmm, port, 1);
}

static void output_reaches_the_console(void **state)
{
    (void)state;
    for (const char *p = "hello\n"; *p; p++) {
        assert_true(in(COM1 + 5) & 0x20);
        out(COM1, (uint8_t)*p);
    }
    assert_string_equal(host.out, "hello\n");
}

static void divisor_latch_hides_data_and_ier(void **state)
{
    (void)state;
    out(COM1 + 1, 0xff);
    out(COM1 + 3, 0x83);
    out(COM1, 0x0c);
    out(COM1 + 1, 0x01);
    assert_int_equal(in(COM1), 0x0c);
    assert_int_equal(in(COM1 + 1), 0x01);
    out(COM1 + 3, 0x03);
    assert_int_equal(in(COM1 + 1), 0x0f); /* four bits exist */
    assert_int_equal(host.length, 0);
}

static void typed_bytes_are_read_in_order(void **state)
{
    (void)state;
    assert_false(in(COM1 + 5) & 1);
    vmm_uart_receive(&vmm.uart, 'a');
    vmm_uart_receive(&vmm.uart, 'b');
    assert_true(in(COM1 + 5) & 1);
    assert_int_equal(in(COM1), 'a');
    assert_int_equal(in(COM1), 'b');
    assert_false(in(COM1 + 5) & 1);
    assert_int_equal(in(COM1), 0);
}

static void full_fifo_overruns_once(void **state)
{
    (void)state;
    for (int i = 0; i < VMM_UART_FIFO + 5; i++)
        vmm_uart_receive(&vmm.uart, (uint8_t)i);
    assert_true(in(COM1 + 5) & 2);
    assert_false(in(COM1 + 5) & 2); /* reading clears it */
    for (int i = 0; i < VMM_UART_FIFO; i++)
        assert_int_equal(in(COM1), i);
    assert_false(in(COM1 + 5) & 1);
}

static void loopback_returns_bytes_and_modem_lines(void **state)
{
    (void)state;
    out(COM1 + 4, 0x1a); /* loopback, OUT2, RTS */
    assert_int_equal(in(COM1 + 6) & 0xf0, 0x90);
    out(COM1, 0x5a);
    assert_int_equal(in(COM1), 0x5a);
    assert_int_equal(host.length, 0);
}

static void no_interrupt_is_ever_pending(void **state)
{
    (void)state;
    assert_int_equal(in(COM1 + 2), 0x01);
    out(COM1 + 2, 0x01);
    assert_int_equal(in(COM1 + 2), 0xc1);
    out(COM1 + 1, 0x0f);
    assert_int_equal(in(COM1 + 2), 0xc1);
}

static void empty_ports_read_ones(void **state)
{
    (void)state;
    assert_int_equal(vmm_port_read(&vmm, 0x60, 1), 0xff);
    assert_int_equal(vmm_port_read(&vmm, 0xcf8, 4), 0xffffffffu);
    assert_int_equal(vmm_port_read(&vmm, 0xffff, 4), 0xffffffffu);
    vmm_port_write(&vmm, 0xffff, 4, 0);
    assert_int_equal(host.exit_code, -1);
}

static void a_wide_read_spans_devices(void **state)
{
    (void)state;
    out(COM1 + 7, 0x42);
    assert_int_equal(vmm_port_read(&vmm, COM1 + 7, 2), 0xff42);
}

static void exit_port_tells_the_code(void **state)
{
    (void)state;
    out(0xf4, 7);
    assert_int_equal(host.exit_code, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(output_reaches_the_console, set_up),
        cmocka_unit_test_setup(divisor_latch_hides_data_and_ier, set_up),
        cmocka_unit_test_setup(typed_bytes_are_read_in_order, set_up),
        cmocka_unit_test_setup(full_fifo_overruns_once, set_up),
        cmocka_unit_test_setup(loopback_returns_bytes_and_modem_lines, set_up),
        cmocka_unit_test_setup(no_interrupt_is_ever_pending, set_up),
        cmocka_unit_test_setup(empty_ports_read_ones, set_up),
        cmocka_unit_test_setup(a_wide_read_spans_devices, set_up),
        cmocka_unit_test_setup(exit_port_tells_the_code, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
