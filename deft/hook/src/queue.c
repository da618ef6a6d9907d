/*
 * Lanes, what is in flight in them, and the time a kernel takes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "queue.h"

#define NAP_NS 20000ull        /* between two queries of the driver ... */
#define EAGER_NS 200000ull     /* ... after this time of querying whenever the processor is free */
#define YIELD_NS 500000ull     /* a yield that takes longer: another thread works ... */
#define CROWDED_NS 100000000ull /* ... for so long */
#define LONG_WAIT_NS 200000000ull /* longest wait for a queue ... */
#define SHORT_WAIT_NS 1000000ull    /* ... once one has been given up, until one ends well */
#define WINDOW_NS 1000000ull   /* of the device, over which a kernel's time is averaged */
#define KERNEL_NS 12500.       /* of a kernel, before any was measured: by hand, between the
                                  median, 3 us, and the mean, 40 us, of Orion's lists */

enum { GROUPS = 8, UNTIMED = 32 /* launches at least between two that are timed */ };

/* A pair of events around one of some launches. */
struct timing {
    void *event[2];
    word context;     /* of the events */
    word thread;      /* that launches between the two events; 0: none */
    bool pending;     /* both are recorded */
    uint32_t left;    /* launches until the next */
    uint64_t launched; /* kernels of the timed launch */
};

/* Kernels, and a time. */
struct span {
    uint64_t ns, kernels;
};

struct lane {
    struct lane *next;
    word context;
    void *stream;
    word thread; /* owner of a per-thread default stream; 0: any thread may query it */
    bool busy;
    bool gone;   /* it was destroyed, or its thread has ended */
    bool probed; /* probe was recorded after all of its work */
    void *probe;
    uint64_t queued; /* kernels in flight under a bound, those of open included */
    uint64_t open;   /* ... after the last event */
    uint32_t oldest, count;
    void *event[GROUPS]; /* at the ends of groups, a ring */
    uint64_t size[GROUPS];
};

/* The process's queue on a device; by member. */
static struct queue {
    uint32_t locked;
    struct lane *lanes;
    uint64_t busy_ns; /* since when it is not empty, the gate's time left out */
    struct mark synced;
    uint32_t gave_up;   /* the last wait was given up */
    struct timing timing;
    struct span pace;  /* device time, and the kernels that took it, the old ones forgotten */
    struct span ended; /* kernels since a time before the launch of one in flight; 0: not known */
    bool whole;        /* at the beginning of ended none was in flight */
} queues[DEVICES];

__thread struct last_stream last_stream FAST;

static struct queue *this_queue(void) { return &queues[this_member - members]; }

/* -- calls of the driver -- */

static bool capture_active(void *stream) {
    int status = CU_CAPTURE_NONE;
    return CALL2("cuStreamIsCapturing", stream, &status) != CU_SUCCESS || status != CU_CAPTURE_NONE;
}

bool queue_capturing(void *stream, bool per_thread) { return capture_active(stream_handle(stream, per_thread)); }

void queue_capture(bool opens) {
    uint32_t now = load(&slow_reasons);
    do {
        if (!opens && now < SLOW_CAPTURE)
            return;
    } while (!swap_if(&slow_reasons, &now, opens ? now + SLOW_CAPTURE : now - SLOW_CAPTURE));
}

/* A visit to the driver in a lane's context, in which captures of other threads
   are not disturbed. */
struct visit {
    bool pushed, relaxed;
    int mode;
};

/* Returns the driver's answer; anything but success, and there is no visit. */
static int begin_visit(struct visit *v, word c) {
    *v = (struct visit){.mode = CU_CAPTURE_RELAXED};
    int r = c && c != context ? CALL1("cuCtxPushCurrent_v2", c) : CU_SUCCESS;
    if (r != CU_SUCCESS)
        return r;
    v->pushed = c && c != context;
    v->relaxed = any_capture() && CALL1("cuThreadExchangeStreamCaptureMode", &v->mode) == CU_SUCCESS;
    return CU_SUCCESS;
}

static void end_visit(struct visit *v) {
    word back;
    if (v->relaxed)
        CALL1("cuThreadExchangeStreamCaptureMode", &v->mode);
    if (v->pushed)
        CALL1("cuCtxPopCurrent_v2", &back);
}

bool queue_record(void **event, void *stream, word flags) {
    return (*event || CALL2("cuEventCreate", event, flags) == CU_SUCCESS) &&
           CALL2("cuEventRecord", *event, stream) == CU_SUCCESS;
}

/* Pauses between two queries of a wait. A nap lasts some 100 us, in which a short
   queue runs dry, so at first this thread only yields. If another thread then works on
   the same processor for milliseconds, naps are shorter. */
static void back_off(uint64_t begun) {
    static __thread uint64_t crowded FAST;
    uint64_t now = now_ns();
    if (now - begun >= EAGER_NS || now < crowded) {
        nap(NAP_NS);
        return;
    }
    sched_yield();
    if (now_ns() - now > YIELD_NS)
        crowded = now + CROWDED_NS;
}

/* -- lanes -- */

static bool lock(struct queue *q) {
    uint64_t until = 0;
    for (uint32_t no = 0; !swap_if(&q->locked, &no, 1); no = 0) {
        uint64_t now = now_ns();
        if (!until)
            until = now + LONG_WAIT_NS;
        if (now > until)
            return false;
        nap(1000);
    }
    return true;
}

static void unlock(struct queue *q) { release(&q->locked, 0); }

static bool can_query(const struct lane *l) { return !l->gone && (!l->thread || l->thread == (word)&inside); }

struct place_in_queue queue_place(void *stream, bool per_thread) {
    void *handle = stream_handle(stream, per_thread);
    return (struct place_in_queue){this_member, handle, context, handle == CU_STREAM_PER_THREAD ? (word)&inside : 0, queue_mark()};
}

static struct lane *find_lane(struct queue *q, struct place_in_queue at) {
    struct lane *l = q->lanes;
    while (l && (l->gone || l->stream != at.stream || l->context != at.context || l->thread != at.thread))
        l = l->next;
    return l;
}

/* Returns the lane of a stream of this thread's context, or NULL. */
static struct lane *this_lane(struct queue *q, void *stream) {
    return find_lane(q, queue_place(stream, false));
}

static pthread_key_t thread_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Ends the lane of a thread's default stream. */
static void end_thread(void *thread) {
    for (struct queue *q = queues; q < queues + DEVICES; q++) {
        if (!q->lanes || !lock(q))
            continue;
        for (struct lane *l = q->lanes; l; l = l->next)
            l->gone |= l->thread == (word)thread;
        unlock(q);
    }
}

static void create_thread_key(void) { pthread_key_create(&thread_key, end_thread); }

static struct lane *get_lane(struct queue *q, void *stream) {
    struct lane *l = this_lane(q, stream);
    if (l || !(l = calloc(1, sizeof *l)))
        return l;
    *l = (struct lane){.next = q->lanes, .context = context, .stream = stream};
    if (stream == CU_STREAM_PER_THREAD) {
        l->thread = (word)&inside;
        pthread_once(&once, create_thread_key);
        pthread_setspecific(thread_key, &inside);
    }
    q->lanes = l;
    return l;
}

void queue_touch(void *stream, bool per_thread) {
    struct queue *q = this_queue();
    if (acquire(&this_member->slot) == &no_slot) {
        last_stream = (struct last_stream){stream_key(stream, per_thread), load(&this_member->epoch)};
        return;
    }
    if (!lock(q))
        return;
    struct lane *l = get_lane(q, stream_handle(stream, per_thread));
    if (l) {
        bool idle = true;
        for (struct lane *o = q->lanes; o; o = o->next)
            idle &= !o->busy;
        if (idle)
            q->busy_ns = now_ns();
        l->busy = true;
        l->probed = false;
        last_stream = (struct last_stream){stream_key(stream, per_thread), load(&this_member->epoch)};
    }
    unlock(q);
}

/* Marks all work of a lane as done. */
static void clear_lane(struct lane *l) {
    l->busy = l->probed = false;
    l->queued = l->open = l->oldest = l->count = 0;
}

static void free_lane(struct lane *l, bool events) {
    for (int i = 0; events && i < GROUPS; i++)
        if (l->event[i])
            CALL1("cuEventDestroy_v2", l->event[i]);
    if (events && l->probe)
        CALL1("cuEventDestroy_v2", l->probe);
    free(l);
}

void queue_drop_stream(void *stream, bool per_thread) {
    struct queue *q = this_queue();
    struct visit v;
    if (!lock(q))
        return;
    for (struct lane *l = q->lanes; l; l = l->next) {
        if (l->gone || l->stream != stream_handle(stream, per_thread))
            continue;
        if (l->busy && begin_visit(&v, l->context) == CU_SUCCESS) {
            l->probed = !capture_active(l->stream) && queue_record(&l->probe, l->stream, CU_EVENT_NO_TIMING);
            end_visit(&v);
        }
        l->gone = true;
    }
    unlock(q);
}

void queue_drop_context(word c) {
    for (struct queue *q = queues; q < queues + DEVICES; q++) {
        if (!q->lanes || !lock(q))
            continue;
        for (struct lane **at = &q->lanes, *l; (l = *at);)
            if (l->context == c) {
                *at = l->next;
                free_lane(l, false);
            } else {
                at = &l->next;
            }
        if (q->timing.context == c)
            q->timing = (struct timing){0};
        add(&members[q - queues].epoch, 1);
        unlock(q);
    }
    member_update();
    last_stream.key = ~last_stream.key;
}

void queue_forget(void) {
    for (struct queue *q = queues; q < queues + DEVICES; q++)
        *q = (struct queue){0};
    last_stream = (struct last_stream){0};
}

/* -- is it empty? -- */

/* Whether the driver's answer ends a lane: success, an error that ends the context, or
   an unknown handle. Any other error leaves the lane busy. */
static bool ends_lane(int r) {
    static const short ends[] = {CU_SUCCESS, 201, 400, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (r == ends[i])
            return true;
    return false;
}

/* Whether a lane has no work left. For a lane that this thread cannot query, an event
   on the legacy stream shows it, which waits for every default stream. That is a last
   resort, as it delays their next work. */
static bool lane_is_empty(struct lane *l, bool probe) {
    struct visit v;
    int r = begin_visit(&v, l->context);
    if (r != CU_SUCCESS)
        return ends_lane(r);
    bool is;
    if (can_query(l)) {
        is = !(any_capture() && capture_active(l->stream)) && ends_lane(CALL1("cuStreamQuery", l->stream));
    } else {
        if (!l->probed && probe && !any_capture())
            l->probed = queue_record(&l->probe, CU_STREAM_LEGACY, CU_EVENT_NO_TIMING);
        is = l->probed && ends_lane(CALL1("cuEventQuery", l->probe));
    }
    end_visit(&v);
    return is;
}

struct mark queue_mark(void) {
    struct deft_slot *s = acquire(&this_member->slot);
    return (struct mark){load(&s->launches), load(&s->graph_kernels)};
}

struct mark queue_synced(void) {
    struct queue *q = this_queue();
    return (struct mark){load(&q->synced.launches), load(&q->synced.kernels)};
}

bool queue_sync_by(struct mark now) {
    struct queue *q = this_queue();
    uint64_t last = load(&q->synced.launches);
    if (last == now.launches || !swap_if(&q->synced.launches, &last, now.launches))
        return false;
    store(&q->synced.kernels, now.kernels);
    return true;
}

/* Device time of a kernel, above 0: one below the resolution of the clock was not measured. */
static double kernel_ns(const struct queue *q) {
    return q->pace.kernels && q->pace.ns ? (double)q->pace.ns / (double)q->pace.kernels : KERNEL_NS;
}

static void add_pace(struct queue *q, struct span s) {
    if (q->pace.ns > WINDOW_NS)
        q->pace = (struct span){q->pace.ns / 2, (q->pace.kernels + 1) / 2};
    q->pace.ns += s.ns;
    q->pace.kernels += s.kernels;
}

/* Device time of kernels that were all done within a time: where they are timed, the
   device may have been idle between them. */
static uint64_t work_ns(const struct queue *q, const struct deft_slot *s, uint64_t within, uint64_t kernels) {
    if (q->pace.kernels < 4 || !load(&s->timed))
        return within;
    uint64_t ns = (uint64_t)(kernel_ns(q) * (double)kernels);
    return ns < within ? ns : within;
}

static void set_empty(struct queue *q, struct deft_slot *s, struct mark at) {
    uint64_t now = now_ns();
    if (at.launches > load(&s->emptied)) {
        uint64_t kernels = at.launches + at.kernels - load(&s->emptied) - load(&s->emptied_kernels);
        store(&s->emptied_kernels, at.kernels);
        store(&s->emptied, at.launches);
        if (q->busy_ns && now > q->busy_ns)
            add(&s->gpu_ns, work_ns(q, s, now - q->busy_ns, kernels));
    }
    q->busy_ns = now;
    q->ended.ns = 0;
    store(&q->synced.kernels, at.kernels);
    store(&q->synced.launches, at.launches);
}

/* Queries every busy lane. A launch meanwhile leaves its lane busy: from the new epoch
   on, each launch calls queue_touch, which waits for the lock. */
static bool check_lanes(struct queue *q, bool probe) {
    add(&this_member->epoch, 1);
    struct mark at = queue_mark();
    bool empty = true;
    for (struct lane **p = &q->lanes, *l; (l = *p);) {
        if (l->busy && lane_is_empty(l, probe) && load(&acquire(&this_member->slot)->launches) == at.launches)
            clear_lane(l);
        empty &= !l->busy;
        if (l->gone && !l->busy) {
            *p = l->next;
            free_lane(l, true);
        } else {
            p = &l->next;
        }
    }
    if (empty && queue_mark().launches == at.launches)
        set_empty(q, acquire(&this_member->slot), at);
    return empty;
}

bool queue_is_empty(void) {
    struct queue *q = this_queue();
    if (!lock(q))
        return false;
    bool empty = check_lanes(q, true);
    unlock(q);
    return empty;
}

/* The longest time of a wait. */
static uint64_t max_wait(struct queue *q) { return load(&q->gave_up) ? SHORT_WAIT_NS : LONG_WAIT_NS; }

bool queue_drain(void) {
    struct queue *q = this_queue();
    uint64_t begun = now_ns(), most = max_wait(q);
    bool empty;
    while (!(empty = queue_is_empty()) && now_ns() - begun < most)
        back_off(begun);
    store(&q->gave_up, !empty);
    return empty;
}

bool queue_waited(long kind, void *stream, bool per_thread, struct mark before) {
    struct queue *q = this_queue();
    if (!lock(q))
        return false;
    add(&this_member->epoch, 1);
    bool alone = queue_mark().launches == before.launches;
    struct lane *its = kind >= 0 ? this_lane(q, stream_handle(stream, per_thread)) : NULL;
    for (struct lane *l = q->lanes; l && alone; l = l->next)
        if (l == its || (kind == ALL && l->context == context))
            clear_lane(l);
    bool empty = check_lanes(q, false);
    unlock(q);
    return empty;
}

bool queue_reached(struct place_in_queue at) {
    struct queue *q = &queues[at.member - members];
    struct deft_slot *s = acquire(&at.member->slot);
    uint32_t no = 0;
    if (!swap_if(&q->locked, &no, 1)) /* its holder may be inside the driver: a host function must not wait for it */
        return false;
    add(&at.member->epoch, 1);
    bool empty = load(&s->launches) == at.mark.launches;
    struct lane *its = find_lane(q, at);
    if (its && empty)
        clear_lane(its);
    for (struct lane *l = q->lanes; l; l = l->next)
        empty &= !l->busy;
    if (empty)
        set_empty(q, s, at.mark);
    unlock(q);
    return empty;
}

void queue_pause(void) {
    struct queue *q = this_queue();
    if (!lock(q))
        return;
    q->busy_ns = now_ns();
    q->ended.ns = 0;
    unlock(q);
}

/* -- in flight -- */

static uint64_t in_flight(const struct queue *q) {
    uint64_t n = 0;
    for (const struct lane *l = q->lanes; l; l = l->next)
        n += l->queued;
    return n;
}

/* The bound in kernels. */
static uint64_t kernel_limit(const struct queue *q, uint64_t bound) {
    uint64_t n = (uint64_t)((double)bound / kernel_ns(q));
    return n ? n : 1;
}

/* Ends the open groups: an event behind each. Where that is another thread's to
   do, which may never launch again, waiting threads leave it out of account. */
static void close_groups(struct queue *q, bool waiting) {
    struct visit v;
    for (struct lane *l = q->lanes; l; l = l->next) {
        if (waiting && !can_query(l)) {
            l->queued -= l->open;
            l->open = 0;
        }
        if (!l->open || l->count == GROUPS || !can_query(l) || begin_visit(&v, l->context) != CU_SUCCESS)
            continue;
        uint32_t at = (l->oldest + l->count) % GROUPS;
        if (!(any_capture() && capture_active(l->stream)) && queue_record(&l->event[at], l->stream, CU_EVENT_NO_TIMING)) {
            l->size[at] = l->open;
            l->open = 0;
            l->count++;
        }
        end_visit(&v);
    }
}

/* Learns what a kernel takes from how fast they end. While some are left in the queue the
   device was not idle; when it has run dry, it was at least as fast as since it was empty. */
static void learn(struct queue *q, uint64_t ended) {
    q->ended.kernels += ended;
    if (!q->ended.ns || !ended)
        return;
    struct span had = {now_ns() - q->ended.ns, q->ended.kernels};
    bool dry = in_flight(q) == 0;
    if (dry && q->whole && (!q->pace.kernels || (double)had.ns / (double)had.kernels < kernel_ns(q)))
        q->pace = had;
    if (!dry && had.ns > WINDOW_NS)
        add_pace(q, had);
    if (dry || had.ns > WINDOW_NS) {
        q->ended = (struct span){dry ? 0 : q->ended.ns + had.ns, 0};
        q->whole = false;
    }
}

/* Takes away the groups that have ended. */
static void collect(struct queue *q) {
    uint64_t before = in_flight(q);
    struct visit v;
    for (struct lane *l = q->lanes; l; l = l->next) {
        if (!l->count || begin_visit(&v, l->context) != CU_SUCCESS)
            continue;
        while (l->count && ends_lane(CALL1("cuEventQuery", l->event[l->oldest]))) {
            l->queued -= l->size[l->oldest];
            l->oldest = (l->oldest + 1) % GROUPS;
            l->count--;
        }
        end_visit(&v);
    }
    learn(q, before - in_flight(q));
}

/* Ends a wait at the bound. */
static void end_stall(struct deft_slot *s, uint64_t begun) {
    add(&s->in_wait, -1);
    add(&s->stall_ns, now_ns() - begun);
}

void queue_room(uint64_t bound, uint64_t kernels) {
    struct queue *q = this_queue();
    struct deft_slot *s = acquire(&this_member->slot);
    uint64_t begun = 0, now;
    if (!lock(q))
        return;
    for (uint64_t had; (had = in_flight(q)) && had + kernels > kernel_limit(q, bound);) {
        collect(q);
        if (in_flight(q) < had)
            continue;
        now = now_ns();
        if (!begun) {
            begun = now;
            add(&s->in_wait, 1);
            close_groups(q, true);
        } else if (now - begun > max_wait(q)) { /* it may wait for this thread */
            for (struct lane *l = q->lanes; l; l = l->next)
                l->queued = l->open = l->count = 0;
            q->ended.ns = 0;
            store(&q->gave_up, 1);
            unlock(q);
            end_stall(s, begun);
            return;
        }
        unlock(q);
        back_off(begun);
        if (!lock(q)) {
            end_stall(s, begun);
            return;
        }
    }
    store(&q->gave_up, 0);
    if (!q->ended.ns && in_flight(q) == 0) { /* not in queue_add: a thread interrupted before it would make the kernel look short */
        q->ended = (struct span){now_ns(), 0};
        q->whole = true;
    }
    unlock(q);
    if (begun)
        end_stall(s, begun);
}

void queue_time(void *stream, bool per_thread) {
    struct queue *q = this_queue();
    struct timing *t = &q->timing;
    if (any_capture() || !lock(q))
        return;
    if (t->left) {
        t->left--;
    } else if (!t->context || t->context == context) {
        int r = t->pending ? CALL1("cuEventQuery", t->event[1]) : CU_SUCCESS;
        float ms;
        if (t->pending && r == CU_SUCCESS && CALL3("cuEventElapsedTime", &ms, t->event[0], t->event[1]) == CU_SUCCESS)
            add_pace(q, (struct span){(uint64_t)(int64_t)(ms * 1e6f), t->launched});
        t->pending &= r == CU_NOT_READY;
        if (!t->pending) {
            t->context = context;
            t->thread = queue_record(&t->event[0], stream_handle(stream, per_thread), 0) ? (word)&inside : 0;
            t->left = UNTIMED + now_ns() % UNTIMED;
        }
    }
    unlock(q);
}

void queue_add(uint64_t bound, void *stream, bool per_thread, uint64_t kernels) {
    struct queue *q = this_queue();
    if (!lock(q))
        return;
    struct lane *l = this_lane(q, stream_handle(stream, per_thread));
    if (l && bound) {
        l->queued += kernels;
        l->open += kernels;
        uint64_t open = 0, most = kernel_limit(q, bound);
        for (struct lane *o = q->lanes; o; o = o->next)
            open += o->open;
        if (4 * open >= most || in_flight(q) >= most)
            close_groups(q, false);
    }
    struct timing *t = &q->timing;
    if (t->thread == (word)&inside) {
        t->thread = 0;
        t->launched = kernels;
        t->pending = !any_capture() && queue_record(&t->event[1], stream_handle(stream, per_thread), 0);
    }
    unlock(q);
}
