#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ring.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// What both front ends share: the process, its clock and signals, and the start and end of
// the tool.

void chamtool_disable(void) { atomic_store(&tool.on, 0); }

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
// then the signal ends the program as it would have without the tool. A second signal waits
// too: Ctrl-C reaches the program from the terminal and from its launcher.
static const int endings[] = {SIGTERM, SIGINT, SIGHUP, SIGXCPU, SIGABRT};
static _Atomic int ending, ended;

int chamtool_ending(void) { return atomic_load(&ending); }

void chamtool_ended(void) { atomic_store(&ended, 1); }

void write_pending(void) {
    struct timespec nap = {0, 2000000};
    if (!on()) return;
    if (!atomic_exchange(&ending, 1)) {
        note_end();
        chamtool_wake();
    }
    for (int naps = 0; naps < 1000 && !atomic_load(&ended); naps++) nanosleep(&nap, NULL);
    print_messages();
}

static void on_terminate(int signal) {
    int error = errno;
    write_pending();
    errno = error;
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigaction(signal, &by_default, NULL); // Go's handler may have called this one
    raise(signal);                        // blocked until the handler returns
}

// handle_endings handles signals that nothing else handles.
static void handle_endings(const int *signals, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct sigaction now, ours = {.sa_handler = on_terminate, .sa_flags = SA_ONSTACK | SA_RESTART};
        if (!sigaction(signals[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) sigaction(signals[i], &ours, NULL);
    }
}

// The signals of faults are Go's too, which passes those of the program's threads on to the
// handlers that it finds. It also takes SIGURG, and needs it only to preempt its own threads,
// which start_service turns off: the program's handler comes back.
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE};
static struct sigaction urgent;

static void handle_faults(void) {
    handle_endings(faults, sizeof faults / sizeof *faults);
    sigaction(SIGURG, NULL, &urgent);
}

static void ignore_terminate(void) {
    struct sigaction now;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (!sigaction(endings[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == on_terminate) signal(endings[i], SIG_DFL);
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

static void start_go(void *unused) {
    (void)unused;
    tool.started = chamtool_go_start(&tool.process, &tool.settings);
}

static void stop_go(void *unused) {
    (void)unused;
    chamtool_go_stop();
}

int start_tool(void) { return start_service(handle_faults); }

int begin_process(void) {
    static int prepared; // the handlers of an earlier run
    if (atomic_load(&tool.on) || !start_tool()) return 0; // the other front end was first, or a forked child
    tool.process.tsc = invariant_tsc();
    tool.settings = (struct settings){.ring_slots = 8192};
    if (!prepare_rings() || (!prepared && pthread_atfork(NULL, NULL, in_child))) return 0;
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
    note_end();
    chamtool_disable();
    ignore_terminate();
    call_service(stop_go, NULL);
    print_messages();
}
