/*
 * The recorder: what a program launched, when, and how long it took on the device. Only
 * in libdeft-trace.so, which deft pair preloads (-DDEFT_TRACE); elsewhere nothing.
 */
#ifndef DEFT_TRACE_H
#define DEFT_TRACE_H

#include "queue.h"

/* One row of the file DEFT_TRACE.PID. Times of the host are those of
   CLOCK_MONOTONIC, those of the device count from its first row. */
struct trace_row {
    uint32_t kind;    /* TRACE_... */
    uint32_t kernels; /* of a launch; 0: a copy */
    uint64_t in, call, called, out; /* the program's call began; it went to the driver and
                                       came back; it ended */
    uint64_t begin, end;    /* on the device, ns */
};
enum {
    TRACE_LAUNCH = 1, /* begin and end are 0 if unknown */
    TRACE_WAIT = 2,
    TRACE_EVENTS = 3 /* end: time between two events with nothing between them */
};

#ifdef DEFT_TRACE
HIDDEN uint64_t trace_begin(void);
HIDDEN void trace_before(void *stream, bool per_thread); /* records an event after the queued work */
HIDDEN void trace_after(uint64_t in, void *stream, bool per_thread, uint64_t kernels);
HIDDEN void trace_waited(uint64_t in);
HIDDEN void trace_forget(void); /* in a forked child */
HIDDEN void trace_end(void);
#else
#define trace_begin() 0
#define trace_before(stream, per_thread) ((void)0)
#define trace_after(in, stream, per_thread, kernels) ((void)(in))
#define trace_waited(in) ((void)(in))
#define trace_forget() ((void)0)
#define trace_end() ((void)0)
#endif

#endif
