/* Inside the simulated driver: what its files share.
 *
 *   process.c  settings, the process's place on the device, cuInit
 *   context.c  devices, contexts, modules
 *   ask.c      what frameworks ask before they work
 *   stream.c   streams, captures and graphs
 *   work.c     launches, waits, host functions
 *   event.c    events
 *   memory.c   allocations, copies, fills
 *   lookup.c   errors' names, cuGetProcAddress from table.h
 *
 * over the device of device.h. */
#ifndef SIMCUDA_H
#define SIMCUDA_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "driver.h"

#define API __attribute__((visibility("default")))

/* ---- process.c ---- */

struct settings {
    uint64_t ns_per_block, ns_per_kib;
    uint64_t fail_at, die_at, slow_ns; /* faults; 0 for none */
    int look_up, noop, after_fork;
};

enum { DEVICES = 4 };

struct process {
    struct {
        struct device *device;
        int client;
    } at[DEVICES];
    int devices;
    int ready;    /* cuInit has been called here */
    int orphan;   /* a forked child of a process that had called cuInit */
    int failed;   /* a launch has failed: every call does from now on */
    int captures; /* streams that are being captured */
    uint64_t launches, kernels, graphs, syncs, copies;
};

extern struct settings config;
extern struct process this_process;

/* Guards streams, events, graphs and allocations of this process. */
extern pthread_mutex_t process_lock;

#define COUNT(what) __atomic_add_fetch(&this_process.what, 1, __ATOMIC_RELAXED)
/* The process's place on a device: two arguments of device.h. */
#define ON(ordinal) this_process.at[ordinal].device, this_process.at[ordinal].client

#define READ(what) __atomic_load_n(&this_process.what, __ATOMIC_RELAXED)

/* CUDA_SUCCESS, or why no call can succeed. */
CUresult usable(void);

#define NEED_DRIVER                \
    do {                           \
        CUresult state = usable(); \
        if (state) return state;   \
    } while (0)
#define NEED(condition, error)          \
    do {                                \
        if (!(condition)) return error; \
    } while (0)

/* ---- context.c ---- */

struct context {
    int magic, device;
    struct context *below; /* of the calling thread's stack */
};

struct context *context_of(CUhandle h); /* NULL for none */
CUhandle context_current(void);
int context_device(void); /* of the current one */

/* ---- memory.c, ask.c ---- */

struct pool {
    uint64_t threshold, kept, used; /* kept: freed, and still the pool's */
};

static inline int is_host(int location_type) { return location_type >= 2 && location_type <= 4; }
extern struct pool pools[DEVICES + 1]; /* of each device, and of host memory */
int pool_of(CUhandle h); /* the device that it is of; -1 for none */

/* ---- stream.c ---- */

/* A graph, being captured, finished or instantiated: only its length counts. */
struct graph {
    int magic;
    uint64_t ns, nodes;
};

struct graph *graph_of(CUhandle h); /* NULL for none */

enum { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED };

struct stream {
    int magic, device;
    enum { MADE, LEGACY, THREADS } kind;
    unsigned flags;
    int priority;
    uint64_t last;         /* number of its last command, plus 1 */
    int host_calls;           /* host functions that have not returned */
    struct graph *graph;   /* what is being captured; NULL for none */
    struct stream *origin; /* where that capture began */
    int mode, broken;
    int borrowed; /* graph is the caller's */
    pthread_t by;
    struct stream *next;
};

struct stream *stream_of(CUhandle h, int ptsz); /* NULL for none */

/* Ends the hopes of every capture that this thread may disturb, as calls do
 * that would have to wait: CUDA_SUCCESS if there is none. */
CUresult disturb(void);

/* The legacy stream waits for all blocking streams: not while one captures. */
CUresult implicit(const struct stream *s);

/* Two entry points: the plain one, whose stream 0 is the legacy stream, and the
 * one whose stream 0 is the calling thread's. */
#define BOTH(name, second, parameters, f, ...)                                                  \
    API CUresult name parameters { return f(stream_of(stream, 0) __VA_OPT__(, ) __VA_ARGS__); } \
    API CUresult second parameters { return f(stream_of(stream, 1) __VA_OPT__(, ) __VA_ARGS__); }

/* The same for calls that take no stream: they mean the default one. */
#define DEFAULT(name, second, parameters, f, ...)                                  \
    API CUresult name parameters { return f(stream_of(NULL, 0) __VA_OPT__(, ) __VA_ARGS__); } \
    API CUresult second parameters { return f(stream_of(NULL, 1) __VA_OPT__(, ) __VA_ARGS__); }

/* ---- work.c ---- */

/* Queues ns on the stream, or records it where the stream is captured. */
CUresult submit(struct stream *s, uint64_t ns, uint64_t nodes);

API CUresult cuCtxSynchronize(void);
API CUresult cuCtxPushCurrent_v2(CUhandle context);
API CUresult cuCtxPopCurrent_v2(CUhandle *context);

#endif
