/*
 * A pair of events around each launch. They are read in order, once they are done, so
 * nothing waits for them but a program that is further ahead than the ring.
 *
 * An event in front of a launch on an idle device is done before the launch comes; the
 * reader (package pair) corrects that by the host's times.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"

enum { RING = 4096, ROWS = 1024, CHECK_LAUNCHES = 64 /* launches between two collections */ };
#define FLUSH_NS 100000000ull /* rows are written at least so often */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int file = -2; /* -1: none, -2: not yet opened */
static word recorded_context; /* the only context that is recorded */
static struct pair {
    void *before, *after;
    uint64_t in, call, called, out, kernels;
} ring[RING];
static uint64_t first, next; /* pairs that are not read */
static __thread bool open_pair; /* this thread holds the lock */
static double device_ns; /* end of the last pair that was read */
static struct trace_row rows[ROWS];
static size_t row_count;
static uint64_t flushed_ns;

static bool record(void **event, void *stream, bool per_thread) {
    return queue_record(event, stream_handle(stream, per_thread), 0);
}

/* Returns the nanoseconds between two events in ns; false if they are unknown. */
static bool read_elapsed(double *ns, void *from, void *to) {
    float ms = 0;
    bool known = CALL3("cuEventElapsedTime", &ms, from, to) == CU_SUCCESS;
    *ns = known ? (double)ms * 1e6 : 0;
    return known;
}

static void flush(void) {
    const char *p = (const char *)rows;
    size_t left = row_count * sizeof *rows;
    while (file >= 0 && left) {
        ssize_t n = write(file, p, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            close(file);
            file = -1;
            break;
        }
        p += n;
        left -= (size_t)n;
    }
    row_count = 0;
    flushed_ns = now_ns();
}

static void add_row(struct trace_row r) {
    rows[row_count++] = r;
    if (row_count == ROWS)
        flush();
}

/* Reads the pairs that are done; with wait, the oldest in any case. */
static void collect(bool wait) {
    for (; first < next; first++) {
        struct pair *p = &ring[first % RING];
        int r = CALL1("cuEventQuery", p->after);
        if (r == CU_NOT_READY && wait)
            r = CALL1("cuEventSynchronize", p->after);
        if (r == CU_NOT_READY)
            return;
        wait = false;
        double took, since = 1e9;
        bool known = read_elapsed(&took, p->before, p->after);
        known = known && (first == 0 || read_elapsed(&since, ring[(first - 1) % RING].after, p->after));
        device_ns += since;
        add_row((struct trace_row){TRACE_LAUNCH, (uint32_t)p->kernels, p->in, p->call, p->called, p->out,
                                known ? (uint64_t)(device_ns - took) : 0, known ? (uint64_t)device_ns : 0});
    }
}

/* Measures the time between two events with nothing between them. */
static void measure_events(void *stream, bool per_thread) {
    void *a = NULL, *b = NULL;
    double ns;
    for (int i = 0; i < 9; i++)
        if (record(&a, stream, per_thread) && record(&b, stream, per_thread) && CALL1("cuEventSynchronize", b) == CU_SUCCESS && read_elapsed(&ns, a, b))
            add_row((struct trace_row){.kind = TRACE_EVENTS, .in = now_ns(), .end = (uint64_t)ns});
}

static bool recording(void *stream, bool per_thread) {
    if (file == -2) {
        const char *path = secure_getenv("DEFT_TRACE");
        char own[4096]; /* each process has a file of its own */
        int n = path && *path ? snprintf(own, sizeof own, "%s.%d", path, (int)getpid()) : 0;
        file = n > 0 && n < (int)sizeof own ? open(own, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
        recorded_context = context;
        if (file >= 0)
            measure_events(stream, per_thread);
    }
    return file >= 0 && recorded_context == context;
}

uint64_t trace_begin(void) { return now_ns(); }

/* A call to the driver while a stream of any thread captures may end the capture:
   launches meanwhile are not recorded. */
void trace_before(void *stream, bool per_thread) {
    if (any_capture())
        return;
    pthread_mutex_lock(&mutex);
    if (recording(stream, per_thread)) {
        if (next % CHECK_LAUNCHES == 0 || next - first >= RING - 2)
            collect(next - first >= RING - 2);
        struct pair *p = &ring[next % RING];
        open_pair = record(&p->before, stream, per_thread);
        p->call = now_ns();
    }
    if (!open_pair)
        pthread_mutex_unlock(&mutex);
}

void trace_after(uint64_t in, void *stream, bool per_thread, uint64_t kernels) {
    if (!open_pair)
        return;
    struct pair *p = &ring[next % RING];
    p->in = in;
    p->called = now_ns();
    p->kernels = kernels;
    if (record(&p->after, stream, per_thread))
        next++;
    open_pair = false;
    p->out = now_ns();
    pthread_mutex_unlock(&mutex);
}

void trace_waited(uint64_t in) {
    pthread_mutex_lock(&mutex);
    if (file >= 0 && recorded_context == context) {
        uint64_t out = now_ns();
        if (!any_capture())
            collect(false);
        add_row((struct trace_row){TRACE_WAIT, 0, in, in, out, out, 0, 0});
        if (out - flushed_ns > FLUSH_NS)
            flush();
    }
    pthread_mutex_unlock(&mutex);
}

void trace_forget(void) {
    pthread_mutex_init(&mutex, NULL);
    file = -1;
    row_count = 0;
    first = next = 0;
    open_pair = false;
}

void trace_end(void) {
    pthread_mutex_lock(&mutex);
    flush();
    pthread_mutex_unlock(&mutex);
}
