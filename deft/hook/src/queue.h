/*
 * The queue: the work that this process has launched on a device and that is not known
 * to be done.
 *
 * A lane is a stream of a context. It is busy from a launch until the driver
 * says that the stream has no work left; the queue is empty when no lane is busy.
 * A lane in an unknown state (a stream that captures, a driver that returns an error)
 * is busy, not empty.
 *
 * Nothing here waits inside the driver. A queue may wait for the next action of this
 * thread: a host function, a stream's wait for a value in memory, a kernel that runs
 * until the host ends it. So this code queries the driver, with naps between, and
 * gives up after a time.
 */
#ifndef DEFT_QUEUE_H
#define DEFT_QUEUE_H

#include "member.h"

/* A stream by a handle that means the same in every call. */
static inline void *stream_handle(void *stream, bool per_thread) {
    return stream ? stream : per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

static inline bool any_capture(void) { return load(&slow_reasons) >= SLOW_CAPTURE; }

HIDDEN bool queue_record(void **event, void *stream, word flags); /* makes the event if it is NULL */
HIDDEN bool queue_capturing(void *stream, bool per_thread);
HIDDEN void queue_capture(bool opens); /* a capture begins or ends */

/* Work is about to go to this stream of the thread's context. */
HIDDEN void queue_touch(void *stream, bool per_thread);
HIDDEN void queue_drop_stream(void *stream, bool per_thread); /* before it is destroyed */
HIDDEN void queue_drop_context(word context);                 /* after it was */
HIDDEN void queue_forget(void);                               /* in a forked child */

/* The progress of the process. */
struct mark {
    uint64_t launches, kernels; /* of the slot: launches, graph_kernels */
};
HIDDEN struct mark queue_mark(void);
HIDDEN struct mark queue_synced(void); /* at the last synchronization point, or empty queue */
HIDDEN bool queue_sync_by(struct mark now); /* true for the first thread that makes this point */

/* Whether the queue is empty. */
HIDDEN bool queue_is_empty(void);
/* ... once it is, or after a time. */
HIDDEN bool queue_drain(void);
/* ... after the program's own wait for a stream (kind 0), ALL of them, or an
   event (NO); before is the progress when the wait began. */
HIDDEN bool queue_waited(long kind, void *stream, bool per_thread, struct mark before);
/* A place in the queue: behind the work that was launched on a stream until now. */
struct place_in_queue {
    struct member *member;
    void *stream; /* as stream_handle returns it */
    word context;
    word thread; /* owner of a per-thread default stream, else 0 */
    struct mark mark;
};
HIDDEN struct place_in_queue queue_place(void *stream, bool per_thread);
/* The device has come to this place. Returns whether the queue is empty. Calls no driver: it
   is for host functions. */
HIDDEN bool queue_reached(struct place_in_queue at);
HIDDEN void queue_pause(void); /* time at the gate is not the device's */

/* The bound of device time in flight, in ns: waits for room for these kernels. */
HIDDEN void queue_room(uint64_t bound, uint64_t kernels);
/* They were launched; without a bound (0) they are not counted. */
HIDDEN void queue_add(uint64_t bound, void *stream, bool per_thread, uint64_t kernels);

/* The last stream that this thread launched to. The next launch there takes the fast
   path while its queue's epoch (struct member) is the same. */
struct last_stream {
    word key;
    uint64_t epoch;
};
HIDDEN extern __thread struct last_stream last_stream FAST;

/* Returns a key of a stream. Each thread's default stream and each context's has its
   own. */
static inline word stream_key(void *stream, bool per_thread) {
    return (per_thread && !stream ? (word)&inside : (word)stream) ^ context;
}

/* Before a launch on this stream: of some fifty, one is timed by a pair of events,
   the second of which queue_add records. On an idle device the first is done
   while the launch is on its way: the time is too long by that of the driver's call. */
HIDDEN void queue_time(void *stream, bool per_thread);

/* -- graph.c: how many kernels a graph has -- */

HIDDEN void graph_update(void *exec, void *graph); /* instantiated or updated */
HIDDEN void graph_remove(void *exec);
HIDDEN uint64_t graph_kernels(void *exec);
HIDDEN void graphs_forget(void);

#endif
