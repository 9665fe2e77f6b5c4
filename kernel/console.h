/*
 * The console: everything that is read or typed by people, over the ports that console= names.
 *
 * Output never waits: it is put into rings (kernel/mixer.h says in which order they are shown) that
 * the UART's interrupt drains, or a timer where no interrupt comes. Input is read by the same
 * interrupt, and handled on CPU 0 from its hazard loop. Panic alone writes synchronously, over any
 * lock.
 */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include "hv/types.h"
#include "kernel/log.h"

struct boot_framebuffer;
struct dbg2_info;
struct memmap;
struct options;
struct spcr_info;

/* ---- boot order ---- */

/*
 * By console=, com1= and loglvl=. Output leaves the machine from here on, as fast as it is taken,
 * if a port is found that needs no table and no mapping; else lines wait for console_init_late.
 */
void console_init(const struct options *options, const struct boot_framebuffer *framebuffer);

/* Once there are final page tables: what was said so far appears on the screen too. */
void console_open_screen(const struct memmap *map);

/* Page tables are there and ACPI is read: the ports that these lead to. */
void console_init_late(const struct spcr_info *spcr, const struct dbg2_info *dbg2);

/* On CPU 0, when timers and interrupts work: drain by interrupt or timer, listen, prompt. */
void console_start(void);

/* ---- called by the kernel's loop and the interrupt handlers ---- */

void console_service(void);            /* CPU 0, on HAZARD_INPUT */
void console_interrupt(uint32_t slot); /* of that serial port, on any CPU */

/* ---- host ---- */

void console_log(uint32_t level, const char *text, size_t n); /* printk's lower half */
void console_set_level(uint32_t loglvl);                      /* enum option_loglvl */
void console_flush(void);                                     /* power off: send what waits */
void console_panic(void); /* first thing in panic: this CPU owns the console from now on */

/* A cursor over the log, from its oldest line on; for the command `log`. */
struct log_cursor console_log_oldest(void);
bool console_log_read(struct log_cursor *cursor, struct log_line *line);

/* ---- guests ---- */

/* Bytes of a guest's serial port; any CPU. Lines get the prefix "[name] ". */
void console_guest_write(uint32_t vm_id, const char *name, const char *bytes, size_t n);
void console_guest_end(uint32_t vm_id); /* the VM is gone: show the line it had begun */

/* From now on this VM's output passes raw and typed bytes go to it, until Ctrl-] or its end. */
void console_attach(uint32_t vm_id);

/*
 * Who takes the bytes typed for an attached VM; set once by the code that has guest serial ports.
 */
extern void (*console_guest_input)(uint32_t vm_id, const char *bytes, size_t n);

/* ---- the shell (kernel/shell.c) ---- */

size_t console_reply_room(void);
void console_reply(const char *bytes, size_t n);
void console_reply_end(void);
size_t console_keys_waiting(void); /* bytes typed that no command has taken */
bool console_cancelled(void); /* ^C was typed since the command began, or since the last call */

/* The shell waits for at least this room: call shell_resume on CPU 0 when it is there. */
void console_reply_wait(size_t room);

#endif
