#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"
#include "tools_interface.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))
#define FAST __attribute__((tls_model("initial-exec")))

// ---- the process ----------------------------------------------------------

static struct {
    _Atomic int on;
    struct process process;
    struct settings settings;
    _Atomic(struct ring *) rings;
    _Atomic uint64_t lanes;
    _Atomic uint64_t unplaced;
    pthread_key_t leave;
    struct task_params (*params)(void *task);
    struct task_meta (*meta)(void *task);
    tool_data *(*data)(int32_t task);
} tool = {.process = {.wake = -1}};

void chamtool_disable(void) { atomic_store(&tool.on, 0); }

struct ring *chamtool_rings(void) { return atomic_load(&tool.rings); }

uint64_t chamtool_unplaced(void) { return atomic_load(&tool.unplaced); }

static inline int on(void) { return atomic_load_explicit(&tool.on, memory_order_relaxed); }

// ---- clocks ---------------------------------------------------------------

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

// invariant_tsc tells whether the time stamp counter runs at one speed through
// every power state: leaf 80000007h, EDX bit 8.
static int invariant_tsc(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
#else
    return 0;
#endif
}

// chamtool_clock reads both clocks between two reads of the ticks, and keeps
// the closest of a few such pairs: a thread may lose its core in between.
void chamtool_clock(uint64_t *at, uint64_t *ns) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = ticks(), now = nanoseconds(CLOCK_MONOTONIC), after = ticks();
        if (after - before < best) {
            best = after - before;
            *at = before + (after - before) / 2;
            *ns = now;
        }
    }
}

uint64_t chamtool_thread_cpu(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

// ---- the Go runtime's threads ---------------------------------------------

// Go's monitor thread looks every 20 microseconds at a reader that is at work.
// A thread inherits its parent's timer slack: with one of a millisecond where
// the runtime is started, its looks fall together. before_go runs ahead of the
// constructor that starts the runtime, and slack_back behind it, on one thread.
static long slack;
static sigset_t signals_before;
static int no_room; // Go was not started

// GO_NEEDS is the address space in bytes that the Go runtime and the tool's
// threads reserve, with room for the program's own; little of it is ever touched.
// Measured with glibc 2.36: 1.6 GB beside two threads, 2.5 GB beside sixteen.
#ifndef GO_NEEDS
#define GO_NEEDS 3000000000ul
#endif

// room_left is how much address space this process may still take, as `ulimit
// -v` has it.
static unsigned long room_left(void) {
    struct rlimit limit;
    unsigned long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return ULONG_MAX;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%lu", &pages) != 1) pages = 0;
        fclose(f);
    }
    unsigned long used = pages * (unsigned long)sysconf(_SC_PAGESIZE);
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

static void nothing(void) {}

// spare_go takes the constructors that follow off the loader's list: one of them
// starts the Go runtime, which ends the program where it finds no room.
static void spare_go(void) {
    Dl_info info;
    uintptr_t *list = NULL;
    size_t n = 0;
    if (!dladdr((void *)spare_go, &info)) return;
    for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_INIT_ARRAY) list = (uintptr_t *)((uintptr_t)info.dli_fbase + d->d_un.d_ptr);
        if (d->d_tag == DT_INIT_ARRAYSZ) n = d->d_un.d_val / sizeof *list;
    }
    if (!list) return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)list & ~(page - 1), to = (uintptr_t)(list + n);
    if (mprotect((void *)from, to - from, PROT_READ | PROT_WRITE)) return;
    for (size_t i = 0; i < n; i++) list[i] = (uintptr_t)nothing;
    no_room = 1;
}

static __attribute__((constructor(101))) void before_go(void) {
    if (room_left() < GO_NEEDS) {
        spare_go();
        return;
    }
    slack = prctl(PR_GET_TIMERSLACK);
    if (slack > 0) prctl(PR_SET_TIMERSLACK, 1000000L);
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM); // for the program's threads, which wait for Go's to write
    pthread_sigmask(SIG_BLOCK, &ends, &signals_before);
}

static __attribute__((constructor)) void after_go(void) {
    if (slack > 0) prctl(PR_SET_TIMERSLACK, slack);
    pthread_sigmask(SIG_SETMASK, &signals_before, NULL);
}

// ---- the end from outside -------------------------------------------------

// A program that SIGTERM ends never comes to finalize. Where nobody else hears
// the signal, the tool does: its reader writes what it has, for two seconds at
// most, and then the signal ends the program as it would have without the tool.
static _Atomic int ending, ended;

int chamtool_ending(void) { return atomic_load(&ending); }

void chamtool_ended(void) { atomic_store(&ended, 1); }

static void on_terminate(int signal) {
    int error = errno;
    uint64_t one = 1;
    struct timespec nap = {0, 2000000};
    atomic_store(&ending, 1);
    if (on() && tool.process.wake >= 0 && write(tool.process.wake, &one, sizeof one) > 0)
        for (int naps = 0; naps < 1000 && !atomic_load(&ended); naps++) nanosleep(&nap, NULL);
    errno = error;
    raise(signal); // blocked until the handler returns; its handler is the default again
}

static void hear_terminate(void) {
    struct sigaction now, ours = {.sa_handler = on_terminate, .sa_flags = SA_RESETHAND | SA_ONSTACK | SA_RESTART};
    if (sigaction(SIGTERM, NULL, &now) || now.sa_flags & SA_SIGINFO || now.sa_handler != SIG_DFL) return;
    sigaction(SIGTERM, &ours, NULL);
}

static void ignore_terminate(void) {
    struct sigaction now;
    if (!sigaction(SIGTERM, NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == on_terminate) signal(SIGTERM, SIG_DFL);
}

// ---- one ring for each thread ---------------------------------------------

static __thread struct ring *mine FAST;

static void leave(void *ring) { atomic_store(&((struct ring *)ring)->taken, 0); }

// adopt takes over the ring of a thread that has ended.
static struct ring *adopt(void) {
    for (struct ring *r = atomic_load(&tool.rings); r; r = r->next) {
        uint64_t free = 0;
        if (atomic_compare_exchange_strong(&r->taken, &free, 1)) return r;
    }
    return NULL;
}

static struct ring *make_ring(void) {
    size_t slots = tool.settings.ring_slots;
    size_t bytes = sizeof(struct ring) + slots * sizeof(uint64_t[SLOT_WORDS]);
    struct ring *r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED) return NULL;
    r->mask = slots - 1;
    r->quarter = slots / 4;
    r->lane = atomic_fetch_add(&tool.lanes, 1);
    r->slots = (uint64_t (*)[SLOT_WORDS])(r + 1);
    atomic_store(&r->taken, 1);
    r->next = atomic_load(&tool.rings);
    while (!atomic_compare_exchange_weak(&tool.rings, &r->next, r)) {}
    return r;
}

static __attribute__((noinline)) struct ring *first_ring(void) {
    struct ring *r = adopt();
    if (!r) r = make_ring();
    if (!r) {
        atomic_fetch_add(&tool.unplaced, 1);
        return NULL;
    }
    r->depth = 0;
    pthread_setspecific(tool.leave, r);
    return mine = r;
}

static inline struct ring *my_ring(void) { return __builtin_expect(mine != NULL, 1) ? mine : first_ring(); }

static __attribute__((noinline)) void wake_reader(void) {
    uint64_t one = 1;
    if (tool.process.wake >= 0 && write(tool.process.wake, &one, sizeof one) < 0) return; // the reader looks in time anyway
}

static __attribute__((noinline)) void look_back(struct ring *r, uint64_t head) {
    r->seen = atomic_load_explicit(&r->tail, memory_order_acquire);
    if (head - r->seen > 2 * r->quarter) wake_reader();
}

// room returns the head of a ring with place for n slots, or UINT64_MAX.
static inline uint64_t room(struct ring *r, uint64_t n) {
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (__builtin_expect(head + n - r->seen > r->mask + 1, 0)) {
        r->seen = atomic_load_explicit(&r->tail, memory_order_acquire);
        if (head + n - r->seen > r->mask + 1) {
            atomic_store_explicit(&r->dropped, atomic_load_explicit(&r->dropped, memory_order_relaxed) + 1, memory_order_relaxed);
            return UINT64_MAX;
        }
    }
    return head;
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

static inline int literal(const struct task_params *p, int32_t i) { return p->types && p->types[i] & ARG_LITERAL; }

// push_sized writes an event with the sizes of the arguments that are not
// literals. Those beyond MAX_SIZES are summed into the last.
static __attribute__((noinline)) void push_sized(int kind, int flag, int32_t number, uint64_t at, uint64_t token, uint64_t entry, struct task_params p) {
    struct ring *r = my_ring();
    uint64_t head, n = 0, further;
    if (!r) return;
    for (int32_t i = 0; i < p.n; i++) n += !literal(&p, i);
    if (n > MAX_SIZES) n = MAX_SIZES;
    further = (n + SLOT_WORDS - 1) / SLOT_WORDS;
    if ((head = room(r, 1 + further)) == UINT64_MAX) return;
    uint64_t *slot = r->slots[head & r->mask];
    slot[0] = header(kind, flag, n, further, number);
    slot[1] = at;
    slot[2] = token;
    slot[3] = entry;
    uint64_t k = 0;
    for (int32_t i = 0; i < p.n; i++) {
        if (literal(&p, i)) continue;
        uint64_t word = k < MAX_SIZES ? k : MAX_SIZES - 1;
        uint64_t *to = &r->slots[(head + 1 + word / SLOT_WORDS) & r->mask][word % SLOT_WORDS];
        *to = k < MAX_SIZES ? (uint64_t)p.sizes[i] : *to + (uint64_t)p.sizes[i];
        k++;
    }
    publish(r, head, 1 + further);
}

// push_task is push_sized for the usual task: few enough arguments that their
// sizes lie one behind the other in slots that do not wrap, whichever of them
// are literals.
static inline __attribute__((always_inline)) void push_task(int kind, int flag, uint64_t at, uint64_t token, uint64_t entry, struct task_params p) {
    struct ring *r = my_ring();
    if (!r) return;
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed), i = head & r->mask;
    enum { MOST = 4 }; // slots
    if (__builtin_expect(p.n > (MOST - 1) * SLOT_WORDS || !p.types || head + MOST - r->seen > r->mask + 1 || i + MOST > r->mask + 1, 0)) {
        push_sized(kind, flag, 0, at, token, entry, p);
        return;
    }
    uint64_t *slot = r->slots[i], *sizes = slot + SLOT_WORDS, *next = sizes;
    for (int32_t a = 0; a < p.n; a++) {
        *next = (uint64_t)p.sizes[a];
        next += !(p.types[a] & ARG_LITERAL);
    }
    uint64_t n = (uint64_t)(next - sizes), further = (n + SLOT_WORDS - 1) / SLOT_WORDS;
    slot[0] = header(kind, flag, n, further, 0);
    slot[1] = at;
    slot[2] = token;
    slot[3] = entry;
    publish(r, head, 1 + further);
}

// name gives a task an identity that no other task of this process has.
static inline uint64_t name(void) {
    struct ring *r = my_ring();
    return r ? (r->lane + 1) << 40 | (++r->named & 0xffffffffff) : 0;
}

// ---- callbacks of both dialects -------------------------------------------

static void on_thread_init(tool_data *thread) {
    (void)thread;
    if (on()) push(EVENT_THREAD_START, 0, 0, ticks(), 0, 0);
}

static void on_thread_finalize(tool_data *thread) {
    (void)thread;
    if (on()) push(EVENT_THREAD_END, 0, 0, ticks(), 0, 0);
}

static inline __attribute__((always_inline)) void describe(int kind, int flag, uint64_t at, void *task, uint64_t token) {
    struct task_params p = {0};
    uint64_t entry = 0;
    if (tool.params) p = tool.params(task);
    if (tool.meta) entry = (uint64_t)tool.meta(task).entry;
    if (kind == EVENT_CLAIM) entry = (uint64_t)(uintptr_t)task;
    push_task(kind, flag, at, token, entry, p);
}

static void on_task_create(void *task, tool_data *data, const void *caller) {
    (void)caller;
    if (!on() || !data) return;
    data->value = name();
    describe(EVENT_CREATE, TASK_LOCAL, ticks(), task, data->value);
}

// start notes a task's beginning; what it was is told when it ends. A task that
// was created here has a name already; one that came from another rank, or from
// the patched library, which names none, gets one now and is described.
static inline void start(void *task, int flag, tool_data *data) {
    struct ring *r = my_ring();
    if (!r) return;
    uint64_t at = ticks();
    if (tool.process.patched || flag != TASK_LOCAL || !data->value) {
        data->value = name();
        describe(tool.process.patched && flag == TASK_LOCAL ? EVENT_CLAIM : EVENT_ARRIVE, flag, at, task, data->value);
    } else {
        atomic_store_explicit(&r->started, atomic_load_explicit(&r->started, memory_order_relaxed) + 1, memory_order_relaxed);
    }
    uint64_t cpu = 0;
    if (tool.settings.cpu_every && ++r->unsampled >= tool.settings.cpu_every) {
        r->unsampled = 0;
        cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    }
    if (r->depth < MOST_NESTED) r->under_way[r->depth] = (struct under_way){data->value, at, cpu};
    r->depth++;
}

// lose tells of a task that began and did not end, or the other way round.
static __attribute__((noinline)) void lose(uint64_t token, int ended) { push(EVENT_LOST, 0, ended, ticks(), token, 0); }

// push_run writes a run; its CPU time, where it was taken, goes as a size does.
static inline void push_run(struct ring *r, int flag, struct under_way *run, uint64_t end, uint64_t cpu) {
    uint64_t further = cpu != 0, head = room(r, 1 + further);
    if (head == UINT64_MAX) return;
    int32_t place = (int32_t)(r->depth << 24) | ((sched_getcpu() + 1) & 0xffffff);
    uint64_t *slot = r->slots[head & r->mask];
    slot[0] = header(EVENT_RUN, flag, further, further, place);
    slot[1] = run->start;
    slot[2] = run->token;
    slot[3] = end;
    if (further) r->slots[(head + 1) & r->mask][0] = cpu;
    publish(r, head, 1 + further);
}

// end tells of the run of a task. Those that began within it and have not ended
// never will.
static inline void end(int flag, tool_data *data) {
    uint64_t at = ticks(), i, cpu = 0;
    struct ring *r = my_ring();
    if (!r) return;
    for (i = r->depth < MOST_NESTED ? r->depth : MOST_NESTED; i > 0 && r->under_way[i - 1].token != data->value; i--) {}
    if (__builtin_expect(i == 0 || r->depth > MOST_NESTED, 0)) { // nested too deep, or it began before there was a tool
        if (r->depth > MOST_NESTED) r->depth--;
        lose(data->value, 1);
        return;
    }
    while (__builtin_expect(r->depth > i, 0)) lose(r->under_way[--r->depth].token, 0);
    struct under_way *run = &r->under_way[--r->depth];
    if (run->cpu) cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - run->cpu;
    push_run(r, flag, run, at, cpu);
}

static void on_task_schedule(void *task, int flag, tool_data *data, int what, void *prior, int prior_flag, tool_data *prior_data) {
    (void)prior, (void)prior_flag, (void)prior_data;
    if (!on() || !data) return;
    switch (what) {
    case SCHEDULE_START:
    case SCHEDULE_YIELD: start(task, flag, data); break;
    case SCHEDULE_END:
    case SCHEDULE_CANCEL: end(flag, data); break;
    }
}

static void on_sync_region(int type, int status, tool_data *thread, const void *caller) {
    (void)type, (void)thread, (void)caller;
    if (on()) push(status == SYNC_START ? EVENT_WAIT_START : EVENT_WAIT_END, 0, 0, ticks(), 0, 0);
}

// ---- decisions, asked for by the communication thread ---------------------

// task_words appends what the tool keeps with each task: the token of one of
// our own, the predicted seconds of one that came. 0 where the library does not
// know the task any more.
static uint64_t *task_words(uint64_t *words, const int32_t *tasks, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        tool_data *data = tool.data ? tool.data(tasks[i]) : NULL;
        *words++ = data ? data->value : 0;
    }
    return words;
}

// The library exchanges loads and asks for moves hundreds of times a second. Most
// of the answers are as before: the load of a queue by what its tasks took on
// average a moment ago, and no move from a rank that is not above the mean, or
// that had none to make a moment ago. Only the communication thread is here.
enum { LOAD_HOLDS = 20000000, NO_MOVE_HOLDS = 5000000 }; // ns

static struct {
    uint64_t loaded, refused; // when Go was asked for the load, and had no move
    double each;              // predicted microseconds of a task in the queue then
} asked;

static int32_t scaled(int32_t tasks) {
    double load = asked.each * tasks;
    return load < INT32_MAX ? (int32_t)load : INT32_MAX;
}

// gives tells whether this rank may have something to give.
static int gives(const int32_t *load) {
    double sum = 0;
    for (int32_t i = 0; i < tool.process.ranks; i++) sum += load[i];
    if ((double)load[tool.process.rank] * tool.process.ranks <= sum) return 0;
    return nanoseconds(CLOCK_MONOTONIC) - asked.refused >= NO_MOVE_HOLDS;
}

static int32_t on_local_load(int32_t *local, int32_t local_n, int32_t *copies, int32_t copies_n,
                             int32_t *stolen, int32_t stolen_n, int32_t *stolen_copies, int32_t stolen_copies_n) {
    (void)copies, (void)copies_n, (void)stolen_copies, (void)stolen_copies_n;
    int32_t load = local_n + stolen_n;
    uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    if (on() && load > 0 && now - asked.loaded < LOAD_HOLDS) return scaled(load);
    uint64_t *words = on() ? malloc(sizeof *words * (size_t)(load + 1)) : NULL;
    if (!words) return load;
    task_words(task_words(words, local, local_n), stolen, stolen_n);
    int32_t tasks = load;
    load = chamtool_go_load(words, local_n, stolen_n);
    free(words);
    if (tasks > 0) asked.loaded = now, asked.each = (double)load / tasks;
    return load;
}

static void on_offload_counts(int32_t *counts, const int32_t *load, int32_t local, int32_t stolen) {
    (void)stolen;
    if (!on() || !gives(load)) return;
    chamtool_go_offload(counts, (int32_t *)load, local);
    for (int32_t i = 0; i < tool.process.ranks; i++)
        if (counts[i] > 0) return;
    asked.refused = nanoseconds(CLOCK_MONOTONIC);
}

static struct migration *on_migration(const int32_t *load, int32_t *tasks, int32_t local, int32_t stolen, int32_t *n) {
    (void)stolen;
    *n = 0;
    if (!on() || local <= 0 || !gives(load)) return NULL;
    struct migration *moves = malloc(sizeof *moves * (size_t)local);
    int32_t *chosen = malloc(2 * sizeof *chosen * (size_t)local);
    uint64_t *words = malloc(sizeof *words * (size_t)local);
    if (moves && chosen && words) {
        task_words(words, tasks, local);
        *n = chamtool_go_select((int32_t *)load, words, local, chosen, chosen + local);
        for (int32_t i = 0; i < *n; i++) moves[i] = (struct migration){tasks[chosen[i]], chosen[local + i]};
    }
    free(words);
    free(chosen);
    if (*n > 0) return moves; // the library frees it
    asked.refused = nanoseconds(CLOCK_MONOTONIC);
    free(moves);
    return NULL;
}

// A task that moves takes its predicted seconds with it: the receiver counts
// them in its load before it has learned anything of such a task.
static void *on_encode(void *task, tool_data *data, int32_t *size) {
    (void)task;
    double *seconds = malloc(sizeof *seconds); // the library frees it
    *size = 0;
    if (!seconds) return NULL;
    *seconds = on() && data ? chamtool_go_seconds(data->value) : 0;
    *size = sizeof *seconds;
    return seconds;
}

static void on_decode(void *task, tool_data *data, void *buffer, int32_t size) {
    (void)task;
    if (data && size == sizeof data->value) memcpy(&data->value, buffer, sizeof data->value);
}

// ---- the patched library --------------------------------------------------

// Called from the C++ glue, which alone can take a std::vector by value.
void chamtool_patched_create(void *task, uint64_t entry, int32_t iteration) {
    if (!on()) return;
    struct task_params p = {0};
    if (tool.params) p = tool.params(task);
    push_sized(EVENT_ANNOUNCE, TASK_LOCAL, iteration, ticks(), (uint64_t)(uintptr_t)task, entry, p);
}

int32_t chamtool_patched_predict(int32_t iteration, int32_t mode, double *values, int32_t room) {
    return on() ? chamtool_go_predict(iteration, mode, values, room) : 0;
}

extern void chamtool_patched_callbacks(any_function *create, any_function *predict) __attribute__((weak));

static uint64_t bits(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static void on_iteration_load(int32_t iteration, int32_t thread, double load) {
    (void)thread;
    if (on()) push(EVENT_LOAD, 0, iteration, ticks(), 0, bits(load));
}

static void on_task_time(int32_t iteration, int32_t thread, int task, double seconds) {
    (void)iteration, (void)thread;
    if (on()) push(EVENT_TASK_TIME, 0, task, ticks(), 0, bits(seconds));
}

static _Bool on_train(int32_t iteration, int mode) { return on() && chamtool_go_train(iteration, mode); }

static int on_tasks_per_rank(int32_t iteration) { return on() ? chamtool_go_tasks_per_rank(iteration) : 0; }

// ---- start and stop -------------------------------------------------------

// in_child: Go's threads do not exist in a forked child, so nothing may be
// asked of it there.
static void in_child(void) { chamtool_disable(); }

static int (*set_callback)(int event, any_function f);

static void hear(int event, any_function f) {
    int result = set_callback(event, f);
    if (result == SET_ERROR || result == SET_NEVER || result == SET_IMPOSSIBLE)
        fprintf(stderr, "chamtool: rank %d: callback %d is not offered by the library\n", tool.process.rank, event);
}

static void hear_patched(void) {
    any_function create, predict;
    chamtool_patched_callbacks(&create, &predict);
    hear(CALLBACK_TASK_CREATE, create);
    hear(CALLBACK_PREDICT, predict);
    hear(CALLBACK_ITERATION_LOAD, (any_function)on_iteration_load);
    hear(CALLBACK_TASK_TIME, (any_function)on_task_time);
    hear(CALLBACK_TRAIN, (any_function)on_train);
    hear(CALLBACK_TASKS_PER_RANK, (any_function)on_tasks_per_rank);
}

static void hear_upstream(void) {
    hear(CALLBACK_TASK_CREATE, (any_function)on_task_create);
    if (!tool.settings.balance) return;
    hear(CALLBACK_LOCAL_LOAD, (any_function)on_local_load);
    hear(CALLBACK_ENCODE, (any_function)on_encode);
    hear(CALLBACK_DECODE, (any_function)on_decode);
    if (tool.settings.balance == 1) hear(CALLBACK_OFFLOAD_COUNTS, (any_function)on_offload_counts);
    if (tool.settings.balance == 2) hear(CALLBACK_MIGRATION, (any_function)on_migration);
}

static int initialize(lookup_function lookup, tool_data *data) {
    (void)data;
    struct rank_info *(*info)(void) = (struct rank_info * (*)(void)) lookup("cham_t_get_rank_info");
    set_callback = (int (*)(int, any_function))lookup("cham_t_set_callback");
    tool.params = (struct task_params(*)(void *))lookup("cham_t_get_task_param_info");
    tool.data = (tool_data * (*)(int32_t)) lookup("cham_t_get_task_data");
    tool.meta = (struct task_meta(*)(void *))lookup("cham_t_get_task_meta_info");
    if (!set_callback) {
        fprintf(stderr, "chamtool: the library offers no cham_t_set_callback: the tool stays off\n");
        return 0;
    }
    struct rank_info *rank = info ? info() : NULL;
    tool.process.rank = rank ? rank->rank : 0;
    tool.process.ranks = rank ? rank->size : 1;
    tool.process.patched = tool.meta == NULL;
    tool.process.tsc = invariant_tsc();
    if (tool.process.patched && !chamtool_patched_callbacks) {
        fprintf(stderr, "chamtool: rank %d: this is the patched library, and the tool was built without its interface (needs g++): the tool stays off\n", tool.process.rank);
        return 0;
    }
    tool.process.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    tool.settings = (struct settings){.ring_slots = 8192};
    if (pthread_key_create(&tool.leave, leave) || pthread_atfork(NULL, NULL, in_child) || !chamtool_go_start(&tool.process, &tool.settings)) return 0;
    atomic_store(&tool.on, 1);
    hear_terminate();
    hear(CALLBACK_THREAD_INIT, (any_function)on_thread_init);
    hear(CALLBACK_THREAD_FINALIZE, (any_function)on_thread_finalize);
    hear(CALLBACK_TASK_SCHEDULE, (any_function)on_task_schedule);
    hear(CALLBACK_SYNC_REGION, (any_function)on_sync_region);
    if (tool.process.patched) hear_patched();
    else hear_upstream();
    return 1;
}

static void finalize(tool_data *data) {
    (void)data;
    if (!on()) return;
    chamtool_disable();
    ignore_terminate();
    chamtool_go_stop();
}

static struct start_tool_result result = {initialize, finalize, {0}};

EXPORT struct start_tool_result *cham_t_start_tool(unsigned version) {
    (void)version;
    if (no_room) {
        fprintf(stderr, "chamtool: the limit of address space (ulimit -v) leaves too little room, %lu MB are needed: the tool stays off\n", GO_NEEDS / 1000000);
        return NULL;
    }
    return &result;
}

// ---- symbols --------------------------------------------------------------

// chamtool_symbol finds the loaded file that holds an address, the address's
// offset in it, which is the same on every rank and in every run, and the
// symbol's name, if the file tells it.
int chamtool_symbol(uint64_t address, char **file, uint64_t *offset, char **symbol) {
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)address, &info) || !info.dli_fname) return 0;
    *file = (char *)info.dli_fname;
    *offset = address - (uint64_t)(uintptr_t)info.dli_fbase;
    *symbol = (char *)(info.dli_saddr == (void *)(uintptr_t)address ? info.dli_sname : NULL);
    return 1;
}
