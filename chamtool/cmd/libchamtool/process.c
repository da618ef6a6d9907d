#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ring.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// What both front ends share: the process, its clock and signals, the threads'
// rings, and the start of the Go side.

struct tool tool = {.process = {.wake = -1}};

void chamtool_disable(void) { atomic_store(&tool.on, 0); }

struct ring *chamtool_rings(void) { return atomic_load(&tool.rings); }

uint64_t chamtool_unplaced(void) { return atomic_load(&tool.unplaced); }

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
static const int endings[] = {SIGTERM, SIGINT, SIGHUP, SIGXCPU, SIGABRT}; // signals that end a program
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
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) sigaddset(&ends, endings[i]); // for the program's threads, which wait for Go's to write
    sigaddset(&ends, SIGXFSZ); // a log at the limit of `ulimit -f` is an error and not the program's end
    pthread_sigmask(SIG_BLOCK, &ends, &signals_before);
}

static __attribute__((constructor)) void after_go(void) {
    if (slack > 0) prctl(PR_SET_TIMERSLACK, slack);
    pthread_sigmask(SIG_SETMASK, &signals_before, NULL);
}

// ---- the end from outside -------------------------------------------------

// A program that a signal ends never comes to finalize. Where nobody else handles the
// signal, the tool does: its reader writes the pending rows, for two seconds at most, and
// then the signal ends the program as it would have without the tool.
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
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        struct sigaction now, ours = {.sa_handler = on_terminate, .sa_flags = SA_RESETHAND | SA_ONSTACK | SA_RESTART};
        if (!sigaction(endings[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) sigaction(endings[i], &ours, NULL);
    }
}

static void ignore_terminate(void) {
    struct sigaction now;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (!sigaction(endings[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == on_terminate) signal(endings[i], SIG_DFL);
}

// ---- one ring for each thread ---------------------------------------------

__thread struct ring *mine;

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

struct ring *first_ring(void) {
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


static void wake_reader(void) {
    uint64_t one = 1;
    if (tool.process.wake >= 0 && write(tool.process.wake, &one, sizeof one) < 0) return; // the reader looks in time anyway
}

void look_back(struct ring *r, uint64_t head) {
    r->seen = atomic_load_explicit(&r->tail, memory_order_acquire);
    if (head - r->seen > 2 * r->quarter) wake_reader();
}

void lose(uint64_t token, int ended) { push(EVENT_LOST, 0, ended, ticks(), token, 0); }

// ---- start and stop -------------------------------------------------------

// in_child: Go's threads do not exist in a forked child, so nothing may be
// asked of it there.
static void in_child(void) { chamtool_disable(); }

int begin_process(void) {
    if (atomic_load(&tool.on)) return 0; // the other front end was first
    tool.process.tsc = invariant_tsc();
    tool.process.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    tool.settings = (struct settings){.ring_slots = 8192};
    if (pthread_key_create(&tool.leave, leave) || pthread_atfork(NULL, NULL, in_child) || !chamtool_go_start(&tool.process, &tool.settings)) return 0;
    atomic_store(&tool.on, 1);
    hear_terminate();
    at_quick_exit(end_process);
    return 1;
}

void end_process(void) {
    sigset_t large, before;
    struct timespec now = {0, 0};
    if (!on()) return;
    chamtool_disable();
    ignore_terminate();
    sigemptyset(&large);
    sigaddset(&large, SIGXFSZ); // the last rows are written by this thread
    pthread_sigmask(SIG_BLOCK, &large, &before);
    chamtool_go_stop();
    if (!sigismember(&before, SIGXFSZ)) sigtimedwait(&large, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int no_room_for_go(void) {
    if (no_room) fprintf(stderr, "chamtool: the limit of address space (ulimit -v) leaves too little room, %lu MB are needed: the tool stays off\n", GO_NEEDS / 1000000);
    return no_room;
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
