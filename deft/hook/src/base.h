/*
 * Words that all files of libdeft use.
 */
#ifndef DEFT_BASE_H
#define DEFT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))
#define COLD __attribute__((cold, noinline))
#define FAST __attribute__((tls_model("initial-exec")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define load(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define add(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define swap_if(p, old, new) \
    __atomic_compare_exchange_n((p), (old), (new), 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)

typedef uintptr_t word; /* any argument that travels in an integer register */

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void nap(uint64_t ns) {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, (long)ns}, NULL);
}

#endif
