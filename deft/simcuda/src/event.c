/* Events: commands that take no time, and when they were done. */
#include <stdlib.h>

#include "simcuda.h"

enum { EVENT_MAGIC = 0x65767431 };

struct event {
    int magic;
    int timed;
    int device;
    uint64_t number;       /* of its command, plus 1 */
    uint64_t end;          /* when that was done, after the first query */
    struct graph *graph;   /* it was recorded into this capture */
    struct stream *origin; /* of that capture */
};

static struct event *event_of(CUhandle h) {
    struct event *e = h;
    return e && e->magic == EVENT_MAGIC ? e : NULL;
}

API CUresult cuEventCreate(CUhandle *event, unsigned flags) {
    NEED_DRIVER;
    NEED(event, CUDA_ERROR_INVALID_VALUE);
    struct event *e = calloc(1, sizeof *e);
    NEED(e, CUDA_ERROR_OUT_OF_MEMORY);
    e->magic = EVENT_MAGIC;
    e->timed = !(flags & 2);
    *event = e;
    return CUDA_SUCCESS;
}
API CUresult cuEventDestroy_v2(CUhandle event) {
    struct event *e = event_of(event);
    NEED_DRIVER;
    NEED(e, CUDA_ERROR_INVALID_HANDLE);
    e->magic = 0;
    free(e);
    return CUDA_SUCCESS;
}

static CUresult record(struct stream *s, CUhandle event) {
    struct event *e = event_of(event);
    NEED_DRIVER;
    NEED(s && e, CUDA_ERROR_INVALID_HANDLE);
    CUresult r = submit(s, 0, 0);
    if (r) return r;
    pthread_mutex_lock(&process_lock);
    e->graph = s->graph;
    e->origin = s->origin;
    e->end = 0;
    e->device = s->device;
    e->number = s->graph ? 0 : __atomic_load_n(&s->last, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&process_lock);
    return CUDA_SUCCESS;
}
BOTH(cuEventRecord, cuEventRecord_ptsz, (CUhandle event, CUhandle stream), record, event)
BOTH(cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz, (CUhandle event, CUhandle stream, unsigned flags), ((void)flags, record), event)

/* Stores the number of the event's command, plus 1; returns 0 or an error. */
static CUresult event_number(struct event *e, uint64_t *number) {
    NEED(e, CUDA_ERROR_INVALID_HANDLE);
    pthread_mutex_lock(&process_lock);
    int captured = e->graph != NULL && e->origin->graph == e->graph;
    if (captured) e->origin->broken = 1;
    *number = e->number;
    pthread_mutex_unlock(&process_lock);
    return captured ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

static void record_end(struct event *e, uint64_t number, uint64_t end) {
    pthread_mutex_lock(&process_lock);
    if (e->number == number && end) e->end = end;
    pthread_mutex_unlock(&process_lock);
}

API CUresult cuEventQuery(CUhandle event) {
    struct event *e = event_of(event);
    uint64_t number, end = 0;
    NEED_DRIVER;
    CUresult r = event_number(e, &number);
    if (r || !number) return r;
    if (!device_done(ON(e->device), number - 1, &end)) return CUDA_ERROR_NOT_READY;
    record_end(e, number, end);
    return CUDA_SUCCESS;
}
API CUresult cuEventSynchronize(CUhandle event) {
    struct event *e = event_of(event);
    uint64_t number;
    NEED_DRIVER;
    COUNT(syncs);
    CUresult r = event_number(e, &number);
    if (!r) r = disturb();
    if (r || !number) return r;
    record_end(e, number, device_wait(ON(e->device), number - 1));
    return CUDA_SUCCESS;
}
API CUresult cuEventElapsedTime_v2(float *ms, CUhandle from, CUhandle to) {
    struct event *a = event_of(from), *b = event_of(to);
    NEED(ms && a && b && a->timed && b->timed, CUDA_ERROR_INVALID_HANDLE);
    CUresult r = cuEventQuery(a);
    if (!r) r = cuEventQuery(b);
    if (r) return r;
    pthread_mutex_lock(&process_lock);
    uint64_t begin = a->end, end = b->end;
    pthread_mutex_unlock(&process_lock);
    NEED(begin && end, CUDA_ERROR_INVALID_HANDLE);
    *ms = (float)((double)(int64_t)(end - begin) / 1e6);
    return CUDA_SUCCESS;
}
API CUresult cuEventElapsedTime(float *ms, CUhandle from, CUhandle to) { return cuEventElapsedTime_v2(ms, from, to); }

/* One queue per process keeps the order; a captured event draws the stream
 * into its capture. */
static CUresult wait_event(struct stream *s, CUhandle event) {
    struct event *e = event_of(event);
    NEED_DRIVER;
    NEED(s && e, CUDA_ERROR_INVALID_HANDLE);
    pthread_mutex_lock(&process_lock);
    if (e->graph && e->origin->graph == e->graph && !s->graph) {
        s->graph = e->graph;
        s->origin = e->origin;
        s->mode = e->origin->mode;
        s->by = e->origin->by;
    }
    pthread_mutex_unlock(&process_lock);
    return CUDA_SUCCESS;
}
BOTH(cuStreamWaitEvent, cuStreamWaitEvent_ptsz, (CUhandle stream, CUhandle event, unsigned flags), ((void)flags, wait_event), event)
