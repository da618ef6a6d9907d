/* The time that the device lives in. A test puts another one in its place. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "device.h"

#define SPIN_NS 40000ull /* end of a sleep that is spent spinning */

uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sleep_until(uint64_t at) {
    static __thread int sharp;
    if (!sharp) {
        prctl(PR_SET_TIMERSLACK, 1ul);
        sharp = 1;
    }
    if (at > now_ns() + SPIN_NS) {
        uint64_t wake = at - SPIN_NS;
        struct timespec t = {(time_t)(wake / 1000000000u), (long)(wake % 1000000000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
        }
    }
    while (now_ns() < at) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}
