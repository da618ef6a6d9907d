/*
 * Device memory that the process holds, as far as it came through wrapped
 * calls, and the quota.
 *
 * The size of each allocation stands in a fixed table without a lock. Where it
 * is full, further allocations are not counted any more.
 */
#include "deft.h"

enum { PLACES = 1 << 14, GONE = 1 };

static struct { uint64_t key, bytes; } held[PLACES];
static uint32_t count;

static uint32_t place(uint64_t key) { return (uint32_t)((key >> 8) * 0x9E3779B97F4A7C15ull >> 50); }

bool memory_reserve(uint64_t bytes) {
    member_seen();
    struct deft_slot *s = acquire(&member.slot);
    uint64_t quota = member_quota_bytes();
    uint64_t before = add(&s->memory_bytes, bytes);
    if (quota != 0 && (before > quota || bytes > quota - before)) {
        add(&s->memory_bytes, -bytes);
        add(&s->memory_refused, 1);
        return false;
    }
    uint64_t peak = load(&s->memory_peak_bytes);
    while (peak < before + bytes && !swap_if(&s->memory_peak_bytes, &peak, before + bytes)) {
    }
    return true;
}

void memory_cancel(uint64_t bytes) { add(&acquire(&member.slot)->memory_bytes, -bytes); }

void memory_took(uint64_t key, uint64_t bytes) {
    if (key <= GONE || add(&count, 1) >= PLACES / 2) {
        add(&count, -1);
        memory_cancel(bytes);
        return;
    }
    for (uint32_t i = place(key);; i = (i + 1) % PLACES) {
        uint64_t old = load(&held[i].key);
        if (old <= GONE && swap_if(&held[i].key, &old, key)) {
            release(&held[i].bytes, bytes);
            return;
        }
    }
}

void memory_gave(uint64_t key) {
    if (key <= GONE)
        return;
    for (uint32_t i = place(key), n = 0; n < PLACES; i = (i + 1) % PLACES, n++) {
        uint64_t old = acquire(&held[i].key);
        if (old == 0)
            return;
        if (old != key)
            continue;
        uint64_t bytes = __atomic_exchange_n(&held[i].bytes, 0, __ATOMIC_ACQ_REL);
        if (swap_if(&held[i].key, &old, GONE)) {
            add(&count, -1);
            memory_cancel(bytes);
            return;
        }
    }
}

void memory_info(size_t *free_bytes, size_t *total_bytes) {
    uint64_t quota = member_quota_bytes(), used = load(&acquire(&member.slot)->memory_bytes);
    if (quota == 0)
        return;
    uint64_t left = used < quota ? quota - used : 0;
    if (free_bytes && *free_bytes > left)
        *free_bytes = left;
    if (total_bytes && *total_bytes > quota)
        *total_bytes = quota;
}

void memory_forget(void) {
    if (count == 0)
        return;
    for (uint32_t i = 0; i < PLACES; i++)
        held[i].key = held[i].bytes = 0;
    count = 0;
}
