// What a thread of the program does for an event: no lock, no allocation, no
// system call, but once a thread and where the reader is behind. Both front ends
// write their events by these functions.
#ifndef CHAMTOOL_RING_H
#define CHAMTOOL_RING_H

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "tool.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))

// tool is the process.
extern struct tool {
    _Atomic int on; // 1, 0 or IN_CHILD
    int started;    // the answer of Go
    struct process process;
    struct settings settings;
    _Atomic(struct ring *) rings;
    _Atomic uint64_t constructs[CONSTRUCTS]; // their places
    _Atomic uint64_t iteration;              // of an OpenMP program
    _Atomic uint64_t lanes;
    _Atomic uint64_t unplaced;
    pthread_key_t leave;
} tool HIDDEN;

// own_ring is this thread's ring; NULL before its first event.
extern __thread struct ring *own_ring HIDDEN __attribute__((tls_model("initial-exec")));

// early is the time from the loading of the library to the first use of OpenMP without the
// calls of MPI in it.
extern struct early {
    _Atomic uint64_t ns, cpu, calls; // cpu is the process's, in ns; calls are those of MPI
} early HIDDEN;

int begin_process(void) HIDDEN;      // of tool.process; starts the reader; 0 where the tool stays off
void end_process(void) HIDDEN;       // the last events, the logs
void handle_faults(void) HIDDEN;     // before Go is started
int start_service(void) HIDDEN;      // starts the service thread, once; 0 where the tool stays off
void call_service(void (*call)(void *), void *argument) HIDDEN; // makes the service thread call a function, and waits
void print_messages(void) HIDDEN;    // the messages of the tool's threads
void say_child(void) HIDDEN;         // once, in a forked child that creates tasks
struct ring *first_ring(void) HIDDEN; // this thread's; NULL where there is no memory
void look_back(struct ring *r, uint64_t head) HIDDEN;
void note_place(uint64_t place) HIDDEN;
void notice_unloads(void) HIDDEN; // outside tasks
void add_time(struct ring *r, int kind, uint64_t place, uint64_t ticks) HIDDEN;
void start_computing(struct ring *r, uint64_t at) HIDDEN;
void stop_computing(struct ring *r, uint64_t at) HIDDEN;
void enter_region(struct ring *r, uint64_t place, uint64_t at) HIDDEN;
void leave_regions(struct ring *r, uint64_t at) HIDDEN; // of the thread that forks them: it computes alone
void fork_region(struct ring *r, uint64_t place, uint64_t at) HIDDEN;
int end_elsewhere(struct ring *r, uint64_t token, uint64_t at) HIDDEN; // 1 if another thread ran the task's last part
void lose(uint64_t token, int ended) HIDDEN; // a task that began and did not end, or the other way round

enum { IN_CHILD = -1 };

static inline int on(void) { return atomic_load_explicit(&tool.on, memory_order_relaxed) > 0; }

// creates returns whether the tool is on, where a task is created: a forked child then says so.
static inline int creates(void) {
    int state = atomic_load_explicit(&tool.on, memory_order_relaxed);
    if (__builtin_expect(state > 0, 1)) return 1;
    if (state == IN_CHILD) say_child();
    return 0;
}

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t ticks(void) {
#if defined(__x86_64__)
    if (__builtin_expect(tool.process.tsc, 1)) return __rdtsc();
#endif
    return nanoseconds(CLOCK_MONOTONIC);
}

static inline struct ring *my_ring(void) { return __builtin_expect(own_ring != NULL, 1) ? own_ring : first_ring(); }

extern _Atomic uint64_t unloads HIDDEN; // how often the program unloaded libraries, as far as noticed, above an address

// place_of returns the place of a function's address, and notes its symbol while it is loaded.
static inline uint64_t place_of(struct ring *r, uint64_t address) {
    uint64_t place = address | atomic_load_explicit(&unloads, memory_order_relaxed);
    if (__builtin_expect(place != r->place, 0)) note_place(r->place = place);
    return place;
}

// has_room reports whether a ring has place for n slots.
static inline int has_room(struct ring *r, uint64_t n) {
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (__builtin_expect(head + n - r->seen <= r->mask + 1, 1)) return 1;
    r->seen = atomic_load_explicit(&r->tail, memory_order_acquire);
    return head + n - r->seen <= r->mask + 1;
}

// add changes a number that only this thread writes.
static inline void add(_Atomic uint64_t *n, uint64_t by) {
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + by, memory_order_relaxed);
}

// room returns the head of a ring with place for n slots, or UINT64_MAX.
static inline uint64_t room(struct ring *r, uint64_t n) {
    if (__builtin_expect(has_room(r, n), 1)) return atomic_load_explicit(&r->head, memory_order_relaxed);
    add(&r->dropped, 1);
    return UINT64_MAX;
}

// publish shows the reader n more slots. Now and then it looks whether the
// reader is behind, and only then wakes it.
static inline void publish(struct ring *r, uint64_t head, uint64_t n) {
    atomic_store_explicit(&r->head, head + n, memory_order_release);
    if (__builtin_expect((head ^ (head + n)) & r->quarter, 0)) look_back(r, head + n);
}

static inline uint64_t header(int kind, int flag, uint64_t sizes, uint64_t further, int32_t number) {
    return (uint64_t)kind | (uint64_t)(flag & 0xff) << 8 | sizes << 16 | further << 24 | (uint64_t)(uint32_t)number << 32;
}

static inline void push(int kind, int flag, int32_t number, uint64_t at, uint64_t token, uint64_t word3) {
    struct ring *r = my_ring();
    uint64_t head;
    if (!r || (head = room(r, 1)) == UINT64_MAX) return;
    uint64_t *slot = r->slots[head & r->mask];
    slot[0] = header(kind, flag, 0, 0, number);
    slot[1] = at;
    slot[2] = token;
    slot[3] = word3;
    publish(r, head, 1);
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

// other_time returns what a thread counts of a kind beyond the places kept separately.
static inline struct place_time *other_time(struct ring *r, uint64_t kind) {
    struct place_time *t = &r->times[kind - 1];
    atomic_store_explicit(&t->kind, kind, memory_order_relaxed);
    return t;
}

// contain adds the time of a run to that within the task around it.
static inline void contain(struct ring *r, const struct under_way *run, uint64_t end, int reported) {
    struct under_way *outer = innermost(r);
    if (run->ends_idling) stop_computing(r, end);
    outer->inner += end - run->start;
    if (!reported) outer->unreported += end - run->start - (run->inner - run->unreported);
}

// end_run reports the run of a task, or of a part of it. Those that began within
// it and have not ended never will.
static inline void end_run(int kind, int flag, uint64_t token) {
    uint64_t at = ticks(), i;
    struct ring *r = my_ring();
    if (!r) return;
    for (i = r->depth < MOST_NESTED ? r->depth : MOST_NESTED; i > 0 && atomic_load_explicit(&r->under_way[i - 1].token, memory_order_relaxed) != token; i--) {}
    if (__builtin_expect(i == 0 || r->depth > MOST_NESTED, 0)) { // nested too deep, or it began before there was a tool
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
// tasks that it has under way, and returns the ticks in which it had nothing to run. The end reports the time of the runs within that have no event.
// A task's wait is only counted if the ring has little room.
static inline uint64_t push_wait(int kind, int flag, uint64_t iteration) {
    struct ring *r = my_ring();
    if (!r) return 0;
    uint64_t at = ticks(), unreported = 0, idle = 0;
    struct under_way *run = innermost(r);
    if (kind == EVENT_WAIT_START) {
        run->from = at, run->before[0] = run->inner, run->before[1] = run->unreported;
        run->only_counted = tool.process.dialect == DIALECT_OMPT && r->depth > 0 && (run->construct & COUNTED || !has_spare(r, 2));
    } else {
        idle = at - run->from - (run->inner - run->before[0]);
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
    return idle;
}

#endif
