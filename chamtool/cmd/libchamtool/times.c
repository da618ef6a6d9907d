// Time counters of a thread, by kind and place: computing in a parallel region, waiting in
// barriers and for tasks, in MPI, alone between regions. They count every event, at any rate.
#define _GNU_SOURCE
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

void add_time(struct ring *r, int kind, uint64_t place, uint64_t ticks) {
    struct place_time *t = time_at(r, (uint64_t)kind, place);
    add(&t->count, 1);
    add(&t->ticks, ticks);
}

void start_computing(struct ring *r, uint64_t at) {
    r->since = at;
    r->cpu_since = r->recent_ticks >= LONG_TICKS ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void stop_computing(struct ring *r, uint64_t at) {
    if (!r->since) return;
    uint64_t spent = at > r->since ? at - r->since : 0;
    add(&r->computing->ticks, spent);
    if (r->cpu_since) {
        add(&r->computing->measured, spent);
        add(&r->computing->cpu, nanoseconds(CLOCK_THREAD_CPUTIME_ID) - r->cpu_since);
    }
    r->recent_ticks += spent / 8 - r->recent_ticks / 8;
    r->since = 0;
}

void enter_region(struct ring *r, uint64_t place, uint64_t at) {
    stop_computing(r, at);
    r->computing = time_at(r, TIME_COMPUTING, place);
    add(&r->computing->count, 1);
    start_computing(r, at);
}

void leave_regions(struct ring *r, uint64_t at) {
    stop_computing(r, at);
    r->computing = other_time(r, TIME_SERIAL);
    start_computing(r, at);
}

// close_times ends the computing of this thread, and of those within regions.
void close_times(void) {
    if (own_ring) keep_graph(own_ring, own_ring->initial, ticks());
    for (struct ring *r = atomic_load(&tool.rings); r; r = r->next) {
        if (!r->since || (r != own_ring && r->computing->kind != TIME_COMPUTING)) continue;
        if (r != own_ring) r->cpu_since = 0; // it is another thread's
        stop_computing(r, ticks());
    }
}

// The time since the last region belongs to the one that begins now.
void fork_region(struct ring *r, uint64_t place, uint64_t at) {
    stop_computing(r, at);
    struct place_time *before = other_time(r, TIME_SERIAL), *t = time_at(r, TIME_SERIAL, place);
    add(&t->count, 1);
    add(&t->ticks, atomic_exchange(&before->ticks, 0));
    add(&t->measured, atomic_exchange(&before->measured, 0));
    add(&t->cpu, atomic_exchange(&before->cpu, 0));
}
