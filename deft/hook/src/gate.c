/*
 * What happens around a launch: the closed gate, synchronization points, the
 * in-flight bound, and where jobs begin and end.
 *
 * While any stream of the process is capturing, nothing here waits or
 * synchronizes: both would invalidate the capture.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "deft.h"

__thread int inside __attribute__((tls_model("initial-exec")));
__thread struct member *here __attribute__((tls_model("initial-exec"))) = members;
__thread word context __attribute__((tls_model("initial-exec")));

/* -- calls of the driver -- */

typedef int (*stream_fn)(void *stream);

bool gate_capturing(void *stream, bool per_thread) {
    static void *plain, *own;
    void **cached = per_thread ? &own : &plain;
    void *f = load(cached);
    if (!f) {
        f = driver_symbol(per_thread ? "cuStreamIsCapturing_ptsz" : "cuStreamIsCapturing");
        store(cached, f);
    }
    int status = CU_CAPTURE_NONE;
    if (!f)
        return load(&attend) >= ATTEND_CAPTURE;
    inside++;
    int r = ((int (*)(void *, int *))f)(stream, &status);
    inside--;
    return r != CU_SUCCESS || status != CU_CAPTURE_NONE;
}

struct mark gate_mark(void) {
    struct deft_slot *s = acquire(&here->slot);
    return (struct mark){load(&s->launches), load(&s->graph_kernels), load(&here->heavy)};
}

/* The queue was empty at this mark. */
static void emptied(struct deft_slot *s, struct mark at) {
    uint64_t now = now_ns(), busy = load(&here->busy_ns), launches = at.launches;
    if (load(&here->sole) && load(&here->sole_launches) == launches)
        graph_ran(load(&here->sole), now - load(&here->sole_ns));
    store(&here->sole, NULL);
    if (launches > load(&s->emptied)) {
        store(&s->emptied_kernels, at.kernels);
        store(&s->emptied, launches);
        if (busy != 0 && now > busy)
            add(&s->gpu_ns, now - busy);
    }
    store(&here->busy_ns, now);
    store(&here->synced, launches);
    store(&here->heavy_synced, at.heavy);
    if (load(&s->launches) == launches && load(&here->stream) != (EVERY_THREADS ^ load(&here->at))) {
        store(&here->many, 0);
        store(&here->hosted, 0);
        store(&here->with[0], load(&here->at));
        store(&here->contexts, 1);
    }
}

/* Notes a launch in a context. */
static void launched_in(word c) {
    uint32_t n = load(&here->contexts);
    store(&here->at, c);
    for (uint32_t i = 0; i < n && i < CONTEXTS; i++)
        if (load(&here->with[i]) == c)
            return;
    if (n < CONTEXTS)
        store(&here->with[n], c);
    store(&here->contexts, n + 1);
}

/* Waits for every context that has been launched in. */
static int synchronize_contexts(int (*wait)(void)) {
    int (*push)(word) = (int (*)(word))driver_symbol("cuCtxPushCurrent_v2");
    int (*pop)(word *) = (int (*)(word *))driver_symbol("cuCtxPopCurrent_v2");
    uint32_t n = load(&here->contexts);
    if (n <= 1 && load(&here->at) == context)
        return wait();
    int r = !push || !pop || n > CONTEXTS;
    for (uint32_t i = 0; i < n && !r; i++) {
        word back;
        if (!(r = push(load(&here->with[i])))) {
            r = wait();
            pop(&back);
        }
    }
    return r;
}

/* Asks until something is done: a host function in the queue may wait for what
   this thread does next, so not for long. */
static int poll(const char *query, void *what) {
    stream_fn ask = (stream_fn)driver_symbol(query);
    uint64_t end = now_ns() + DEFT_WAIT_NS;
    int r = CU_NOT_READY;
    while (ask && (r = ask(what)) == CU_NOT_READY && now_ns() < end)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 20000}, NULL);
    return r;
}

enum waited { DONE, NOT_YET, UNKNOWN };

/* Waits until what this process has launched on the device is done. */
static enum waited synchronize(struct deft_slot *s, void *stream, bool per_thread) {
    struct mark at = gate_mark();
    bool all = load(&here->many), hosted = load(&here->hosted);
    void *f = entry_raw(all          ? E_cuCtxSynchronize
                        : per_thread ? E_cuStreamSynchronize_ptsz
                                     : E_cuStreamSynchronize);
    if (!f || (hosted && all) || gate_capturing(stream, per_thread))
        return UNKNOWN;
    inside++;
    int r = hosted ? poll(per_thread ? "cuStreamQuery_ptsz" : "cuStreamQuery", stream)
            : all  ? synchronize_contexts((int (*)(void))f)
                   : ((stream_fn)f)(stream);
    inside--;
    if (r != CU_SUCCESS)
        return r == CU_NOT_READY ? NOT_YET : UNKNOWN;
    emptied(s, at);
    return DONE;
}

/* -- jobs -- */

static bool job_begin(struct deft_slot *s, uint64_t slo) {
    uint32_t idle = DEFT_IDLE;
    if (!swap_if(&s->state, &idle, DEFT_ACTIVE))
        return false;
    uint64_t now = now_ns();
    store(&s->job_begin_ns, now);
    store(&s->deadline_ns, slo ? now + slo : 0);
    store(&s->job_launches, load(&s->launches));
    store(&s->job_kernels, load(&s->graph_kernels));
    if (load(&s->emptied) == load(&s->launches))
        store(&here->busy_ns, now);
    __atomic_fetch_add(&s->job, 1, __ATOMIC_RELEASE);
    member_ring();
    return true;
}

static bool job_end(struct deft_slot *s) {
    uint32_t active = DEFT_ACTIVE;
    if (s == &nobody || !swap_if(&s->state, &active, DEFT_IDLE))
        return false;
    store(&s->job_end_ns, now_ns());
    add(&s->jobs_ended, 1);
    member_ring();
    return true;
}

/* Begins a job that nobody marks. */
static void job_detect(struct deft_slot *s) {
    if (load(&s->state) == DEFT_IDLE && !load(&s->job_marked) && member_job_mode() != DEFT_JOB_MARKED)
        job_begin(s, member_slo_ns());
}

EXPORT int deft_job_begin(uint64_t slo) {
    member_seen();
    struct deft_slot *s = acquire(&here->slot);
    if (s == &nobody)
        return -1;
    store(&s->job_marked, 1);
    job_end(s);
    job_begin(s, slo ? slo : member_slo_ns());
    return 0;
}

EXPORT int deft_job_end(void) {
    struct deft_slot *s = acquire(&here->slot);
    if (s == &nobody)
        return -1;
    job_end(s);
    return 0;
}

/* -- the gate -- */

/* Whether the present job may not go on. */
static bool closed(struct deft_slot *s) {
    uint64_t until = load(&s->until_job);
    return acquire(&s->gate) != DEFT_GATE_OPEN && (until == 0 || load(&s->job) > until);
}

/* Drains, says so, and sleeps until the gate opens or no owner is left to keep
   it closed. */
COLD static void stop(struct deft_slot *s, void *stream, bool per_thread) {
    if (gate_capturing(stream, per_thread))
        return;
    uint64_t begin = now_ns();
    add(&s->stops, 1);
    add(&s->waiting, 1);
    enum waited queue = synchronize(s, stream, per_thread);
    while (closed(s)) {
        uint32_t epoch = acquire(&s->directive_epoch);
        if (queue == NOT_YET)
            queue = synchronize(s, stream, per_thread);
        if (queue != NOT_YET && load(&s->drained) != epoch) {
            store(&s->drained_ns, now_ns());
            release(&s->drained, epoch);
            member_ring();
        }
        if (!member_obeys()) {
            add(&s->failed_open, 1);
            break;
        }
        struct timespec nap = {0, DEFT_NAP_NS};
        syscall(SYS_futex, &s->gate, FUTEX_WAIT, DEFT_GATE_CLOSED, &nap, NULL, 0);
    }
    add(&s->waiting, -1);
    uint64_t now = now_ns();
    add(&s->gate_ns, now - begin);
    store(&here->busy_ns, now);
}

/* Whether this launch would make more than so many since the last
   synchronization, each counted by its weight. One by itself never does. */
static bool beyond(struct deft_slot *s, uint32_t every, uint64_t weight) {
    uint64_t launches = load(&s->launches) - load(&here->synced);
    uint64_t heavy = load(&here->heavy) - load(&here->heavy_synced);
    return every && launches && launches + heavy + weight > every;
}

/* A synchronization point before a launch that goes beyond. The first thread to
   notice makes it. */
static void sync_point(struct deft_slot *s, void *stream, bool per_thread, uint32_t every, uint64_t weight) {
    uint64_t launches = load(&s->launches), last = load(&here->synced);
    if (!beyond(s, every, weight) || !swap_if(&here->synced, &last, launches))
        return;
    uint64_t begin = now_ns();
    if (synchronize(s, stream, per_thread) != DONE)
        return;
    add(&s->stall_ns, now_ns() - begin);
    add(&s->syncs, 1);
    add(&s->synced_launches, launches - last);
}

/* -- the in-flight bound -- */

enum { GROUPS = 8 };

/* Launches of one thread in one context, oldest first, in groups that end with an event each.
   A bound of M makes groups of a quarter of M. */
struct ring {
    struct ring *next;
    word context;
    uint64_t generation;
    uint64_t queued; /* weight in closed groups and in the open one */
    uint64_t open;   /* weight in the open group */
    uint32_t oldest, count;
    void *event[GROUPS];
    uint64_t size[GROUPS];
};

static __thread struct ring *ring __attribute__((tls_model("initial-exec")));
static pthread_key_t ring_key;
static pthread_once_t ring_once = PTHREAD_ONCE_INIT;

static void ring_reset(struct ring *r) {
    r->queued = r->open = r->oldest = r->count = 0;
}

/* Forgets the launches and their events. */
static void ring_drop(struct ring *r) {
    int (*destroy)(void *) = (int (*)(void *))driver_symbol("cuEventDestroy_v2");
    if (destroy && r->generation == load(&lost_contexts)) {
        inside++;
        for (int i = 0; i < GROUPS; i++)
            if (r->event[i])
                destroy(r->event[i]);
        inside--;
    }
    *r = (struct ring){.next = r->next, .context = r->context, .generation = r->generation};
}

static void ring_free(void *p) {
    ring = NULL;
    for (struct ring *r = p, *next; r; r = next) {
        next = r->next;
        ring_drop(r);
        free(r);
    }
}

static void ring_init(void) { pthread_key_create(&ring_key, ring_free); }

/* This thread's ring of the present context; its events are forgotten where
   contexts are gone. */
static struct ring *ring_get(void) {
    struct ring *r = ring;
    while (r && r->context != context)
        r = r->next;
    uint64_t generation = load(&lost_contexts);
    if (!r) {
        pthread_once(&ring_once, ring_init);
        r = calloc(1, sizeof *r);
        if (!r)
            return NULL;
        *r = (struct ring){.next = ring, .context = context, .generation = generation};
        ring = r;
        pthread_setspecific(ring_key, ring);
    }
    if (r->generation != generation)
        *r = (struct ring){.next = r->next, .context = context, .generation = generation};
    return r;
}

static void ring_wait(struct deft_slot *s, struct ring *r) {
    stream_fn wait = (stream_fn)entry_raw(E_cuEventSynchronize);
    uint64_t begin = now_ns();
    inside++;
    int failed = !wait || (load(&here->hosted) ? poll("cuEventQuery", r->event[r->oldest]) : wait(r->event[r->oldest])) != CU_SUCCESS;
    inside--;
    add(&s->stall_ns, now_ns() - begin);
    r->queued -= r->size[r->oldest];
    r->oldest = (r->oldest + 1) % GROUPS;
    r->count--;
    if (failed)
        ring_reset(r);
}

/* Makes room for a launch of this weight. */
static enum pass in_flight(struct deft_slot *s, uint32_t bound, uint64_t weight) {
    struct ring *r = ring_get();
    if (!r)
        return PASS_PLAIN;
    while (r->count > 0 && r->queued + weight > bound)
        ring_wait(s, r);
    return PASS_RECORD;
}

void gate_after(void *stream, bool per_thread, uint64_t weight) {
    static void *create, *plain, *own;
    struct deft_slot *s = acquire(&here->slot);
    uint32_t bound = load(&s->in_flight_bound);
    struct ring *r = ring_get();
    if (!r || bound == 0)
        return;
    r->queued += weight;
    r->open += weight;
    if (r->open < (bound + 3) / 4 && r->queued < bound)
        return;
    if (r->count == GROUPS)
        ring_wait(s, r);
    void **record = per_thread ? &own : &plain;
    if (!load(record))
        store(record, driver_symbol(per_thread ? "cuEventRecord_ptsz" : "cuEventRecord"));
    if (!load(&create))
        store(&create, driver_symbol("cuEventCreate"));
    void *f = load(record), *make = load(&create);
    uint32_t at = (r->oldest + r->count) % GROUPS;
    inside++;
    bool ok = f && make &&
              (r->event[at] || ((int (*)(void **, unsigned))make)(&r->event[at], CU_EVENT_NO_TIMING) == CU_SUCCESS) &&
              ((int (*)(void *, void *))f)(r->event[at], stream) == CU_SUCCESS;
    inside--;
    if (!ok) { /* no events, or those of another context: begin anew */
        ring_drop(r);
        return;
    }
    r->size[at] = r->open;
    r->open = 0;
    r->count++;
}

/* -- before and after -- */

/* Counts a launch of so many kernels. */
static inline void launched(struct deft_slot *s, uint64_t kernels, uint64_t weight) {
    add(&s->launches, 1);
    if (kernels > 1)
        add(&s->graph_kernels, kernels - 1);
    if (weight > 1)
        add(&here->heavy, weight - 1);
}

COLD enum pass gate_slow(void *stream, bool per_thread, uint64_t kernels, uint64_t weight) {
    member_seen();
    struct deft_slot *s = acquire(&here->slot);
    if (load(&attend) >= ATTEND_CAPTURE) {
        if (gate_capturing(stream, per_thread)) {
            add(&s->captured, 1);
        } else {
            launched_in(context);
            launched(s, kernels, weight);
        }
        return PASS_PLAIN;
    }
    uint64_t launches = load(&s->launches);
    word key = stream_key(stream, per_thread);
    if (key != load(&here->stream)) {
        if (launches != load(&s->emptied) || stream == (void *)EVERY_THREADS)
            store(&here->many, 1);
        store(&here->stream, key);
        launched_in(context);
    }
    job_detect(s);
    if (load(&here->fresh)) {
        store(&here->fresh, 0);
        store(&here->busy_ns, now_ns());
    }
    enum pass pass = PASS_PLAIN;
    uint32_t every = load(&s->sync_every), bound = load(&s->in_flight_bound);
    bool due = beyond(s, every, weight);
    if ((acquire(&s->gate) | due | bound) && member_obeys()) {
        if (closed(s))
            stop(s, stream, per_thread);
        if (every)
            sync_point(s, stream, per_thread, every, weight);
        if (bound)
            pass = in_flight(s, bound, weight);
    }
    launched(s, kernels, weight);
    return pass;
}

/* The directives' bounds are in kernels: a graph counts by those it has, or by
   its share of the device time that the bound stands for. */
static uint64_t weigh(struct deft_slot *s, struct deft_row cost) {
    uint32_t every = load(&s->sync_every), bound = load(&s->in_flight_bound);
    return graph_weight(cost, every && (!bound || every < bound) ? every : bound, load(&s->bound_ns));
}

enum pass gate_graph(void *exec, void *stream, bool per_thread, uint64_t *weight) {
    member_seen();
    struct deft_slot *s = acquire(&here->slot);
    struct deft_row cost = graph_cost(exec);
    enum pass pass = PASS_PLAIN;
    *weight = cost.kernels;
    if (likely(gate_ask(s, stream, per_thread) == 0)) {
        launched(s, cost.kernels, *weight);
    } else {
        *weight = weigh(s, cost);
        pass = gate_slow(stream, per_thread, cost.kernels, *weight);
    }
    add(&s->graph_launches, 1);
    uint64_t launches = load(&s->launches);
    if (launches == load(&s->emptied) + 1) {
        store(&here->sole_launches, launches);
        store(&here->sole_ns, now_ns());
        store(&here->sole, exec);
    }
    return pass;
}

void gate_copy(void *stream, bool per_thread) {
    struct deft_slot *s = acquire(&here->slot);
    if (likely((load(&s->gate) | load(&attend) | (load(&s->state) ^ DEFT_ACTIVE)) == 0))
        return;
    member_seen();
    s = acquire(&here->slot);
    if (load(&attend) >= ATTEND_CAPTURE)
        return;
    job_detect(s);
    if (closed(s) && member_obeys())
        stop(s, stream, per_thread);
}

void gate_host(void *stream, bool per_thread) {
    gate_copy(stream, per_thread);
    store(&here->hosted, 1);
}

void gate_synced(long kind, void *stream, bool per_thread, struct mark before) {
    struct deft_slot *s = acquire(&here->slot);
    add(&s->own_syncs, 1);
    bool sole = load(&here->contexts) <= 1 && load(&here->at) == context;
    if ((kind == ALL && sole) || (kind >= 0 && !load(&here->many) && stream_key(stream, per_thread) == load(&here->stream))) {
        emptied(s, before);
        for (struct ring *r = ring; r; r = r->next)
            if (kind != ALL || r->context == context)
                ring_reset(r);
        if (s != &nobody)
            store(&here->fresh, 1);
    }
    if (!load(&s->job_marked) && member_job_mode() == DEFT_JOB_SYNC)
        job_end(s);
}

void gate_capture(bool opens) {
    uint32_t now = load(&attend);
    do {
        if (!opens && now < ATTEND_CAPTURE)
            return;
    } while (!swap_if(&attend, &now, opens ? now + ATTEND_CAPTURE : now - ATTEND_CAPTURE));
}

void gate_lose_contexts(void) {
    add(&lost_contexts, 1);
    __atomic_fetch_and(&attend, ATTEND_CAPTURE - 1, __ATOMIC_RELAXED);
    member_here();
}

void gate_child(void) { ring = NULL; }
