/*
 * The console's output side (see console.h).
 *
 * Decides when bytes leave: as many as the UART takes whenever something is added, the rest by its
 * interrupt or the poll timer. What is shown in which order is kernel/mixer.c's affair.
 *
 * Invariants: the console lock is the last in rank, held only for copying; cpu_hazard may be called
 * under it, timers may not. After console_panic only the panicking CPU passes console_lock, without
 * taking the lock, and all others stop there: the holder may be halted in the middle. The rings
 * stay safe to use even then, since each index is moved by one store.
 */
#include "kernel/console.h"

#include <string.h>

#include "hv/options.h"
#include "kernel/arch.h"
#include "kernel/console_state.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"
#include "kernel/uart.h"

#define PUMP_ROUNDS 16u /* FIFOs filled in one call, once an interrupt does the rest */

struct console console = {.lock = SPINLOCK_INIT(LOCK_CONSOLE)};

static char log_bytes[CONSOLE_LOG_BYTES];
static char reply_bytes[CONSOLE_REPLY_BYTES];
static char guest_bytes[CONSOLE_GUEST_BYTES];
static char tx_bytes[CONSOLE_TX_BYTES];
static char input_bytes[CONSOLE_INPUT_BYTES];

static void make_ready(void)
{
    const struct mixer_memory memory = {reply_bytes, sizeof(reply_bytes), guest_bytes,
                                        sizeof(guest_bytes)};

    if (console.ready)
        return;
    log_init(&console.log, log_bytes, sizeof(log_bytes));
    mixer_init(&console.mixer, &console.log, &console.edit, &memory);
    console.tx = byte_ring_over(tx_bytes, sizeof(tx_bytes));
    console.input = byte_ring_over(input_bytes, sizeof(input_bytes));
    console.ready = true;
}

void console_lock(void) NO_THREAD_SAFETY
{
    struct cpu *owner = atomic_get(&console.panic_cpu);

    if (owner && owner == cpu_this())
        return;
    while (atomic_get(&console.panic_cpu))
        __builtin_ia32_pause(); /* until the panicking CPU's NMI halts this one */
    spin_lock(&console.lock);
}

void console_unlock(void) NO_THREAD_SAFETY
{
    if (!atomic_get(&console.panic_cpu))
        spin_unlock(&console.lock);
}

/* ---- draining ---- */

static void refill(void) MUST_HOLD(console.lock)
{
    char chunk[128];
    uint32_t n;

    while (byte_ring_room(&console.tx) >= sizeof(chunk)) {
        n = mixer_pull(&console.mixer, chunk, sizeof(chunk));
        if (!n)
            break;
        if (console.debug_port)
            debug_port_write(chunk, n);
        if (screen_present(&console.screen))
            screen_write(&console.screen, chunk, n);
        if (console_ports_present())
            byte_ring_put(&console.tx, chunk, n);
    }
}

/* Wake CPU 0 for what only it may do: go on with a reply, handle keys, show the prompt again. */
static void signal_cpu0(void) MUST_HOLD(console.lock)
{
    struct mixer *m = &console.mixer;
    bool redraw = !m->prompt_shown && !m->replying && !m->attached && !console.redraw;
    bool reply = console.reply_wanted && byte_ring_room(&m->reply) >= console.reply_wanted;
    bool input = byte_ring_count(&console.input) && (m->attached || mixer_can_echo(m));

    if (!console.started || console.signalled ||
        !(redraw || reply || input || console_screen_waits()))
        return;
    console.signalled = true;
    cpu_hazard(cpus[0], HAZARD_INPUT);
}

void console_pump(void)
{
    uint32_t rounds = console.started && !console.sync ? PUMP_ROUNDS : UINT32_MAX;

    if (!console.open)
        return;
    for (uint32_t i = 0; i < rounds; i++) {
        refill();
        if (!console_ports_send())
            break;
    }
    console_ports_want_interrupt();
    if (!console.started || console.sync)
        console_screen_draw_all();
    signal_cpu0();
}

void console_interrupt(uint32_t slot)
{
    console_lock();
    console_ports_interrupt(slot);
    console_pump();
    console_unlock();
}

/* ---- set-up ---- */

enum console_word { WORD_COM1, WORD_VGA, WORD_E9, WORD_SYNC, WORD_NONE };

static const char *const console_words[] = {[WORD_COM1] = "com1",
                                            [WORD_VGA] = "vga",
                                            [WORD_E9] = "e9",
                                            [WORD_SYNC] = "sync",
                                            [WORD_NONE] = "none"};

/*
 * The words of a list parted by commas, as a mask of BIT(enum console_word). A list that names no
 * console leaves the default: a misspelt word must not make the machine mute.
 */
static uint64_t read_words(const char *list)
{
    uint64_t mask = 0;

    while (*list) {
        size_t n = 0, word = 0;

        while (list[n] && list[n] != ',')
            n++;
        while (word < ARRAY_SIZE(console_words) &&
               (strncmp(list, console_words[word], n) != 0 || console_words[word][n]))
            word++;
        if (word < ARRAY_SIZE(console_words))
            mask |= BIT(word);
        else
            pr_warn("console=: no console `%.*s`; ignored", (int)n, list);
        list += n + (list[n] == ',');
    }
    return mask & ~BIT(WORD_SYNC) ? mask : mask | BIT(WORD_COM1) | BIT(WORD_VGA);
}

/* The ports are known: show what waits. */
static void console_open(void)
{
    console_lock();
    console.open = true;
    console_pump();
    console_unlock();
}

void console_init(const struct options *options, const struct boot_framebuffer *framebuffer)
{
    uint64_t words = read_words(options->console);
    bool open_now = true;

    console_lock();
    make_ready();
    console.debug_port = words & BIT(WORD_E9);
    console.sync = words & BIT(WORD_SYNC);
    /* LOGLVL_NONE shows nothing, LOGLVL_ERROR only LOG_ERROR, and so on. */
    console.mixer.level = options->loglvl.word;
    console_unlock();
    if (words & BIT(WORD_VGA))
        console_screen_init(framebuffer);
    console.serial = words & BIT(WORD_COM1);
    if (console.serial)
        open_now = console_ports_early(options->com1) || console.debug_port;
    if (open_now)
        console_open();
}

void console_init_late(const struct spcr_info *spcr, const struct dbg2_info *dbg2)
{
    if (console.serial)
        console_ports_late(spcr, dbg2);
    console_open();
}

void console_set_level(uint32_t loglvl)
{
    console_lock();
    console.mixer.level = loglvl;
    console_unlock();
}

/* ---- host lines ---- */

void console_log(uint32_t level, const char *text, size_t n)
{
    console_lock();
    make_ready();
    log_append(&console.log, level, arch_now(), text, n);
    console_pump();
    console_unlock();
}

struct log_cursor console_log_oldest(void)
{
    struct log_cursor cursor;

    console_lock();
    cursor = log_oldest(&console.log);
    console_unlock();
    return cursor;
}

bool console_log_read(struct log_cursor *cursor, struct log_line *line)
{
    bool got;

    console_lock();
    got = log_read(&console.log, cursor, line);
    console_unlock();
    return got;
}

void console_drain(void)
{
    bool sync = console.sync;

    console.sync = true;
    console_pump();
    console.sync = sync;
}

void console_flush(void)
{
    console_lock();
    console.mixer.replying = false;
    console.mixer.attached = false;
    console_drain();
    console_unlock();
}

void console_panic(void)
{
    atomic_set(&console.panic_cpu, cpu_this());
    make_ready();
    console.started = false;
    console.sync = true;
    if (!console.open) {
        console_ports_panic();
        console.debug_port = true;
        console.open = true;
    }
    mixer_panic(&console.mixer);
    console_lock();
    console_pump();
    console_unlock();
}

/* ---- guests ---- */

void console_guest_write(uint32_t vm_id, const char *name, const char *bytes, size_t n)
{
    console_lock();
    make_ready();
    if (!console.mixer.attached)
        guest_output_write(&console.guests, &console.mixer, vm_id, name, bytes, n);
    else if (vm_id == console.attached_vm)
        mixer_guest_raw(&console.mixer, bytes, (uint32_t)n);
    console_pump();
    console_unlock();
}

void console_guest_end(uint32_t vm_id)
{
    console_lock();
    make_ready();
    guest_output_end(&console.guests, &console.mixer, vm_id);
    if (console.mixer.attached && vm_id == console.attached_vm)
        mixer_detach(&console.mixer);
    console_pump();
    console_unlock();
}

void console_attach(uint32_t vm_id)
{
    console_lock();
    guest_output_end(&console.guests, &console.mixer, vm_id);
    console.attached_vm = vm_id;
    mixer_attach(&console.mixer);
    console_pump();
    console_unlock();
}

/* ---- replies ---- */

size_t console_reply_room(void)
{
    size_t room;

    console_lock();
    room = byte_ring_room(&console.mixer.reply);
    console_unlock();
    return room;
}

void console_reply(const char *bytes, size_t n)
{
    console_lock();
    mixer_reply_put(&console.mixer, bytes, (uint32_t)n);
    console_pump();
    console_unlock();
}

void console_reply_end(void)
{
    console_lock();
    mixer_reply_end(&console.mixer);
    console_pump();
    console_unlock();
}

void console_reply_wait(size_t room)
{
    console_lock();
    console.reply_wanted = room;
    console_pump();
    console_unlock();
}
