/*
 * The console's state, shared by kernel/console.c (output) and kernel/console_input.c (input)
 * alone.
 *
 * Tags: [L] console lock, [i] set by console_init or console_start, [a] atomic, [0] CPU 0 only.
 */
#ifndef KERNEL_CONSOLE_STATE_H
#define KERNEL_CONSOLE_STATE_H

#include "hv/lock.h"
#include "kernel/guest_output.h"
#include "kernel/timer.h"

#define CONSOLE_LOG_BYTES   (64 * KIB)
#define CONSOLE_REPLY_BYTES (64 * KIB)
#define CONSOLE_GUEST_BYTES (32 * KIB)
#define CONSOLE_TX_BYTES    2048u /* a fifth of a second at 115200 baud: an echo may wait so long */
#define CONSOLE_INPUT_BYTES 4096u /* a paste of some hundred commands */

struct cpu;

struct console {
    struct spinlock lock;       /* rank LOCK_CONSOLE */
    struct cpu *panic_cpu;      /* [a] the CPU that took the console over */
    bool ready;                 /* [L] rings and mixer exist */
    bool open;                  /* [L] the ports are known: until then lines wait in the log */
    bool debug_port;            /* [i] console=e9 */
    bool sync;                  /* [i] console=sync, or panic: wait for every byte */
    bool started;               /* [i] interrupts or timers drain and listen */
    bool signalled;             /* [L] CPU 0 was told to run console_service */
    bool redraw;                /* [L] the prompt is to be shown again in a moment */
    bool cancel;                /* [L] ^C came while a command runs */
    uint32_t attached_vm;       /* [L] valid while mixer.attached */
    size_t reply_wanted;        /* [L] room the shell waits for, 0 if it does not */
    uint64_t interrupts;        /* [L] */
    struct log_ring log;        /* [L] */
    struct mixer mixer;         /* [L] */
    struct line_edit edit;      /* [L] */
    struct byte_ring tx;        /* [L] mixed bytes that the UART has yet to take */
    struct byte_ring input;     /* [L] bytes typed */
    struct guest_output guests; /* [L] */
    struct timer poll;          /* [0] */
    struct timer redraw_timer;  /* [0] */
};

extern struct console console;

void console_lock(void) ACQUIRES(console.lock);
void console_unlock(void) RELEASES(console.lock);

/* Give the UART what it takes now; tell CPU 0 if that made something possible. */
void console_pump(void) MUST_HOLD(console.lock);

/* Bytes typed, from the UART to the input ring. */
void console_receive(void) MUST_HOLD(console.lock);

#endif
