/*
 * The gate: the directives that a launch obeys before it goes to the driver.
 */
#ifndef DEFT_GATE_H
#define DEFT_GATE_H

#include "queue.h"

#define DEFT_NAP_NS 20000000ull /* longest sleep between two checks of the owner; set by hand */

enum pass { PASS_PLAIN, PASS_RECORD };

/* Before and after a launch of kernels on a stream; per_thread: NULL is the
   per-thread default stream. gate_after is called only for PASS_RECORD. */
HIDDEN enum pass gate_slow(void *stream, bool per_thread, uint64_t kernels);
HIDDEN void gate_after(void *stream, bool per_thread, uint64_t kernels);
HIDDEN enum pass gate_graph(void *exec, void *stream, bool per_thread, uint64_t *kernels);

/* The reasons for the slow path, as bits; 0: the launch goes to the driver at once. */
static inline uint64_t gate_reasons(struct deft_slot *s, void *stream, bool per_thread) {
    return load((uint64_t *)&s->sync_every) | load(&s->in_flight_ns) | load(&s->gate) | load(&slow_reasons) |
           (load(&s->state) ^ DEFT_ACTIVE) | (stream_key(stream, per_thread) ^ last_stream.key) | (load(&this_member->epoch) ^ last_stream.epoch);
}

static inline enum pass gate_launch(void *stream, bool per_thread) {
    struct deft_slot *s = acquire(&this_member->slot);
    if (likely(gate_reasons(s, stream, per_thread) == 0)) {
        add(&s->launches, 1);
        return PASS_PLAIN;
    }
    return gate_slow(stream, per_thread, 1);
}

HIDDEN void gate_copy(void *stream, bool per_thread); /* before a copy or a host function */
/* After the program's own wait; arguments as of queue_waited. */
HIDDEN void gate_synced(long kind, void *stream, bool per_thread, struct mark before);
/* After the answer to a query, "not ready" or done. A thread whose query is refused waits
   until a later one succeeds, or until it launches again. */
HIDDEN void gate_refused(void);
/* The device has come to a host function. */
HIDDEN void gate_reached(struct place_in_queue at);
HIDDEN void gate_forget(void); /* in a forked child */
HIDDEN void gate_queried(long kind, void *stream, bool per_thread, struct mark before);

#endif
