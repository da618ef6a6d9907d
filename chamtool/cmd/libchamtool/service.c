#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring.h"

// The service thread starts the Go runtime and is the only thread that calls Go. It and all
// threads that Go starts share a table of descriptors of their own, so the program may close
// or reuse every descriptor that it has, and the tool never writes to one of the program's.
// Threads of the program post a request and wait for the answer.

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2 // linux/close_range.h of Linux 5.9
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout) {
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

// ---- constructors -----------------------------------------------------------

// One of the library's constructors starts the Go runtime on the thread that loads the
// library. defer_constructors runs ahead of it and replaces all that follow; the service
// thread calls them. Without a tool to start, Go is not started at all.

typedef void (*constructor)(int, char **, char **);

static struct {
    constructor list[16];
    size_t count;
    int argc;
    char **argv, **envp;
} deferred;

static void nothing(int argc, char **argv, char **envp) { (void)argc, (void)argv, (void)envp; }

static __attribute__((constructor(101))) void defer_constructors(int argc, char **argv, char **envp) {
    Dl_info info;
    constructor *list = NULL;
    early.ns = -nanoseconds(CLOCK_MONOTONIC);
    early.cpu = -nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    size_t n = 0, i = 0;
    if (!dladdr((void *)defer_constructors, &info)) return;
    for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_INIT_ARRAY) list = (constructor *)((uintptr_t)info.dli_fbase + d->d_un.d_ptr);
        if (d->d_tag == DT_INIT_ARRAYSZ) n = d->d_un.d_val / sizeof *list;
    }
    if (!list) return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)list & ~(page - 1), to = (uintptr_t)(list + n);
    while (i < n && list[i] != defer_constructors) i++;
    if (i == n || n - i - 1 > sizeof deferred.list / sizeof *deferred.list || mprotect((void *)from, to - from, PROT_READ | PROT_WRITE)) return;
    deferred.argc = argc, deferred.argv = argv, deferred.envp = envp;
    for (i++; i < n; i++) deferred.list[deferred.count++] = list[i], list[i] = nothing;
    mprotect((void *)from, to - from, PROT_READ);
}

// start_go_runtime calls the constructors. The Go runtime reads its environment behind the
// arguments: it gets a copy, in which threads are not preempted by SIGURG.
static int start_go_runtime(void) {
    size_t all = (size_t)deferred.argc + 5, n = 0;
    for (char **e = deferred.envp; *e; e++) all++;
    char **words = calloc(all, sizeof *words);
    if (!words) return 0;
    for (int i = 0; i < deferred.argc; i++) words[n++] = deferred.argv[i];
    char **environment = words + ++n;
    words[n++] = "GODEBUG=asyncpreemptoff=1"; // the first one counts
    for (char **e = deferred.envp; *e; e++) words[n++] = *e;
    // words of 0 follow, in place of the auxiliary vector
    deferred.argv = words, deferred.envp = environment; // the runtime keeps them
    for (size_t i = 0; i < deferred.count; i++) deferred.list[i](deferred.argc, deferred.argv, deferred.envp);
    return 1;
}

// ---- messages ---------------------------------------------------------------

// The tool's threads have no standard error. Threads of the program print their messages: at
// the start, at the end, and only where the descriptor is still the one of the start.
static struct {
    pthread_mutex_t lock;
    char text[1 << 16];
    size_t length;
    dev_t device;
    ino_t file;
    int known;
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

void chamtool_say(const char *line) {
    size_t n = strlen(line);
    pthread_mutex_lock(&messages.lock);
    if (n <= sizeof messages.text - messages.length) {
        memcpy(messages.text + messages.length, line, n);
        messages.length += n;
    }
    pthread_mutex_unlock(&messages.lock);
}

static void know_stderr(void) {
    struct stat s;
    messages.known = fstat(STDERR_FILENO, &s) == 0;
    messages.device = s.st_dev, messages.file = s.st_ino;
}

void print_messages(void) {
    struct stat s;
    if (pthread_mutex_trylock(&messages.lock)) return; // in a signal handler, the lock may be this thread's
    int ours = messages.known && fstat(STDERR_FILENO, &s) == 0 && s.st_dev == messages.device && s.st_ino == messages.file;
    for (size_t at = 0; ours && at < messages.length;) {
        ssize_t n = write(STDERR_FILENO, messages.text + at, messages.length - at);
        if (n <= 0) break;
        at += (size_t)n;
    }
    messages.length = 0;
    pthread_mutex_unlock(&messages.lock);
}

// ---- the thread -------------------------------------------------------------

static struct {
    pthread_mutex_t lock; // of the thread that calls it
    _Atomic uint32_t posted, answered;
    void (*call)(void *);
    void *argument;
    int running;   // 1, or -1 where there is no such thread
    pid_t process; // that it belongs to: a forked child has none
    int refused;   // the system grants no descriptor table
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

// close_inherited closes all descriptors of this thread's table but the standard ones.
static void close_inherited(void) {
    DIR *d = opendir("/proc/thread-self/fd");
    if (!d) return;
    int own = dirfd(d), fds[256], n;
    do {
        n = 0;
        rewinddir(d);
        for (struct dirent *e; n < 256 && (e = readdir(d));)
            if (atoi(e->d_name) > STDERR_FILENO && atoi(e->d_name) != own) fds[n++] = atoi(e->d_name);
        for (int i = 0; i < n; i++) close(fds[i]);
    } while (n > 0);
    closedir(d);
}

// null is /dev/null in the table of the service thread.
static int null = -1;

// own_descriptors gives this thread a table of descriptors of its own, with the standard ones
// only: /dev/null is in place of those that the program has closed. Containers forbid unshare
// more often than close_range; kernels before 5.9 have no close_range.
static int own_descriptors(void) {
    if (syscall(SYS_close_range, STDERR_FILENO + 1u, ~0u, CLOSE_RANGE_UNSHARE)) {
        if (unshare(CLONE_FILES)) return 0;
        close_inherited();
    }
    do null = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (null >= 0 && null <= STDERR_FILENO);
    return null >= 0;
}

// leave_standard_files replaces this thread's standard files by /dev/null: an inherited pipe would
// stay open after the program has closed it.
static void leave_standard_files(void) {
    for (int fd = 0; fd <= STDERR_FILENO; fd++) dup2(null, fd);
    close(null);
}

static void answer(void) {
    atomic_fetch_add(&service.answered, 1);
    futex(&service.answered, FUTEX_WAKE, INT_MAX, NULL);
}

// serve runs with all signals blocked: a handler of the program may use descriptors, which
// are not this thread's. A Go runtime that cannot start says why and ends the process; only after
// its start the standard files go. Go's monitor thread looks every 20 microseconds at a reader that is
// at work. Threads inherit the timer slack: with one of a millisecond its looks fall together.
static void *serve(void *unused) {
    prctl(PR_SET_NAME, "chamtool");
    service.refused = !own_descriptors() || !start_go_runtime();
    if (service.refused) {
        answer();
        return unused;
    }
    prctl(PR_SET_TIMERSLACK, 1000000L);
    answer();
    chamtool_go_wait();
    leave_standard_files();
    for (uint32_t done = 1;; done++) {
        while (atomic_load(&service.posted) == done) futex(&service.posted, FUTEX_WAIT, done, NULL);
        service.call(service.argument);
        answer();
    }
}

// post hands a request to the service thread and waits for the answer.
static void post(void) {
    uint32_t n = atomic_fetch_add(&service.posted, 1) + 1, seen;
    futex(&service.posted, FUTEX_WAKE, 1, NULL);
    while ((seen = atomic_load(&service.answered)) != n) futex(&service.answered, FUTEX_WAIT, seen, NULL);
}

// GO_NEEDS is the address space in bytes that the Go runtime and the tool's
// threads reserve, with room for the program's own; little of it is ever touched.
// Measured with glibc 2.36: 1.6 GB with two threads, 2.5 GB with sixteen; of them
// writable 0.13 and 0.28 GB.
#ifndef GO_NEEDS
#define GO_NEEDS 3000000000ul
#endif

// limits are those of the process that the Go runtime does not survive, with the columns of
// /proc/self/statm that they bound, in pages.
static const struct {
    int resource, column;
    unsigned long needs;
    const char *name;
} limits[] = {{RLIMIT_AS, 0, GO_NEEDS, "address space (ulimit -v)"}, {RLIMIT_DATA, 5, GO_NEEDS / 10, "writable memory (ulimit -d)"}};

// free_below returns the bytes that a limit leaves to this process.
static unsigned long free_below(int resource, int column) {
    struct rlimit limit;
    unsigned long pages = 0;
    if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY) return ULONG_MAX;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        for (int i = 0; i <= column; i++)
            if (fscanf(f, "%lu", &pages) != 1) pages = 0;
        fclose(f);
    }
    unsigned long used = pages * (unsigned long)sysconf(_SC_PAGESIZE);
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

static const char *start_thread(void (*prepare)(void)) {
    pthread_t thread;
    pthread_attr_t detached;
    sigset_t all, before;
    prepare();
    if (!deferred.count) return "the loader does not let it postpone the start of the Go runtime";
    sigfillset(&all);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&service.posted, 1);
    int failed = pthread_create(&thread, &detached, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    if (failed) return "no thread can be started";
    while (atomic_load(&service.answered) == 0) futex(&service.answered, FUTEX_WAIT, 0, NULL);
    return service.refused ? "this system gives a thread no descriptors of its own (close_range, unshare)" : NULL;
}

int start_service(void (*prepare)(void)) {
    char line[256];
    if (service.running) return service.running > 0 && service.process == getpid();
    service.process = getpid();
    atomic_store(&early.began, nanoseconds(CLOCK_MONOTONIC));
    atomic_fetch_add(&early.ns, early.began);
    atomic_fetch_add(&early.cpu, nanoseconds(CLOCK_PROCESS_CPUTIME_ID));
    know_stderr();
    const char *failed = NULL;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (free_below(limits[i].resource, limits[i].column) >= limits[i].needs) continue;
        snprintf(line, sizeof line, "chamtool: the limit of %s leaves too little room, %lu MB are needed: the tool stays off\n", limits[i].name, limits[i].needs / 1000000);
        chamtool_say(line);
    }
    if (!messages.length && (failed = start_thread(prepare))) {
        snprintf(line, sizeof line, "chamtool: %s: the tool stays off\n", failed);
        chamtool_say(line);
    }
    service.running = messages.length > 0 ? -1 : 1;
    print_messages();
    return service.running > 0;
}

void call_service(void (*call)(void *), void *argument) {
    pthread_mutex_lock(&service.lock);
    service.call = call, service.argument = argument;
    post();
    pthread_mutex_unlock(&service.lock);
}

// ---- waking the reader ------------------------------------------------------

static _Atomic uint32_t awake;

void chamtool_wake(void) {
    if (atomic_exchange(&awake, 1) == 0) futex(&awake, FUTEX_WAKE, 1, NULL);
}

void chamtool_sleep(uint64_t ns) {
    struct timespec timeout = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (atomic_load(&awake) == 0) futex(&awake, FUTEX_WAIT, 0, &timeout);
    atomic_store(&awake, 0);
}
