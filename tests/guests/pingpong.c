/*
 * pingpong: round trips between two vCPUs.
 *
 * mode=ipi: each side halts with interrupts on and is woken by the other's IPI. mode=kick: each
 * side halts with interrupts off and is woken by hypercall 5 (needs PV_UNHALT). mode=spin: each
 * side watches a word of memory in a PAUSE loop. Options: mode=, n=N (round trips, default 10000),
 * b=N (the vCPU that plays against vCPU 0; default 1).
 */
#include "tests/guests/rt/rt.h"

enum { VEC_BALL = 0x60 };

/* Which side has the ball: even numbers are vCPU a's, odd ones vCPU b's. */
static uint64_t ball; /* [a] */
static uint64_t trips;
static uint32_t peer_of[2];

static void ball_taken(struct trap_frame *frame)
{
    (void)frame;
    apic_eoi();
}

static bool ball_is_at(uint64_t turn)
{
    return __atomic_load_n(&ball, __ATOMIC_ACQUIRE) == turn;
}

static void wait_spin(uint64_t turn)
{
    while (!ball_is_at(turn))
        asm_pause();
}

/* The look happens with interrupts off, so an IPI after it ends the HLT. */
static void wait_ipi(uint64_t turn)
{
    for (asm_cli(); !ball_is_at(turn); asm_cli())
        asm_sti_hlt();
    asm_sti();
}

/* The kick is sticky, so one after the look ends the HLT. */
static void wait_kick(uint64_t turn)
{
    asm_cli();
    while (!ball_is_at(turn))
        asm_hlt();
    asm_sti();
}

static void pass_spin(uint32_t apic_id)
{
    (void)apic_id;
}

static void pass_ipi(uint32_t apic_id)
{
    apic_send(apic_id, ICR_FIXED | ICR_ASSERT | VEC_BALL);
}

static void pass_kick(uint32_t apic_id)
{
    pv_call(CALL_KICK_CPU, 0, apic_id, 0, 0);
}

static const struct mode {
    const char *name;
    void (*wait)(uint64_t turn);
    void (*pass)(uint32_t apic_id);
} modes[] = {
    {"ipi", wait_ipi, pass_ipi},
    {"kick", wait_kick, pass_kick},
    {"spin", wait_spin, pass_spin},
};

static const struct mode *mode = &modes[0];

static void play(uint32_t side)
{
    uint32_t peer = smp_cpus[peer_of[side]]->apic_id;

    for (uint64_t turn = side; turn < 2 * trips; turn += 2) {
        mode->wait(turn);
        __atomic_store_n(&ball, turn + 1, __ATOMIC_SEQ_CST);
        mode->pass(peer);
    }
}

static void play_b(void *arg)
{
    (void)arg;
    play(1);
}

int guest_main(void)
{
    uint32_t b = (uint32_t)opt_u64("b", 1);
    uint64_t start, ticks;

    for (uint32_t i = 0; i < ARRAY_SIZE(modes); i++)
        if (opt_is("mode", modes[i].name))
            mode = &modes[i];
    trips = MAX(opt_u64("n", 10000), 1);
    if (b == 0 || b >= smp_count)
        rt_fail("b= names no second vCPU");
    if (mode->pass == pass_kick && !pv_has(PV_UNHALT)) {
        rt_printf("pingpong: mode kick n/a: no PV_UNHALT\n");
        return 0;
    }
    trap_set_handler(VEC_BALL, ball_taken);
    peer_of[0] = b;
    peer_of[1] = 0;
    smp_run(b, play_b, NULL);
    start = asm_rdtsc();
    play(0);
    mode->wait(2 * trips);
    ticks = asm_rdtsc() - start;
    smp_wait(b);
    rt_printf("pingpong: mode %s, vCPUs 0 and %u: %lu round trips, %lu ticks each, %lu ms\n",
              mode->name, b, trips, ticks / trips, ticks / time_tsc_khz);
    rt_printf("PINGPONG {\"mode\":\"%s\",\"trips\":%lu,\"ticks_per_trip\":%lu}\n", mode->name,
              trips, ticks / trips);
    return 0;
}
