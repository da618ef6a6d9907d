/*
 * The work before and after a launch: begin and end of jobs, the closed gate, and the
 * bounds of the directives.
 *
 * A stream that captures is left alone: nothing runs, and a wait would end the
 * capture. Others of the same process go through the gate meanwhile.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gate.h"

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
    __atomic_fetch_add(&s->job, 1, __ATOMIC_RELEASE);
    member_ring();
    return true;
}

static bool job_end(struct deft_slot *s) {
    uint32_t active = DEFT_ACTIVE;
    if (s == &no_slot || !swap_if(&s->state, &active, DEFT_IDLE))
        return false;
    add(&s->jobs_ended, 1);
    member_ring();
    return true;
}

/* Begins a job if the program marks none itself. */
static void job_detect(struct deft_slot *s) {
    if (load(&s->state) == DEFT_IDLE && !load(&s->job_marked))
        job_begin(s, member_slo_ns());
}

EXPORT int deft_job_begin(uint64_t slo) {
    member_ensure();
    struct deft_slot *s = acquire(&this_member->slot);
    if (s == &no_slot)
        return -1;
    store(&s->job_marked, 1);
    job_end(s);
    job_begin(s, slo ? slo : member_slo_ns());
    return 0;
}

EXPORT int deft_job_end(void) {
    struct deft_slot *s = acquire(&this_member->slot);
    if (s == &no_slot)
        return -1;
    job_end(s);
    return 0;
}

/* -- the gate -- */

#define SHORT_NS 100000ull /* between two checks of a queue that is not empty */

/* Whether the gate is closed for the present job. */
static bool is_closed(struct deft_slot *s) {
    uint64_t until = load(&s->until_job);
    return acquire(&s->gate) == DEFT_GATE_CLOSED && (until == 0 || load(&s->job) > until);
}

/* Reports when the queue is empty, and sleeps until the gate opens or no living
   owner keeps it closed. */
COLD static void wait_at_gate(struct deft_slot *s) {
    uint64_t begin = now_ns();
    bool empty = false;
    add(&s->stops, 1);
    add(&s->waiting, 1);
    while (is_closed(s)) {
        uint32_t epoch = acquire(&s->directive_epoch);
        empty = empty || queue_is_empty();
        if (empty && load(&s->drained) != epoch) {
            store(&s->drained_ns, now_ns());
            release(&s->drained, epoch);
            member_ring();
        }
        if (!member_obeys()) {
            add(&s->failed_open, 1);
            break;
        }
        struct timespec nap = {0, empty ? DEFT_NAP_NS : SHORT_NS};
        syscall(SYS_futex, &s->gate, FUTEX_WAIT, DEFT_GATE_CLOSED, &nap, NULL, 0);
    }
    add(&s->waiting, -1);
    add(&s->gate_ns, now_ns() - begin);
    queue_pause();
}

/* -- synchronization points -- */

/* Whether these kernels exceed the interval since the last synchronization point.
   A single launch never does. */
static bool exceeds_interval(struct deft_slot *s, uint32_t every, uint64_t kernels) {
    if (!every)
        return false;
    struct mark now = {load(&s->launches), load(&s->graph_kernels)}, last = queue_synced();
    uint64_t since = now.launches - last.launches;
    return since && since + now.kernels - last.kernels + kernels > every;
}

/* Waits for the queue before a launch that exceeds the interval. The first thread
   that notices makes the synchronization point. */
static void sync_point(struct deft_slot *s, uint32_t every, uint64_t kernels) {
    struct mark now = queue_mark();
    if (!exceeds_interval(s, every, kernels) || !queue_sync_by(now))
        return;
    uint64_t begin = now_ns();
    add(&s->in_wait, 1);
    bool empty = queue_drain();
    add(&s->in_wait, -1);
    if (!empty)
        return;
    add(&s->stall_ns, now_ns() - begin);
    add(&s->syncs, 1);
}

/* -- waits by polling -- */

static __thread struct deft_slot *polled FAST; /* where in_wait counts this thread's queries */

/* Ends the wait of a thread whose query was refused; returns whether there was one. */
static bool end_poll(void) {
    struct deft_slot *s = polled;
    if (s)
        add(&s->in_wait, -1);
    polled = NULL;
    return s != NULL;
}

void gate_forget(void) { polled = NULL; }

/* -- before and after -- */

/* Counts a launch of so many kernels. */
static inline void count_launch(struct deft_slot *s, uint64_t kernels) {
    add(&s->launches, 1);
    if (kernels > 1)
        add(&s->graph_kernels, kernels - 1);
}

/* Rings the owner, which gave the device to others while this client did not use it. */
COLD static void reclaim_device(struct deft_slot *s) {
    uint32_t watched = DEFT_GATE_WATCHED;
    if (swap_if(&s->gate, &watched, DEFT_GATE_OPEN))
        member_ring();
}

COLD enum pass gate_slow(void *stream, bool per_thread, uint64_t kernels) {
    member_ensure();
    end_poll();
    struct deft_slot *s = acquire(&this_member->slot);
    if (any_capture() && queue_capturing(stream, per_thread)) {
        add(&s->captured, 1);
        return PASS_PLAIN;
    }
    job_detect(s);
    enum pass pass = PASS_PLAIN;
    uint32_t every = load(&s->sync_every);
    uint64_t bound = load(&s->in_flight_ns);
    bool timed = load(&s->timed);
    if ((load(&s->gate) | exceeds_interval(s, every, kernels) | bound | timed) && member_obeys()) {
        pass = bound | timed ? PASS_RECORD : PASS_PLAIN;
        do { /* the gate may close while this waits for room */
            if (is_closed(s))
                wait_at_gate(s);
            if (every)
                sync_point(s, every, kernels);
            if (bound)
                queue_room(bound, kernels);
        } while (is_closed(s) && s == acquire(&this_member->slot) && member_obeys());
    }
    if (last_stream.key != stream_key(stream, per_thread) || last_stream.epoch != load(&this_member->epoch))
        queue_touch(stream, per_thread);
    count_launch(s, kernels);
    if (load(&s->gate) == DEFT_GATE_WATCHED)
        reclaim_device(s);
    if (pass == PASS_RECORD && timed)
        queue_time(stream, per_thread);
    return pass;
}

void gate_after(void *stream, bool per_thread, uint64_t kernels) {
    queue_add(load(&acquire(&this_member->slot)->in_flight_ns), stream, per_thread, kernels);
}

enum pass gate_graph(void *exec, void *stream, bool per_thread, uint64_t *kernels) {
    member_ensure();
    struct deft_slot *s = acquire(&this_member->slot);
    enum pass pass = PASS_PLAIN;
    *kernels = graph_kernels(exec);
    if (likely(gate_reasons(s, stream, per_thread) == 0))
        count_launch(s, *kernels);
    else
        pass = gate_slow(stream, per_thread, *kernels);
    add(&s->graph_launches, 1);
    return pass;
}

void gate_copy(void *stream, bool per_thread) {
    struct deft_slot *s = acquire(&this_member->slot);
    if (likely((load(&s->gate) | (load(&slow_reasons) & SLOW_JOIN) | (load(&s->state) ^ DEFT_ACTIVE)) == 0))
        return;
    member_ensure();
    s = acquire(&this_member->slot);
    if (any_capture() && queue_capturing(stream, per_thread))
        return;
    job_detect(s);
    if (is_closed(s) && member_obeys())
        wait_at_gate(s);
    reclaim_device(s);
}

/* Ends a job that nobody marks: the program has waited. */
static void end_waited_job(struct deft_slot *s) {
    if (!load(&s->job_marked))
        job_end(s);
}

void gate_synced(long kind, void *stream, bool per_thread, struct mark before) {
    struct deft_slot *s = acquire(&this_member->slot);
    add(&s->own_syncs, 1);
    if (s != &no_slot && queue_waited(kind, stream, per_thread, before))
        end_waited_job(s);
}

void gate_refused(void) {
    struct deft_slot *s = acquire(&this_member->slot);
    if (polled || s == &no_slot)
        return;
    polled = s;
    add(&s->in_wait, 1);
    last_stream.key = ~last_stream.key; /* the next launch takes the slow path, which ends it */
}

void gate_queried(long kind, void *stream, bool per_thread, struct mark before) {
    struct deft_slot *s = acquire(&this_member->slot);
    bool waited = end_poll();
    if (s == &no_slot || !queue_waited(kind, stream, per_thread, before) || !waited)
        return;
    add(&s->own_syncs, 1);
    end_waited_job(s);
}

void gate_reached(struct place_in_queue at) {
    struct deft_slot *s = acquire(&at.member->slot);
    if (s == &no_slot || !queue_reached(at))
        return;
    add(&s->own_syncs, 1);
    end_waited_job(s);
}
