/*
 * What the console shows next (see mixer.h).
 *
 * Every source has its own ring; `pending` alone holds composed bytes, and a host or guest line is
 * composed only when it is empty. So order is decided once, at the last moment, and in one place:
 * mixer_pull.
 */
#include "kernel/mixer.h"

#include <string.h>

#include "kernel/printk.h"

#define REPLY_END_ROOM 96u /* what stays free in the reply's ring for mixer_reply_end */

void mixer_init(struct mixer *m, const struct log_ring *log, struct line_edit *edit,
                const struct mixer_memory *memory)
{
    *m = (struct mixer){.log = log, .edit = edit, .level = LOG_DEBUG};
    m->cursor = log_oldest(log);
    m->reply = byte_ring_over(memory->reply, memory->reply_bytes);
    m->guest = byte_ring_over(memory->guest, memory->guest_bytes);
    m->pending = byte_ring_over(m->pending_bytes, sizeof(m->pending_bytes));
}

static void pend(struct mixer *m, const char *text)
{
    byte_ring_put(&m->pending, text, (uint32_t)strlen(text));
}

static void pend_spaces(struct mixer *m, uint32_t n)
{
    while (n--)
        byte_ring_put_char(&m->pending, ' ');
}

/* A line of its own: over the prompt if that is shown, blanking what would stick out. */
static void pend_line(struct mixer *m, const char *text, uint32_t n)
{
    uint32_t width = (uint32_t)strlen(MIXER_PROMPT) + m->edit->length;

    if (m->prompt_shown)
        pend(m, "\r");
    byte_ring_put(&m->pending, text, n);
    if (m->prompt_shown && width > n)
        pend_spaces(m, width - n);
    pend(m, "\r\n");
    m->prompt_shown = false;
}

/* ---- host lines ---- */

static void pend_host_line(struct mixer *m, const struct log_line *line)
{
    char text[LOG_TEXT_MAX + sizeof(MIXER_WARNING)];
    int n = format_text(text, sizeof(text), "%s%s", line->level == LOG_WARNING ? MIXER_WARNING : "",
                        line->text);

    pend_line(m, text, (uint32_t)n);
}

static bool next_host_line(struct mixer *m)
{
    struct log_line line;
    char note[64];

    while (log_read(m->log, &m->cursor, &line)) {
        if (line.missed) {
            format_text(note, sizeof(note),
                        "console: %llu lines lost, see loglvl=", (unsigned long long)line.missed);
            pend_line(m, note, (uint32_t)strlen(note));
        }
        if (line.level < m->level)
            pend_host_line(m, &line);
        if (byte_ring_count(&m->pending))
            return true;
    }
    return false;
}

/* ---- guest lines ---- */

/* The note about dropped lines goes into the ring where they are missing. */
static bool tell_dropped(struct mixer *m, uint32_t room_after)
{
    char note[64];
    int n = format_text(note, sizeof(note), "console: %llu lines of guests dropped\n",
                        (unsigned long long)m->guest_dropped);

    if (byte_ring_room(&m->guest) < (uint32_t)n + room_after)
        return false;
    byte_ring_put(&m->guest, note, (uint32_t)n);
    m->guest_dropped = 0;
    return true;
}

void mixer_guest_line(struct mixer *m, const char *name, const char *text, uint32_t n)
{
    char prefix[64];
    uint32_t prefix_n;
    uint32_t need;

    format_text(prefix, sizeof(prefix), "[%s] ", name);
    prefix_n = (uint32_t)strlen(prefix);
    n = MIN(n, MIXER_GUEST_ROW - prefix_n);
    need = prefix_n + n + 1;
    if ((m->guest_dropped && !tell_dropped(m, need)) || byte_ring_room(&m->guest) < need) {
        m->guest_dropped++;
        return;
    }
    byte_ring_put(&m->guest, prefix, prefix_n);
    byte_ring_put(&m->guest, text, n);
    byte_ring_put_char(&m->guest, '\n');
}

static bool next_guest_line(struct mixer *m)
{
    char line[MIXER_GUEST_ROW];
    uint32_t n = 0;
    char c;

    if (!byte_ring_count(&m->guest) && m->guest_dropped)
        tell_dropped(m, 0);
    if (!byte_ring_count(&m->guest))
        return false;
    while (byte_ring_take(&m->guest, &c, 1) && c != '\n' && n < sizeof(line))
        line[n++] = c;
    pend_line(m, line, n);
    return true;
}

/* ---- an attached guest ---- */

void mixer_attach(struct mixer *m)
{
    m->attached = true;
    m->after_cr = false;
}

/* Raw bytes may have ended anywhere in a row: what follows begins on a new one. */
void mixer_detach(struct mixer *m)
{
    m->attached = false;
    if (byte_ring_count(&m->guest))
        byte_ring_put_char(&m->guest, '\n');
    else
        pend(m, "\r\n");
}

void mixer_guest_raw(struct mixer *m, const char *bytes, uint32_t n)
{
    /* Half a kilobyte stays free for the newline of a detach and the note about lost lines. */
    for (uint32_t i = 0; i < n; i++) {
        if (byte_ring_room(&m->guest) < 512)
            return;
        if (bytes[i] == '\n' && !m->after_cr)
            byte_ring_put_char(&m->guest, '\r');
        byte_ring_put_char(&m->guest, bytes[i]);
        m->after_cr = bytes[i] == '\r';
    }
}

/* ---- replies ---- */

void mixer_reply_begin(struct mixer *m)
{
    m->replying = true;
    m->reply_lost = 0;
}

void mixer_reply_put(struct mixer *m, const char *bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (byte_ring_room(&m->reply) <= REPLY_END_ROOM) {
            m->reply_lost++;
            continue;
        }
        if (bytes[i] == '\n')
            byte_ring_put_char(&m->reply, '\r');
        byte_ring_put_char(&m->reply, bytes[i]);
    }
}

/*
 * The prompt follows at once, so that whoever waits for it is not kept waiting by a flood of lines.
 */
void mixer_reply_end(struct mixer *m)
{
    char text[REPLY_END_ROOM];
    int n = 0;

    if (m->reply_lost)
        n = format_text(text, sizeof(text), "\r\nconsole: %llu bytes of the reply lost\r\n",
                        (unsigned long long)m->reply_lost);
    if (!m->attached)
        n += format_text(text + n, sizeof(text) - (size_t)n, MIXER_PROMPT);
    byte_ring_put(&m->reply, text, (uint32_t)n);
    m->prompt_shown = !m->attached;
    m->replying = false;
}

/* ---- prompt and echo ---- */

bool mixer_can_echo(const struct mixer *m)
{
    return !m->replying && !byte_ring_count(&m->reply) &&
           byte_ring_room(&m->pending) >= MIXER_ECHO_ROOM;
}

void mixer_prompt(struct mixer *m)
{
    if (m->prompt_shown || m->attached || !mixer_can_echo(m))
        return;
    pend(m, MIXER_PROMPT);
    byte_ring_put(&m->pending, m->edit->text, m->edit->length);
    m->prompt_shown = true;
}

void mixer_echo(struct mixer *m, const struct line_edit_echo *echo)
{
    if (!m->prompt_shown) {
        mixer_prompt(m);
        return;
    }
    for (uint32_t i = 0; i < echo->erase; i++)
        pend(m, "\b \b");
    pend(m, m->edit->text + echo->show_from);
}

void mixer_end_input(struct mixer *m)
{
    mixer_prompt(m);
    pend(m, "\r\n");
    m->prompt_shown = false;
}

/* ---- out ---- */

uint32_t mixer_pull(struct mixer *m, char *bytes, uint32_t n)
{
    uint32_t done = 0;

    while (done < n) {
        uint32_t got = byte_ring_take(&m->pending, bytes + done, n - done);

        if (!got)
            got = byte_ring_take(&m->reply, bytes + done, n - done);
        if (!got && m->attached && !m->replying)
            got = byte_ring_take(&m->guest, bytes + done, n - done);
        done += got;
        if (got)
            continue;
        if (m->replying || m->attached || (!next_host_line(m) && !next_guest_line(m)))
            break;
    }
    return done;
}

bool mixer_is_quiet(const struct mixer *m)
{
    bool held = m->replying || m->attached;

    return !byte_ring_count(&m->pending) && !byte_ring_count(&m->reply) &&
           (held || (!byte_ring_count(&m->guest) && m->cursor.seq == m->log->head_seq));
}

void mixer_panic(struct mixer *m)
{
    m->replying = false;
    m->attached = false;
    m->prompt_shown = false;
    m->level = LOG_DEBUG + 1;
    byte_ring_drop(&m->reply, byte_ring_count(&m->reply));
    byte_ring_drop(&m->guest, byte_ring_count(&m->guest));
    byte_ring_put(&m->pending, "\r\n", 2);
}
