// What a thread of the program does for a task: it notes the beginning, and writes one event at
// the end. Both front ends write their tasks by these functions.
#ifndef CHAMTOOL_RUN_H
#define CHAMTOOL_RUN_H

#include <sched.h>

#include "ring.h"

// creates returns whether the tool is on, where a task is created: a forked child then says so.
static inline int creates(void) {
    int state = atomic_load_explicit(&tool.on, memory_order_relaxed);
    if (__builtin_expect(state > 0, 1)) return 1;
    if (state == IN_CHILD) say_child();
    return 0;
}

// COUNTED marks a task of which the events have no room: it is counted by its construct.
#define COUNTED (1ull << 62)

// RUNTIMES marks a task under way that is the runtime's own, CONTINUED one of which this is
// not the first part.
enum { RUNTIMES = 1 << 15, CONTINUED = 1 << 16 };

// name gives a task an identity that no other open task of this process has.
static inline uint64_t name(void) {
    struct ring *r = my_ring();
    if (!r) return 0;
    add(&r->named, 1);
    return (r->lane + 1) << 40 | (atomic_load_explicit(&r->named, memory_order_relaxed) & UINT32_MAX);
}

// TAKEN marks the token of a task under way whose end another thread has reported.
#define TAKEN (1ull << 63)

// begin_run notes a task's beginning; the event is written when the task ends.
static inline void begin_run(struct ring *r, uint64_t token, uint64_t at) {
    if (r->depth < MOST_NESTED) {
        struct under_way *run = &r->under_way[r->depth];
        atomic_store_explicit(&run->token, token, memory_order_relaxed);
        run->start = at, run->inner = run->unreported = 0;
        r->shown += !(run->construct & COUNTED);
    }
    r->depth++;
}

// KEPT are the slots of a ring that the tasks of an OpenMP program leave to other events.
enum { KEPT = 64 };

// has_spare reports whether a ring has place for n slots beyond those kept, and three for
// the ends of each task under way that an event will tell, and of its wait.
static inline int has_spare(struct ring *r, uint64_t n) { return has_room(r, n + KEPT + 3 * r->shown); }

// unread_of returns what a ring counts of a task's construct in the present iteration.
static inline struct unread *unread_of(struct ring *r, uint64_t construct) {
    uint64_t iteration = atomic_load_explicit(&tool.iteration, memory_order_relaxed), n = construct % CONSTRUCTS;
    struct unread *u = &r->unread[n * ITERATIONS + iteration % ITERATIONS];
    atomic_store_explicit(&u->place, atomic_load_explicit(&tool.constructs[n], memory_order_relaxed), memory_order_relaxed);
    atomic_store_explicit(&u->iteration, iteration, memory_order_relaxed);
    if (n >= atomic_load_explicit(&r->used, memory_order_relaxed)) atomic_store_explicit(&r->used, n + 1, memory_order_relaxed);
    add(&r->changed, 1);
    return u;
}

// count_run counts a run, or a part of one, by its construct.
static inline void count_run(struct ring *r, struct under_way *run, uint64_t at, uint64_t ended) {
    struct unread *u = unread_of(r, run->construct);
    uint64_t ticks = at - run->start - run->inner;
    add(&u->ticks, ticks);
    add(&u->ended, ended);
    if (ticks > atomic_load_explicit(&u->longest, memory_order_relaxed)) atomic_store_explicit(&u->longest, ticks, memory_order_relaxed);
}

// push_run writes a run, or a part of one; the time within it that no event reports goes as
// a size does. It returns 0 if the run was only counted.
static inline int push_run(struct ring *r, int kind, int flag, struct under_way *run, uint64_t token, uint64_t depth, uint64_t end) {
    uint64_t further = run->unreported != 0, ended = kind == EVENT_RUN;
    if (tool.process.dialect == DIALECT_OMPT) {
        if (!(run->loop & RUNTIMES)) {
            add(&r->depths[run->level].tasks, ended);
            add(&r->depths[run->level].ticks, end - run->start - run->inner);
        }
        if (run->construct & COUNTED) {
            count_run(r, run, end, ended && !(run->loop & RUNTIMES));
            return 0;
        }
        if (__builtin_expect(!has_room(r, 1 + further), 0)) {
            count_run(r, run, end, ended);
            add(&unread_of(r, run->construct)->half_reported, ended);
            return 0;
        }
    }
    uint64_t head = room(r, 1 + further);
    if (head == UINT64_MAX) return 0;
    int32_t place = (int32_t)((uint32_t)depth << 16 | (uint32_t)((sched_getcpu() + 1) & 0xffff));
    uint64_t *slot = r->slots[head & r->mask];
    slot[0] = header(kind, flag, further, further, place);
    slot[1] = run->start;
    slot[2] = token;
    slot[3] = end;
    if (further) r->slots[(head + 1) & r->mask][0] = run->unreported;
    publish(r, head, 1 + further);
    return 1;
}

// innermost returns the task under way that began last.
static inline struct under_way *innermost(struct ring *r) {
    return r->depth == 0 ? &r->implicit : &r->under_way[(r->depth < MOST_NESTED ? r->depth : MOST_NESTED) - 1];
}

// end_inner takes the task that began last off those under way.
static inline struct under_way *end_inner(struct ring *r) {
    struct under_way *run = &r->under_way[--r->depth];
    r->shown -= !(run->construct & COUNTED);
    return run;
}

// contain adds the time of a run to that within the task around it.
static inline void contain(struct ring *r, const struct under_way *run, uint64_t end, int reported) {
    struct under_way *outer = innermost(r);
    if (run->waiting) change_state(r, run->waiting, end);
    outer->inner += end - run->start;
    if (!reported) outer->unreported += end - run->start - (run->inner - run->unreported);
}

// lose reports a task that began and did not end, or the other way round.
static inline void lose(uint64_t token, int ended) { push(EVENT_LOST, 0, ended, ticks(), token, 0); }

// An untied task ends when its last part is over and the threads that ran earlier parts have
// left them. The runtime reports the end on the thread that comes last, and nothing on the
// thread of the last part. That part is then still on top of its thread's tasks: the thread that
// hears of the end takes it from there, unless the thread itself has noticed before.

// end_elsewhere reports the end of a task whose last part another thread ran.
static inline int end_elsewhere(struct ring *r, uint64_t token, uint64_t at) {
    for (struct ring *other = atomic_load(&tool.rings); other; other = other->next) {
        uint64_t depth = __atomic_load_n(&other->depth, __ATOMIC_ACQUIRE);
        for (uint64_t i = depth < MOST_NESTED ? depth : MOST_NESTED; other != r && i > 0; i--) {
            uint64_t there = token;
            struct under_way run = other->under_way[i - 1];
            if (!atomic_compare_exchange_strong(&other->under_way[i - 1].token, &there, token | TAKEN)) continue;
            run.unreported = run.inner;
            push_run(r, EVENT_RUN, 1, &run, token, ELSEWHERE, at);
            return 1;
        }
    }
    return 1; // the thread itself reported it
}

// end_run reports the run of a task, or of a part of it. Those that began within
// it and have not ended never will.
static inline void end_run(struct ring *r, int kind, int flag, uint64_t token, uint64_t at) {
    uint64_t i = r->depth > MOST_NESTED ? 0 : r->depth;
    for (; i > 0 && atomic_load_explicit(&r->under_way[i - 1].token, memory_order_relaxed) != token; i--) {}
    if (__builtin_expect(i == 0, 0)) { // nested too deep, or it began before there was a tool
        if (tool.process.dialect == DIALECT_OMPT && r->depth <= MOST_NESTED && end_elsewhere(r, token, at)) return;
        if (r->depth > MOST_NESTED) r->depth--;
        lose(token, 1);
        return;
    }
    while (__builtin_expect(r->depth > i, 0)) lose(atomic_load_explicit(&end_inner(r)->token, memory_order_relaxed), 0);
    struct under_way *run = end_inner(r);
    int reported = push_run(r, kind, flag, run, token, r->shown, at);
    if (kind == EVENT_PART) atomic_store_explicit(&run->token, 0, memory_order_relaxed);
    contain(r, run, at, reported);
}

// push_wait reports that the thread begins to wait, or stops, within the
// tasks that it has under way. The end reports the time of the runs within that have no event.
// A task's wait is only counted if the ring has little room.
static inline void push_wait(struct ring *r, int kind, int flag, uint64_t iteration, uint64_t at) {
    uint64_t unreported = 0;
    struct under_way *run = innermost(r);
    if (kind == EVENT_WAIT_START) {
        run->from = at, run->before[0] = run->inner, run->before[1] = run->unreported;
        run->only_counted = tool.process.dialect == DIALECT_OMPT && r->depth > 0 && (run->construct & COUNTED || !has_spare(r, 2));
    } else {
        uint64_t idle = at - run->from - (run->inner - run->before[0]);
        unreported = run->unreported - run->before[1];
        run->inner += idle;
        if (run->only_counted) {
            run->unreported += idle;
            struct unread *u = unread_of(r, run->construct);
            add(&u->waits, 1);
            add(&u->waited, idle);
        }
    }
    if (!run->only_counted) push(kind, flag, (int32_t)r->shown, at, unreported, iteration);
}

#endif
