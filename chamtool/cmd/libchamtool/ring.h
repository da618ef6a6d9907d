// What a thread of the program does for an event: no lock, no allocation, no
// system call, but once a thread and where the reader is behind. Both front ends
// write their events by these functions.
#ifndef CHAMTOOL_RING_H
#define CHAMTOOL_RING_H

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
    _Atomic uint64_t end; // tick of the program's end, 0 before
    struct ring *ender;   // of the thread that ends it
} tool HIDDEN;

// own_ring is this thread's ring; NULL before its first event.
extern __thread struct ring *own_ring HIDDEN __attribute__((tls_model("initial-exec")));

// early is the time from the loading of the library to the first use of OpenMP without the
// calls of MPI in it, and without MPI_Init wherever that is.
extern struct early {
    _Atomic uint64_t ns, cpu, calls; // cpu is the process's, in ns; calls are those of MPI
    _Atomic uint64_t began;          // when the tool began to start, in ns of the monotonic clock
} early HIDDEN;

int begin_process(void) HIDDEN;      // of tool.process; starts the reader; 0 where the tool stays off
void end_process(void) HIDDEN;       // the last events, the logs
void write_pending(void) HIDDEN;     // the same without an end of the tool: the program is about to be ended
int start_tool(void) HIDDEN;         // starts the service thread; 0 where the tool stays off
int start_service(void (*prepare)(void)) HIDDEN; // starts the service thread, once, behind a call; 0 where the tool stays off
void call_service(void (*call)(void *), void *argument) HIDDEN; // makes the service thread call a function, and waits
void print_messages(void) HIDDEN;    // the messages of the tool's threads
void say_child(void) HIDDEN;         // once, in a forked child that creates tasks
struct ring *first_ring(void) HIDDEN; // this thread's; NULL where there is no memory
int prepare_rings(void) HIDDEN;
void *find_next(const char *name, const char *library) HIDDEN; // NULL if no such library has the function
void look_back(struct ring *r, uint64_t head) HIDDEN;
void note_place(uint64_t place) HIDDEN;
void notice_unloads(void) HIDDEN; // outside tasks
void end_state(struct ring *r, uint64_t at) HIDDEN;
void begin_state(struct ring *r, struct place_time *state, uint64_t at) HIDDEN;
void change_state(struct ring *r, struct place_time *state, uint64_t at) HIDDEN;
void wait_in(struct ring *r, int kind, uint64_t place, uint64_t at) HIDDEN;
void enter_region(struct ring *r, uint64_t place, uint64_t at) HIDDEN;
void leave_regions(struct ring *r, uint64_t at) HIDDEN; // of the thread that forks them: it computes alone
void fork_region(struct ring *r, uint64_t place, uint64_t at) HIDDEN;
void note_end(void) HIDDEN; // of the program

// LONG_TICKS is the mean length of a thread's last intervals of computing from which on their CPU
// time is measured too, two system calls each: some ten microseconds.
enum { LONG_TICKS = 50000 };

enum { IN_CHILD = -1 };

static inline int on(void) { return atomic_load_explicit(&tool.on, memory_order_relaxed) > 0; }

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

// other_time returns what a thread counts of a kind beyond the places kept separately.
static inline struct place_time *other_time(struct ring *r, uint64_t kind) {
    struct place_time *t = &r->times[kind - 1];
    atomic_store_explicit(&t->kind, kind, memory_order_relaxed);
    return t;
}

#endif
