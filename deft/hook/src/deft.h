/*
 * Inside libdeft: what its files share.
 *
 *   here->c   joins the session, keeps the slot, tells whether the owner lives
 *   gate.c     obeys directives before and after a launch
 *   entry.c    the wrappers of the driver's entry points
 *   lookup.c   dlsym, dlopen and the driver's own lookup, where the wrappers
 *              are handed out
 *   graph.c    what a launch of a graph costs
 *   memory.c   device memory held, and the quota
 *   table.c    what is known of graphs and allocations
 *
 * Three rules hold in all of them. Nothing that processes share is locked, ever:
 * it is words changed by one atomic operation. No wait is unbounded: a sleeping thread
 * wakes every DEFT_NAP_NS to see whether it still has an owner to obey. Doubt
 * means pass through: without a session, or with one that cannot be trusted,
 * the program runs as if libdeft were absent.
 */
#ifndef DEFT_H
#define DEFT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "driver.h"
#include "session.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))
#define COLD __attribute__((cold, noinline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define load(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define swap_if(p, old, new) \
    __atomic_compare_exchange_n((p), (old), (new), 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)

#define DEFT_NAP_NS 20000000ull   /* longest sleep without a look at the owner */
#define DEFT_WAIT_NS 20000000ull  /* longest wait for a queue that may wait for this thread */
#define DEFT_TRUST_NS 10000000ull /* a look at the owner's process holds so long */

/* -- here->c -- */

/* Why a launch must take the long way; 0 in the ordinary case. */
enum {
    ATTEND_JOIN = 1,   /* not yet tried to join a session */
    ATTEND_CAPTURE = 2 /* times the number of open captures */
};
HIDDEN extern uint32_t attend;
HIDDEN extern uint64_t lost_contexts; /* counts contexts that went away */
HIDDEN extern uint32_t forks;      /* between the program's start and this process */

enum { DEVICES = 16, CONTEXTS = 8 };

/* The process on one device. */
struct member {
    struct deft_slot *slot; /* never NULL: without a session, one that nobody reads */
    word stream;            /* of the last launch, as stream_key */
    word at;                /* its context */
    word with[CONTEXTS];    /* contexts launched in since emptied */
    uint32_t contexts;      /* how many; more than CONTEXTS: too many to tell */
    uint32_t fresh;         /* the queue became empty: note when it fills again */
    uint32_t hosted;        /* a host function was launched since emptied */
    uint64_t device;        /* as in its slot; 0: none yet */
    uint32_t many;          /* launches went to several streams since emptied */
    uint64_t busy_ns;       /* since when the queue is not empty */
    uint64_t synced;        /* value of launches at the last synchronization */
    uint64_t heavy;         /* weight of launches beyond 1 each: graphs */
    uint64_t heavy_synced;  /* its value at the last synchronization */
    void *sole;             /* graph that was launched into an empty queue ... */
    uint64_t sole_launches; /* ... value of launches with it */
    uint64_t sole_ns;       /* ... and when */
};

/* The calling thread's: of the device of its current context. */
HIDDEN extern struct member members[DEVICES]; /* by first use */
HIDDEN extern __thread struct member *here __attribute__((tls_model("initial-exec")));
HIDDEN extern __thread word context __attribute__((tls_model("initial-exec")));
HIDDEN void member_here(void); /* the current context may be another one now */
HIDDEN extern struct deft_slot nobody; /* the slot outside of any session */

HIDDEN void member_join(void);
static inline void member_seen(void) {
    if (unlikely(load(&attend) & ATTEND_JOIN))
        member_join();
}
HIDDEN void member_path(uint32_t path);
HIDDEN bool member_obeys(void); /* is there an owner whose directives count? */
HIDDEN uint32_t member_job_mode(void);
HIDDEN void member_ring(void);
HIDDEN uint64_t member_slo_ns(void);
HIDDEN uint64_t member_quota_bytes(void);
HIDDEN uint64_t now_ns(void);

/* Set while this thread is inside the driver: what the driver calls itself is
   its own affair, and goes to the driver without a second look. */
HIDDEN extern __thread int inside __attribute__((tls_model("initial-exec")));

/* -- gate.c -- */

enum pass { PASS_PLAIN, PASS_RECORD };

/* Before and after a launch on a stream; per_thread where NULL is the
   per-thread default stream. gate_after is called for PASS_RECORD alone. */
HIDDEN enum pass gate_slow(void *stream, bool per_thread, uint64_t kernels, uint64_t weight);
HIDDEN void gate_after(void *stream, bool per_thread, uint64_t weight);
HIDDEN enum pass gate_graph(void *exec, void *stream, bool per_thread, uint64_t *weight);

/* Tells streams apart: each thread's default stream is one of its own, each
   context's another. */
static inline word stream_key(void *stream, bool per_thread) {
    return (per_thread && !stream ? (word)&inside : (word)stream) ^ context;
}
enum { EVERY_THREADS = 2 }; /* the handle by which each thread names its own */

/* 0 where a launch may go on without another look. */
static inline uint64_t gate_ask(struct deft_slot *s, void *stream, bool per_thread) {
    return load((uint64_t *)&s->sync_every) | load(&s->gate) | load(&attend) | load(&here->fresh) |
           (load(&s->state) ^ DEFT_ACTIVE) | (stream_key(stream, per_thread) ^ load(&here->stream));
}

static inline enum pass gate_launch(void *stream, bool per_thread) {
    struct deft_slot *s = acquire(&here->slot);
    if (likely(gate_ask(s, stream, per_thread) == 0)) {
        add(&s->launches, 1);
        return PASS_PLAIN;
    }
    return gate_slow(stream, per_thread, 1, 1);
}

HIDDEN void gate_copy(void *stream, bool per_thread); /* before a copy */
HIDDEN void gate_host(void *stream, bool per_thread); /* before a host function */
/* After the program's own wait for a stream (kind 0), ALL of them, or an event
   (NO); before is how far the process had come. */
struct mark {
    uint64_t launches, kernels, heavy; /* of the slot, the slot's graph_kernels, of the member */
};
HIDDEN struct mark gate_mark(void);
HIDDEN void gate_synced(long kind, void *stream, bool per_thread, struct mark before);
HIDDEN bool gate_capturing(void *stream, bool per_thread);
HIDDEN void gate_capture(bool opens);
HIDDEN void gate_lose_contexts(void);
HIDDEN void gate_child(void); /* in a forked child */

/* -- lookup.c -- */

enum entry_id {
#define ROW1(name) E_##name,
#define ROW2(name, x) E_##name,
    DEFT_ENTRIES(ROW1, ROW2, ROW2, ROW2, ROW2, ROW2)
#undef ROW1
#undef ROW2
    ENTRIES
};

struct entry {
    void *next; /* what the wrapper calls: the driver, or another library's wrapper of it */
    void *raw;  /* the driver's own */
};

HIDDEN extern struct entry entries[ENTRIES];
HIDDEN extern void *const wrappers[ENTRIES];

/* The function that a wrapper calls; resolves it where no lookup came before,
   which means that the program was linked to the driver. NULL without one. */
HIDDEN void *entry_resolve(enum entry_id id);
static inline void *entry_next(enum entry_id id) {
    void *f = acquire(&entries[id].next);
    return likely(f != NULL) ? f : entry_resolve(id);
}
HIDDEN void *entry_raw(enum entry_id id);
HIDDEN bool entry_per_thread(enum entry_id id); /* NULL is the per-thread default stream */
HIDDEN bool driver_loaded(void);
HIDDEN void *driver_symbol(const char *name); /* of the driver itself, wrapped or not */

/* Puts the wrapper in place of what the driver's own lookup gave. */
HIDDEN void lookup_wrap(const char *name, void **f, int version, uint64_t flags, uint32_t path);

/* -- table.c -- */

struct deft_row {
    uint64_t kernels, ns; /* of a graph: nodes, device time or 0 */
    uint64_t bytes;       /* of an allocation */
    void *of;             /* ... the member that holds it */
    uint64_t holders;     /* ... handles and mappings; or a mapping's handle */
};
struct table {
    pthread_mutex_t lock;
    struct place *places;
    uint64_t size, used, rows; /* used: rows and what they left behind */
};
#define TABLE {.lock = PTHREAD_MUTEX_INITIALIZER}
HIDDEN bool table_put(struct table *t, uint64_t key, struct deft_row row); /* false: no memory */
HIDDEN bool table_get(struct table *t, uint64_t key, struct deft_row *row);
HIDDEN bool table_take(struct table *t, uint64_t key, struct deft_row *row);
HIDDEN bool table_hold(struct table *t, uint64_t key, int more, struct deft_row *row); /* true: none holds it any more, and it is taken */
HIDDEN void table_forget(struct table *t); /* in a forked child */

/* -- graph.c -- */

HIDDEN void graph_made(void *exec, void *graph); /* instantiated or updated */
HIDDEN void graph_lost(void *exec);
HIDDEN struct deft_row graph_cost(void *exec);
HIDDEN void graph_ran(void *exec, uint64_t ns); /* alone in the queue */
/* How many of so many launches, which bound_ns bounds together, it stands for. */
HIDDEN uint64_t graph_weight(struct deft_row row, uint32_t launches, uint64_t bound_ns);
HIDDEN void graphs_forget(void);

/* -- memory.c -- */

HIDDEN bool memory_reserve(uint64_t bytes);           /* false: beyond the quota */
HIDDEN void memory_cancel(uint64_t bytes);             /* the driver refused */
HIDDEN void memory_took(uint64_t key, uint64_t bytes); /* the driver gave key */
HIDDEN void memory_gave(uint64_t key);
HIDDEN void memory_held(uint64_t key, int more); /* a handle by one more or less */
HIDDEN void memory_mapped(uint64_t at, uint64_t bytes, uint64_t key);
HIDDEN void memory_unmapped(uint64_t at, uint64_t bytes);
HIDDEN void memory_info(size_t *free_bytes, size_t *total_bytes);
HIDDEN void memory_forget(void);

#endif
