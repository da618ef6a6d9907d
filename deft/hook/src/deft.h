/*
 * Inside libdeft: what its files share.
 *
 *   member.c   joins the session, keeps the slot, tells whether the owner lives
 *   gate.c     obeys directives before and after a launch
 *   entry.c    the wrappers of the driver's entry points
 *   lookup.c   dlsym, dlopen and the driver's own lookup, where the wrappers
 *              are handed out
 *   memory.c   device memory held, and the quota
 *
 * Three rules hold in all of them. No lock is held, ever: state is words
 * changed by one atomic operation. No wait is unbounded: a sleeping thread
 * wakes every DEFT_NAP_NS to see whether it still has an owner to obey. Doubt
 * means pass through: without a session, or with one that cannot be trusted,
 * the program runs as if libdeft were absent.
 */
#ifndef DEFT_H
#define DEFT_H

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
#define DEFT_TRUST_NS 10000000ull /* a look at the owner's process holds so long */

/* -- member.c -- */

/* Why a launch must take the long way; 0 in the ordinary case. */
enum {
    ATTEND_JOIN = 1,    /* not yet tried to join a session */
    ATTEND_EMPTY = 2,   /* the queue became empty: note when it fills again */
    ATTEND_CAPTURE = 4  /* times the number of open captures */
};

struct member {
    struct deft_slot *slot; /* never NULL: without a session, one that nobody reads */
    void *stream;           /* of the last launch, as stream_key */
    uint32_t attend;        /* ATTEND_... */
    uint32_t many;          /* launches went to several streams since emptied */
    uint64_t busy_ns;       /* since when the queue is not empty */
    uint64_t synced;        /* value of launches at the last synchronization */
    uint64_t generation;    /* counts contexts that went away */
    uint32_t forks;         /* between the program's start and this process */
};

HIDDEN extern struct member member;
HIDDEN extern struct deft_slot nobody; /* the slot outside of any session */

HIDDEN void member_join(void);
static inline void member_seen(void) {
    if (unlikely(load(&member.attend) & ATTEND_JOIN))
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
HIDDEN enum pass gate_slow(void *stream, bool per_thread);
HIDDEN void gate_after(void *stream, bool per_thread);

/* Tells streams apart: each thread's default stream is one of its own. */
static inline void *stream_key(void *stream, bool per_thread) {
    return per_thread && !stream ? (void *)&inside : stream;
}
enum { EVERY_THREADS = 2 }; /* the handle by which each thread names its own */

static inline enum pass gate_launch(void *stream, bool per_thread) {
    struct deft_slot *s = acquire(&member.slot);
    uint64_t ask = load((uint64_t *)&s->sync_every) | load(&s->gate) | load(&member.attend) |
                   (load(&s->state) ^ DEFT_ACTIVE) | ((word)stream_key(stream, per_thread) ^ (word)load(&member.stream));
    if (likely(ask == 0)) {
        add(&s->launches, 1);
        return PASS_PLAIN;
    }
    return gate_slow(stream, per_thread);
}

HIDDEN void gate_copy(void *stream, bool per_thread); /* before a copy or host function */
/* After the program's own wait for a stream (kind 0), ALL of them, or an event
   (NO); launches is what it was before. */
HIDDEN void gate_synced(long kind, void *stream, bool per_thread, uint64_t launches);
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
HIDDEN bool driver_loaded(void);
HIDDEN void *driver_symbol(const char *name); /* of the driver itself, wrapped or not */

/* Puts the wrapper in place of what the driver's own lookup gave. */
HIDDEN void lookup_wrap(const char *name, void **f, int version, uint64_t flags, uint32_t path);

/* -- memory.c -- */

HIDDEN bool memory_reserve(uint64_t bytes);           /* false: beyond the quota */
HIDDEN void memory_cancel(uint64_t bytes);            /* the driver refused */
HIDDEN void memory_took(uint64_t key, uint64_t bytes); /* the driver gave key */
HIDDEN void memory_gave(uint64_t key);
HIDDEN void memory_info(size_t *free_bytes, size_t *total_bytes);
HIDDEN void memory_forget(void);

#endif
