// A stand-in for the Go side, for builds of the C side with sanitizers: one
// thread that reads the rings and counts.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../tool.h"

static pthread_t reader;
static _Atomic int quit;
static uint64_t counts[33], dropped, started;

static void drain(void) {
    dropped = chamtool_unplaced();
    started = 0;
    for (struct ring *r = chamtool_rings(); r; r = r->next) {
        uint64_t at = atomic_load_explicit(&r->tail, memory_order_relaxed);
        uint64_t end = atomic_load_explicit(&r->head, memory_order_acquire);
        while (at < end) {
            uint64_t *slot = r->slots[at & r->mask];
            uint64_t n = slot[0] >> 16 & 0xff, sum = 0;
            for (uint64_t i = 0; i < n; i++) sum += r->slots[(at + 1 + i / SLOT_WORDS) & r->mask][i % SLOT_WORDS];
            counts[slot[0] & 31]++;
            counts[32] += sum;
            at += 1 + (slot[0] >> 24 & 0xff);
            atomic_store_explicit(&r->tail, at, memory_order_release);
        }
        dropped += atomic_load(&r->dropped);
        started += atomic_load(&r->started);
    }
}

static void *run(void *unused) {
    while (!quit) {
        drain();
        usleep(200);
    }
    return unused;
}

int chamtool_go_start(struct process *p, struct settings *s) {
    (void)p;
    s->ring_slots = 256;
    s->balance = 2;
    return pthread_create(&reader, NULL, run, NULL) == 0;
}

void chamtool_go_stop(void) {
    quit = 1;
    pthread_join(reader, NULL);
    drain();
    FILE *f = fopen(getenv("CONSUMER_OUT"), "w");
    if (!f) abort();
    fprintf(f, "{\"created\":%lu,\"started\":%lu,\"ended\":%lu,\"threads\":%lu,\"waits\":%lu,\"waits_left\":%lu,\"loads\":%lu,\"dropped\":%lu}\n",
            counts[EVENT_CREATE] + counts[EVENT_ANNOUNCE], started + counts[EVENT_ARRIVE] + counts[EVENT_CLAIM], counts[EVENT_RUN], counts[EVENT_THREAD_START],
            counts[EVENT_WAIT_START], counts[EVENT_WAIT_END],
            counts[EVENT_LOAD], dropped);
    fclose(f);
}

void chamtool_go_wait(void) {}

void chamtool_go_answer(void *question) {
    struct question *q = question;
    uint64_t sum = 0;
    for (int32_t i = 0; q->what == ASK_LOAD && i < q->local + q->stolen; i++) sum ^= q->words[i];
    q->n = (int32_t)(sum & 0xffff);
    q->seconds = (double)q->token;
}
