/*
 * The console's state, shared by kernel/console.c (output), kernel/console_input.c (input),
 * kernel/console_ports.c (serial ports) and kernel/console_screen.c alone.
 *
 * Tags: [L] console lock, [i] set by console_init, [a] atomic, [0] CPU 0 only. A CPU that panics
 * writes what is [L] without the lock: all others are kept out by then.
 */
#ifndef KERNEL_CONSOLE_STATE_H
#define KERNEL_CONSOLE_STATE_H

#include "hv/lock.h"
#include "hv/serial.h"
#include "kernel/guest_output.h"
#include "kernel/screen.h"
#include "kernel/timer.h"

#define CONSOLE_LOG_BYTES   (64 * KIB)
#define CONSOLE_REPLY_BYTES (64 * KIB)
#define CONSOLE_GUEST_BYTES (32 * KIB)
#define CONSOLE_TX_BYTES    2048u /* a fifth of a second at 115200 baud: an echo may wait so long */
#define CONSOLE_INPUT_BYTES 4096u /* a paste of some hundred commands */

#define CONSOLE_IRQ_ROUNDS  16u /* in one interrupt: bytes may come as fast as they are read */

struct cpu;
struct dbg2_info;
struct spcr_info;

/* A serial port, by its slot. */
struct console_port {
    uint32_t ahead;   /* [L] bytes of tx that this port has taken and another has not */
    bool waiting;     /* [L] it did not take what it was offered, since then: */
    ns_t since;       /* [L] */
    bool stalled;     /* [L] for so long that nobody waits for it */
    bool by_irq;      /* [L] its interrupt drains and listens */
    bool interrupted; /* [L] and does arrive */
};

struct console {
    struct spinlock lock;       /* rank LOCK_CONSOLE */
    struct cpu *panic_cpu;      /* [a] the CPU that took the console over */
    bool ready;                 /* [L] rings and mixer exist */
    bool open;                  /* [L] the ports are known: until then lines wait in the log */
    bool serial;                /* [i] console=com1 */
    bool debug_port;            /* [i] console=e9 */
    bool sync;                  /* [L] console=sync, a drain, or panic: wait for every byte */
    bool started;               /* [L] interrupts or timers drain and listen */
    bool signalled;             /* [L] CPU 0 was told to run console_service */
    bool redraw;                /* [L] the prompt is to be shown again in a moment */
    bool cancel;                /* [L] ^C came while a command runs */
    uint32_t attached_vm;       /* [L] valid while mixer.attached */
    bool drawing;               /* [L] draw_timer is armed, or about to be */
    size_t reply_wanted;        /* [L] room the shell waits for, 0 if it does not */
    struct log_ring log;        /* [L] */
    struct mixer mixer;         /* [L] */
    struct line_edit edit;      /* [L] */
    struct byte_ring tx;        /* [L] mixed bytes that the ports have yet to take */
    struct byte_ring input;     /* [L] bytes typed */
    struct guest_output guests; /* [L] */
    struct timer poll;          /* [0] */
    struct timer redraw_timer;  /* [0] */
    struct timer draw_timer;    /* [0] */
    struct screen screen;       /* [L] */
    struct console_port ports[SERIAL_PORTS]; /* by slot */
};

extern struct console console;

void console_lock(void) ACQUIRES(console.lock);
void console_unlock(void) RELEASES(console.lock);

/* Give the UART what it takes now; tell CPU 0 if that made something possible. */
void console_pump(void) MUST_HOLD(console.lock);

/* The same until all has left, waiting for each byte within a bound. */
void console_drain(void) MUST_HOLD(console.lock);

/* ---- the screen (console_screen.c) ---- */

/* By the loader's framebuffer, if it has one; nothing is mapped yet. */
void console_screen_init(const struct boot_framebuffer *mode);

/* Until timers run, and in panic: draw what was written, now. */
void console_screen_draw_all(void) MUST_HOLD(console.lock);

/* There is something to draw and nobody about to do it: CPU 0 is to call console_screen_arm. */
bool console_screen_waits(void) MUST_HOLD(console.lock);
void console_screen_arm(void);

/* From now on it is drawn by timer. CPU 0. */
void console_screen_start(void) MUST_HOLD(console.lock);

/* ---- input (console_input.c) ---- */

/* Bytes typed, from the UARTs to the input ring. */
void console_receive(void) MUST_HOLD(console.lock);

/* ---- serial ports (console_ports.c) ---- */

/* Open what can be, and say so; without the lock. True: a port is open. */
bool console_ports_early(const char *com1);
void console_ports_late(const struct spcr_info *spcr, const struct dbg2_info *dbg2);

void console_ports_panic(void);   /* nothing is open yet: COM1 */
bool console_ports_present(void); /* a port is open and there */

/* Offer the bytes of tx to every port; false: none took any. */
bool console_ports_send(void) MUST_HOLD(console.lock);
void console_ports_want_interrupt(void) MUST_HOLD(console.lock); /* of those with bytes to send */

bool console_ports_listen(void); /* by interrupt where there is one; false: nowhere */
void console_ports_interrupt(uint32_t slot) MUST_HOLD(console.lock);
void console_ports_check_interrupts(void); /* poll those from which none came; without the lock */
bool console_ports_polled(void);           /* a port needs the timer */

#endif
