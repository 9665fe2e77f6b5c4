/*
 * The console's input side: bytes typed, the line editor, commands, an attached guest (see
 * console.h).
 *
 * Everything but console_receive runs on CPU 0, from its hazard loop or its timers. Keys are
 * handled only while no reply is on its way, so that their echo cannot come before what was said
 * first; until then they wait in the input ring.
 */
#include <string.h>

#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/console_state.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"
#include "kernel/shell.h"
#include "kernel/uart.h"

#define KEY_BREAK       0x03 /* ^C */
#define KEY_DETACH      0x1d /* Ctrl-] */
#define POLL_NS         (10 * NS_PER_MS)
#define IRQ_PATIENCE_NS (50 * NS_PER_MS)
/* Lines come in bursts: the prompt is shown again when this long after the first of them. */
#define REDRAW_NS (30 * NS_PER_MS)

void (*console_guest_input)(uint32_t vm_id, const char *bytes, size_t n);

void console_receive(void)
{
    char key;

    for (uint32_t slot = 0; slot < SERIAL_PORTS; slot++) {
        while (byte_ring_room(&console.input) && uart_read(slot, &key, 1)) {
            if (console.mixer.replying && key == KEY_BREAK)
                console.cancel = true;
            byte_ring_put_char(&console.input, key);
        }
        uart_irq_receive(slot, byte_ring_room(&console.input) != 0);
    }
}

bool console_cancelled(void)
{
    bool cancel;

    console_lock();
    cancel = console.cancel;
    console.cancel = false;
    console_unlock();
    return cancel;
}

size_t console_keys_waiting(void)
{
    size_t waiting;

    console_lock();
    waiting = byte_ring_count(&console.input);
    console_unlock();
    return waiting;
}

/* One key for the shell. True: a command was entered, and is in `command`. */
static bool shell_key(char key, char *command) MUST_HOLD(console.lock)
{
    struct line_edit_echo echo;

    switch (line_edit_key(&console.edit, key, &echo)) {
    case EDIT_CHANGED:
        mixer_echo(&console.mixer, &echo);
        return false;
    case EDIT_ENTER:
        mixer_end_input(&console.mixer);
        memcpy(command, console.edit.text, console.edit.length + 1);
        line_edit_next(&console.edit);
        mixer_reply_begin(&console.mixer);
        console.cancel = false;
        return true;
    case EDIT_CANCEL:
        mixer_end_input(&console.mixer);
        line_edit_next(&console.edit);
        mixer_prompt(&console.mixer);
        return false;
    default:
        return false;
    }
}

/* Bytes for the attached guest, up to the key that detaches; returns how many. */
static size_t guest_keys(char *bytes, size_t max) MUST_HOLD(console.lock)
{
    size_t n = 0;
    char key;

    while (n < max && byte_ring_take(&console.input, &key, 1)) {
        if (key == KEY_DETACH) {
            mixer_detach(&console.mixer);
            break;
        }
        bytes[n++] = key;
    }
    return n;
}

/* Handle keys until a command must run, or bytes go to a guest, or none can be handled. */
static void handle_input(void)
{
    char text[LINE_EDIT_MAX + 1];
    size_t guest_bytes = 0;
    uint32_t vm_id;
    bool entered = false;
    char key;

    console_lock();
    vm_id = console.attached_vm;
    if (console.mixer.attached)
        guest_bytes = guest_keys(text, sizeof(text));
    while (!console.mixer.attached && !entered && mixer_can_echo(&console.mixer) &&
           byte_ring_take(&console.input, &key, 1))
        entered = shell_key(key, text);
    console_receive(); /* what the UART kept while the ring was full */
    console_pump();
    console_unlock();
    if (guest_bytes && console_guest_input)
        console_guest_input(vm_id, text, guest_bytes);
    if (entered)
        shell_execute(text);
}

void console_service(void)
{
    struct mixer *m = &console.mixer;
    bool resume, redraw, draw;

    console_lock();
    console.signalled = false;
    resume = console.reply_wanted && byte_ring_room(&m->reply) >= console.reply_wanted;
    if (resume)
        console.reply_wanted = 0;
    console_unlock();
    if (resume)
        shell_resume();
    handle_input();
    console_lock();
    redraw = !m->prompt_shown && !m->replying && !m->attached && !console.redraw;
    console.redraw |= redraw;
    draw = console_screen_waits();
    console.drawing |= draw;
    console_pump(); /* signals again if keys are left */
    console_unlock();
    if (draw)
        console_screen_arm();
    if (redraw)
        timer_arm(&console.redraw_timer, arch_now() + REDRAW_NS);
}

static void redraw_fn(struct timer *timer, ns_t now)
{
    (void)timer;
    (void)now;
    console_lock();
    console.redraw = false;
    mixer_prompt(&console.mixer);
    console_pump();
    console_unlock();
}

static void poll_fn(struct timer *timer, ns_t now)
{
    console_lock();
    console_receive();
    console_pump();
    console_unlock();
    timer_arm(timer, now + POLL_NS);
}

/* Some time after interrupts were provoked: a port from which none came has no working line. */
static void check_irq_fn(struct timer *timer, ns_t now)
{
    console_ports_check_interrupts();
    timer_init(timer, poll_fn);
    if (console_ports_polled())
        timer_arm(timer, now + POLL_NS);
}

void console_start(void)
{
    bool by_irq = console_ports_listen();

    timer_init(&console.redraw_timer, redraw_fn);
    timer_init(&console.poll, by_irq ? check_irq_fn : poll_fn);
    if (console_ports_present())
        timer_arm(&console.poll, arch_now() + (by_irq ? IRQ_PATIENCE_NS : POLL_NS));
    console_lock();
    console_screen_start();
    console.started = true;
    for (uint32_t slot = 0; slot < SERIAL_PORTS; slot++)
        uart_irq_transmit(slot, true);
    mixer_prompt(&console.mixer);
    console_pump();
    console_unlock();
}
