// Time counters of a thread, by kind and place: computing in a parallel region, waiting in
// barriers and for tasks, in MPI, alone between regions. They count every event, at any rate.
#define _GNU_SOURCE
#include <string.h>

#include "graph.h"

struct early early;

// chamtool_early returns the time since it was last called, and when the tool began to start, once:
// a program may load its runtime again.
void chamtool_early(uint64_t *ns, uint64_t *cpu, uint64_t *calls, uint64_t *began) {
    *ns = atomic_exchange(&early.ns, 0);
    *cpu = atomic_exchange(&early.cpu, 0);
    *calls = atomic_exchange(&early.calls, 0);
    *began = atomic_exchange(&early.began, 0);
}

// time_at returns what a thread counts of a kind and a place.
static struct place_time *time_at(struct ring *r, uint64_t kind, uint64_t place) {
    uint64_t n = (place >> 2) * 31 + kind;
    for (uint64_t tries = TIME_KINDS; tries < PLACES; tries++, n++) {
        struct place_time *t = &r->times[TIME_KINDS + n % (PLACES - TIME_KINDS)];
        uint64_t there = atomic_load_explicit(&t->kind, memory_order_relaxed);
        if (there == kind && atomic_load_explicit(&t->place, memory_order_relaxed) == place) return t;
        if (there) continue;
        atomic_store_explicit(&t->place, place, memory_order_relaxed);
        atomic_store_explicit(&t->kind, kind, memory_order_release);
        return t;
    }
    return other_time(r, kind);
}

// end_state counts the thread's present state up to a tick. The reader sees a state that changes, and
// copies again.
void end_state(struct ring *r, uint64_t at) {
    uint64_t since = atomic_load_explicit(&r->since, memory_order_relaxed), spent = at > since ? at - since : 0;
    atomic_store_explicit(&r->since, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    if (!r->state) return;
    add(&r->state->ticks, spent);
    if (r->state != r->computing) return;
    if (r->cpu_since && spent) {
        add(&r->state->measured, spent);
        add(&r->state->cpu, nanoseconds(CLOCK_THREAD_CPUTIME_ID) - r->cpu_since);
    }
    r->recent_ticks += spent / 8 - r->recent_ticks / 8;
}

void begin_state(struct ring *r, struct place_time *state, uint64_t at) {
    int computes = state && state == r->computing;
    r->state = state;
    r->cpu_since = computes && r->recent_ticks >= LONG_TICKS ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) : 0;
    atomic_store_explicit(&r->since, at, memory_order_release);
}

void change_state(struct ring *r, struct place_time *state, uint64_t at) {
    end_state(r, at);
    begin_state(r, state, at);
}

void wait_in(struct ring *r, int kind, uint64_t place, uint64_t at) {
    struct place_time *t = time_at(r, (uint64_t)kind, place);
    add(&t->count, 1);
    change_state(r, t, at);
}

void enter_region(struct ring *r, uint64_t place, uint64_t at) {
    end_state(r, at);
    r->last_barrier.state = NULL;
    r->computing = time_at(r, TIME_COMPUTING, place);
    add(&r->computing->count, 1);
    begin_state(r, r->computing, at);
}

void leave_regions(struct ring *r, uint64_t at) {
    end_state(r, at);
    r->computing = other_time(r, TIME_SERIAL);
    begin_state(r, r->computing, at);
}

// The time since the last region belongs to the one that begins now.
void fork_region(struct ring *r, uint64_t place, uint64_t at) {
    end_state(r, at);
    struct place_time *before = other_time(r, TIME_SERIAL), *t = time_at(r, TIME_SERIAL, place);
    add(&t->count, 1);
    add(&t->ticks, atomic_exchange(&before->ticks, 0));
    add(&t->measured, atomic_exchange(&before->measured, 0));
    add(&t->cpu, atomic_exchange(&before->cpu, 0));
    begin_state(r, NULL, at);
}

// ---- the end ------------------------------------------------------------------

void note_end(void) {
    uint64_t at = ticks(), before = 0;
    if (own_ring) keep_graph(own_ring, own_ring->initial, at);
    if (atomic_compare_exchange_strong(&tool.end, &before, at)) tool.ender = own_ring;
}

// find_time returns what a thread counts of a kind and a place in a copy of its times.
static struct place_time *find_time(struct place_time *times, uint64_t kind, uint64_t place) {
    for (int n = TIME_KINDS; n < PLACES; n++)
        if (times[n].kind == kind && times[n].place == place) return &times[n];
    times[kind - 1].kind = kind;
    return &times[kind - 1];
}

// add_computing adds the time of a thread that computes, or has tried to take a lock since it last
// did. Its CPU time shows whether it slept. The thread that ends the program computes.
static void add_computing(const struct ring *r, uint64_t since, uint64_t now, struct place_time *times) {
    struct place_time *t = &times[r->state - r->times];
    uint64_t lock = r->lock_at, cpu = lock > since ? r->lock_cpu : nanoseconds(r->cpu_clock);
    if (lock > since) {
        find_time(times, TIME_LOCK, r->lock_place)->ticks += now > lock ? now - lock : 0;
        now = lock;
    }
    uint64_t spent = now > since ? now - since : 0;
    if (r->cpu_since && cpu) {
        t->measured += spent;
        t->cpu += cpu - r->cpu_since;
    } else if (r != tool.ender && lock <= since) {
        t = find_time(times, TIME_UNKNOWN, 0);
    }
    t->ticks += spent;
}

// add_present adds the time of the state that a thread is in. That of the last barrier of a region
// ends with the region. Of several threads that fork regions the first one's time alone is known to be
// the program's.
static void add_present(const struct ring *r, uint64_t since, uint64_t now, struct place_time *times) {
    const struct region *region = r->last_barrier.region;
    if (!r->state || (r->state->kind == TIME_SERIAL && r->lane > 0)) return;
    if (r->state == r->computing) {
        add_computing(r, since, now, times);
        return;
    }
    if (r->state == r->last_barrier.state) {
        uint64_t ended = region->number == r->last_barrier.number ? region->ended : since;
        if (ended) now = ended;
    }
    times[r->state - r->times].ticks += now > since ? now - since : 0;
}

void chamtool_times(void *ring, void *times) {
    struct ring *r = ring;
    uint64_t end = atomic_load(&tool.end), since = 0;
    for (int tries = 0; tries < 10 && (!since || atomic_load(&r->since) != since); tries++) {
        since = atomic_load(&r->since);
        memcpy(times, r->times, PLACES * sizeof *r->times);
        if (since) add_present(r, since, end ? end : ticks(), times);
    }
}
