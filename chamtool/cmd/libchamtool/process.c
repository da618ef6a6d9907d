#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// What both front ends share: the process, its clock and signals, the threads'
// rings, and the start and end of the tool.

struct tool tool;

void chamtool_disable(void) { atomic_store(&tool.on, 0); }

struct ring *chamtool_rings(void) { return atomic_load(&tool.rings); }

uint64_t chamtool_unplaced(void) { return atomic_load(&tool.unplaced); }

// invariant_tsc reports whether the time stamp counter runs at one speed through
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

// ---- the end from outside -------------------------------------------------

// A program that a signal ends never finalizes its runtime. Where nobody else handles the
// signal, the tool does: its reader writes the pending rows, for two seconds at most, and
// then the signal ends the program as it would have without the tool.
static const int endings[] = {SIGTERM, SIGINT, SIGHUP, SIGXCPU, SIGABRT};
static _Atomic int ending, ended;

int chamtool_ending(void) { return atomic_load(&ending); }

void chamtool_ended(void) { atomic_store(&ended, 1); }

static void on_terminate(int signal) {
    int error = errno;
    struct timespec nap = {0, 2000000};
    atomic_store(&ending, 1);
    if (on()) {
        chamtool_wake();
        for (int naps = 0; naps < 1000 && !atomic_load(&ended); naps++) nanosleep(&nap, NULL);
        print_messages();
    }
    errno = error;
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigaction(signal, &by_default, NULL); // Go's handler may have called this one
    raise(signal);                        // blocked until the handler returns
}

// handle_endings handles signals that nothing else handles.
static void handle_endings(const int *signals, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct sigaction now, ours = {.sa_handler = on_terminate, .sa_flags = SA_RESETHAND | SA_ONSTACK | SA_RESTART};
        if (!sigaction(signals[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) sigaction(signals[i], &ours, NULL);
    }
}

// The signals of faults are Go's too, which passes those of the program's threads on to the
// handlers that it finds. It also takes SIGURG, and needs it only to preempt its own threads,
// which start_service turns off: the program's handler comes back.
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE};
static struct sigaction urgent;

void handle_faults(void) {
    handle_endings(faults, sizeof faults / sizeof *faults);
    sigaction(SIGURG, NULL, &urgent);
}

static void ignore_terminate(void) {
    struct sigaction now;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (!sigaction(endings[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == on_terminate) signal(endings[i], SIG_DFL);
}

// ---- one ring for each thread ---------------------------------------------

__thread struct ring *own_ring;

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
    size_t bytes = sizeof(struct ring) + slots * sizeof(uint64_t[SLOT_WORDS]) + CONSTRUCTS * ITERATIONS * sizeof(struct unread) + PLACES * sizeof(struct place_time) + DEPTHS * sizeof *((struct ring *)NULL)->depths;
    struct ring *r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED) return NULL;
    r->mask = slots - 1;
    r->quarter = slots / 4;
    r->lane = atomic_fetch_add(&tool.lanes, 1);
    r->slots = (uint64_t (*)[SLOT_WORDS])(r + 1);
    r->unread = (struct unread *)(r->slots + slots);
    r->recent_ticks = UINT32_MAX;
    r->times = (struct place_time *)(r->unread + CONSTRUCTS * ITERATIONS);
    r->depths = (void *)(r->times + PLACES);
    atomic_store(&r->taken, 1);
    r->next = atomic_load(&tool.rings);
    while (!atomic_compare_exchange_weak(&tool.rings, &r->next, r)) {}
    return r;
}

struct ring *first_ring(void) {
    struct ring *r = adopt();
    if (!r) r = make_ring();
    if (!r) {
        atomic_fetch_add(&tool.unplaced, 1);
        return NULL;
    }
    r->depth = r->shown = 0;
    pthread_setspecific(tool.leave, r);
    return own_ring = r;
}

void look_back(struct ring *r, uint64_t head) {
    r->seen = atomic_load_explicit(&r->tail, memory_order_acquire);
    if (head - r->seen > 2 * r->quarter) chamtool_wake();
}

void lose(uint64_t token, int ended) { push(EVENT_LOST, 0, ended, ticks(), token, 0); }

// An untied task ends when its last part is over and the threads that ran earlier parts have
// left them. The runtime reports the end on the thread that comes last, and nothing on the
// thread of the last part. That part is then still on top of its thread's tasks: the thread that
// hears of the end takes it from there, unless the thread itself has noticed before.

// end_elsewhere reports the end of a task whose last part another thread ran.
int end_elsewhere(struct ring *r, uint64_t token, uint64_t at) {
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

struct early early;

// chamtool_early returns the time before the first use of OpenMP, once: a program may load its
// runtime again.
void chamtool_early(uint64_t *ns, uint64_t *cpu, uint64_t *calls) {
    *ns = atomic_exchange(&early.ns, 0);
    *cpu = atomic_exchange(&early.cpu, 0);
    *calls = atomic_exchange(&early.calls, 0);
}

// ---- start and stop -------------------------------------------------------

// in_child runs in a forked child, which has none of the tool's threads.
static void in_child(void) {
    if (on()) atomic_store(&tool.on, IN_CHILD);
}

void say_child(void) {
    int child = IN_CHILD;
    char line[128];
    if (!atomic_compare_exchange_strong(&tool.on, &child, 0)) return;
    int n = snprintf(line, sizeof line, "chamtool: rank %d: process %d is a forked child: its tasks are not recorded\n", tool.process.rank, (int)getpid());
    if (write(STDERR_FILENO, line, (size_t)n) < 0) return;
}

// reuse_rings empties the rings of an earlier run of this process: a program may unload
// and load its OpenMP runtime.
static void reuse_rings(void) {
    for (struct ring *r = atomic_load(&tool.rings); r; r = r->next) {
        atomic_store(&r->tail, atomic_load(&r->head));
        atomic_store(&r->dropped, 0);
        atomic_store(&r->started, 0);
        atomic_store(&r->changed, 0);
        atomic_store(&r->calls, 0);
        memset(r->unread, 0, CONSTRUCTS * ITERATIONS * sizeof *r->unread);
        memset(r->times, 0, PLACES * sizeof *r->times);
        memset(r->depths, 0, DEPTHS * sizeof *r->depths);
        r->computing = NULL, r->since = 0;
        r->depth = r->shown = 0;
    }
    atomic_store(&tool.unplaced, 0);
}

static void start_go(void *unused) {
    (void)unused;
    tool.started = chamtool_go_start(&tool.process, &tool.settings);
}

static void stop_go(void *unused) {
    (void)unused;
    chamtool_go_stop();
}

int begin_process(void) {
    static int prepared; // the key and the handlers of an earlier run
    if (atomic_load(&tool.on) || !start_service()) return 0; // the other front end was first, or a forked child
    tool.process.tsc = invariant_tsc();
    tool.settings = (struct settings){.ring_slots = 8192};
    reuse_rings();
    if (!prepared && (pthread_key_create(&tool.leave, leave) || pthread_atfork(NULL, NULL, in_child))) return 0;
    call_service(start_go, NULL);
    if (!prepared) sigaction(SIGURG, &urgent, NULL);
    print_messages();
    if (!tool.started) return 0;
    atomic_store(&tool.on, 1);
    handle_endings(endings, sizeof endings / sizeof *endings);
    if (!prepared) at_quick_exit(end_process);
    prepared = 1;
    return 1;
}

void end_process(void) {
    if (!on()) return;
    chamtool_disable();
    ignore_terminate();
    call_service(stop_go, NULL);
    print_messages();
}

// ---- symbols --------------------------------------------------------------

_Atomic uint64_t unloads;

// symbols are the functions of tasks, by place. They are looked up where the first task of
// a function is created: the library may be unloaded before the reader has the event.
static struct {
    _Atomic uint64_t place;
    _Atomic int ready;
    char *file, *symbol;
    uint64_t offset;
} symbols[1 << 12];

static int look_up(uint64_t place, char **file, uint64_t *offset, char **symbol) {
    Dl_info info;
    uint64_t address = place & ((1ull << UNLOADS) - 1);
    if (!dladdr((void *)(uintptr_t)address, &info) || !info.dli_fname) return 0;
    *file = (char *)info.dli_fname;
    *offset = address - (uint64_t)(uintptr_t)info.dli_fbase;
    *symbol = (char *)(info.dli_saddr == (void *)(uintptr_t)address ? info.dli_sname : NULL);
    return 1;
}

static size_t slot_of(uint64_t place) { return (size_t)((place * 0x9e3779b97f4a7c15ull) >> 52); }

void note_place(uint64_t place) {
    size_t n = sizeof symbols / sizeof *symbols;
    for (size_t i = slot_of(place), tries = 0; tries < n; i = (i + 1) % n, tries++) {
        uint64_t there = atomic_load(&symbols[i].place);
        if (there == place) return;
        if (there || !atomic_compare_exchange_strong(&symbols[i].place, &there, place)) continue;
        char *file = NULL, *symbol = NULL;
        if (look_up(place, &file, &symbols[i].offset, &symbol)) {
            symbols[i].file = strdup(file);
            symbols[i].symbol = symbol ? strdup(symbol) : NULL;
        }
        atomic_store(&symbols[i].ready, 1);
        return;
    }
}

static int count_unloads(struct dl_phdr_info *info, size_t size, void *count) {
    (void)size;
    *(uint64_t *)count = info->dlpi_subs;
    return 1;
}

void notice_unloads(void) {
    static _Atomic uint64_t known;
    uint64_t now = 0, before = atomic_load(&known);
    dl_iterate_phdr(count_unloads, &now);
    if (now != before && atomic_compare_exchange_strong(&known, &before, now)) atomic_fetch_add(&unloads, 1ull << UNLOADS);
}

// chamtool_symbol finds the file that holds a place, the place's offset in it, which is the
// same on every rank and in every run, and the symbol's name, if the file has it.
int chamtool_symbol(uint64_t place, char **file, uint64_t *offset, char **symbol) {
    size_t n = sizeof symbols / sizeof *symbols;
    for (size_t i = slot_of(place), tries = 0; tries < n && atomic_load(&symbols[i].place); i = (i + 1) % n, tries++) {
        if (atomic_load(&symbols[i].place) != place || !atomic_load(&symbols[i].ready)) continue;
        *file = symbols[i].file, *offset = symbols[i].offset, *symbol = symbols[i].symbol;
        return symbols[i].file != NULL;
    }
    return look_up(place, file, offset, symbol);
}
