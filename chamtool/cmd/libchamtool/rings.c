// The rings: one for each thread, kept for the next thread when it ends.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "ring.h"

struct tool tool;

struct ring *chamtool_rings(void) { return atomic_load(&tool.rings); }

uint64_t chamtool_unplaced(void) { return atomic_load(&tool.unplaced); }

static pthread_key_t leaving; // its destructor gives a thread's ring back

__thread struct ring *own_ring;

static void leave(void *ring) {
    struct ring *r = ring;
    change_state(r, other_time(r, TIME_ENDED), ticks());
    atomic_store(&r->taken, 0);
}

// adopt takes over the ring of a thread that has ended.
static struct ring *adopt(void) {
    for (struct ring *r = atomic_load(&tool.rings); r; r = r->next) {
        uint64_t free = 0;
        if (atomic_compare_exchange_strong(&r->taken, &free, 1)) return r;
    }
    return NULL;
}

static struct ring *make_ring(void) {
    size_t slots = tool.settings.ring_slots;
    size_t bytes = sizeof(struct ring) + slots * sizeof(uint64_t[SLOT_WORDS]) + CONSTRUCTS * ITERATIONS * sizeof(struct unread) + PLACES * sizeof(struct place_time) + DEPTHS * sizeof *((struct ring *)NULL)->depths;
    struct ring *r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED) return NULL;
    r->mask = slots - 1;
    r->quarter = slots / 4;
    r->lane = atomic_fetch_add(&tool.lanes, 1);
    r->slots = (uint64_t (*)[SLOT_WORDS])(r + 1);
    r->unread = (struct unread *)(r->slots + slots);
    r->recent_ticks = UINT32_MAX;
    r->times = (struct place_time *)(r->unread + CONSTRUCTS * ITERATIONS);
    r->depths = (void *)(r->times + PLACES);
    atomic_store(&r->taken, 1);
    r->next = atomic_load(&tool.rings);
    while (!atomic_compare_exchange_weak(&tool.rings, &r->next, r)) {}
    return r;
}

struct ring *first_ring(void) {
    uint64_t from = ticks();
    struct ring *r = adopt();
    if (!r) r = make_ring();
    if (!r) {
        atomic_fetch_add(&tool.unplaced, 1);
        return NULL;
    }
    r->depth = r->shown = 0;
    r->initial = NULL;
    r->computing = NULL;
    r->lock_at = 0;
    change_state(r, NULL, ticks());
    pthread_getcpuclockid(pthread_self(), &r->cpu_clock);
    pthread_setspecific(leaving, r);
    add(&r->calls, ticks() - from);
    return own_ring = r;
}

void look_back(struct ring *r, uint64_t head) {
    r->seen = atomic_load_explicit(&r->tail, memory_order_acquire);
    if (head - r->seen > 2 * r->quarter) chamtool_wake();
}

// prepare_rings empties the rings of an earlier run of this process: a program may unload
// and load its OpenMP runtime. It returns 0 if threads cannot keep rings.
int prepare_rings(void) {
    static int has_key;
    for (struct ring *r = atomic_load(&tool.rings); r; r = r->next) {
        atomic_store(&r->tail, atomic_load(&r->head));
        atomic_store(&r->dropped, 0);
        atomic_store(&r->started, 0);
        atomic_store(&r->changed, 0);
        atomic_store(&r->calls, 0);
        atomic_store(&r->work, 0);
        memset(r->unread, 0, CONSTRUCTS * ITERATIONS * sizeof *r->unread);
        memset(r->times, 0, PLACES * sizeof *r->times);
        memset(r->depths, 0, DEPTHS * sizeof *r->depths);
        r->computing = r->state = NULL;
        r->lock_at = 0;
        atomic_store(&r->since, 0);
        r->depth = r->shown = 0;
        r->initial = NULL;
        memset(r->regions, 0, sizeof r->regions);
    }
    atomic_store(&tool.unplaced, 0);
    atomic_store(&tool.end, 0);
    has_key = has_key || !pthread_key_create(&leaving, leave);
    return has_key;
}
