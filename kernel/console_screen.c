/*
 * The console's screen: everything that goes to the serial port is shown on the framebuffer too,
 * when the boot loader gives one and console= names vga (see console.h; kernel/screen.h is the
 * screen itself).
 *
 * Decides when to draw. Text is put into the grid as it is pulled from the mixer, from the first
 * line on, long before video memory is mapped: what was said until then appears when it is. While
 * the boot CPU is alone every line is drawn at once, and the screen scrolls by several rows, since
 * each scroll may repaint all of it. Later CPU 0 draws by a timer, a moment after something was
 * written and for DRAW_SLICE_NS at a time, for it holds the console lock; a screenful takes many
 * slices. Panic draws at once.
 */
#include "boot/memmap.h"
#include "kernel/arch.h"
#include "kernel/bringup.h"
#include "kernel/console.h"
#include "kernel/console_state.h"
#include "kernel/printk.h"

#define DRAW_DELAY_NS     (20 * NS_PER_MS) /* lines that come in it are drawn together */
#define DRAW_PAUSE_NS     (1 * NS_PER_MS)  /* between two slices of one picture */
#define DRAW_SLICE_NS     (100 * NS_PER_US)
#define DRAW_CELLS        16u /* between two looks at the clock: 8 KiB at 32 bits a pixel */
#define BOOT_JUMP_DIVISOR 8u

static void refuse(const struct boot_framebuffer *m, const char *why)
{
    pr_warn("no screen: the framebuffer at 0x%lx (%ux%u, %u bits, pitch %u) %s", m->addr, m->width,
            m->height, m->bits_per_pixel, m->pitch_bytes, why);
}

void console_screen_init(const struct boot_framebuffer *mode)
{
    const char *why;
    int error;

    if (mode->kind == FRAMEBUFFER_NONE)
        return;
    console_lock();
    error = screen_init(&console.screen, mode, screen_font, &why);
    console_unlock();
    if (error)
        refuse(mode, why);
}

void console_open_screen(const struct memmap *map)
{
    struct screen *s = &console.screen;
    struct boot_framebuffer m = s->mode;
    uint64_t bytes = screen_video_bytes(s);
    const char *why = NULL;
    void *video = NULL;

    if (!screen_present(s))
        return;
    if (memmap_ram_bytes(map, m.addr, bytes))
        why = "lies in memory that is in use";
    else if (!(video = arch_map_framebuffer(m.addr, bytes)))
        why = "cannot be mapped";
    console_lock();
    s->jump = MAX(s->rows / BOOT_JUMP_DIVISOR, 1u);
    if (why) {
        s->mode.kind = FRAMEBUFFER_NONE;
    } else {
        screen_attach(s, video);
        console.open = true; /* whether or not there is a serial port yet */
        console_pump();
    }
    console_unlock();
    if (why)
        refuse(&m, why);
    else
        pr_info("screen: %u columns, %u rows on %ux%u at 0x%lx", s->columns, s->rows, m.width,
                m.height, m.addr);
}

void console_screen_draw_all(void)
{
    while (screen_draw(&console.screen, UINT32_MAX))
        ;
}

bool console_screen_waits(void)
{
    return console.screen.pending && console.screen.video && !console.drawing;
}

void console_screen_arm(void)
{
    timer_arm(&console.draw_timer, arch_now() + DRAW_DELAY_NS);
}

static void draw_fn(struct timer *timer, ns_t now)
{
    bool more;

    console_lock();
    do
        more = screen_draw(&console.screen, DRAW_CELLS);
    while (more && arch_now() - now < DRAW_SLICE_NS);
    console.drawing = more;
    console_unlock();
    if (more)
        timer_arm(timer, now + DRAW_PAUSE_NS);
}

void console_screen_start(void)
{
    timer_init(&console.draw_timer, draw_fn);
    console.screen.jump = 1;
}
