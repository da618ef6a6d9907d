/* The device on a clock that the test turns: reads lines "AT CLIENT NS" (AT in
 * order), queues each command at its time, and prints when each was done, in
 * the order of the lines. Lines "AT CLIENT drop" end a client.
 *
 * usage: trace FILE fifo|turns|mps SLICE_NS SWITCH_NS OVERLAP CLIENTS < LINES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static uint64_t clock_ns;

uint64_t now_ns(void) { return clock_ns; }
void sleep_until(uint64_t at) {
    if (at > clock_ns) clock_ns = at;
}

int main(int argc, char **argv) {
    if (argc != 7) return 2;
    struct device_settings s = {
        .order = !strcmp(argv[2], "turns") ? DEVICE_TURNS : !strcmp(argv[2], "mps") ? DEVICE_MPS : DEVICE_FIFO,
        .slice_ns = strtoull(argv[3], NULL, 10),
        .switch_ns = strtoull(argv[4], NULL, 10),
        .overlap = strtod(argv[5], NULL),
        .memory_bytes = 1,
        .queue = DEVICE_QUEUE,
    };
    struct device *d = device_open(argv[1], &s);
    int clients = atoi(argv[6]), lines = 0, place[DEVICE_CLIENTS], who[1000], dropped[DEVICE_CLIENTS] = {0};
    uint64_t number[1000], at;
    char what[32];
    if (!d) return perror(argv[1]), 1;
    for (int i = 0; i < clients; i++)
        if ((place[i] = device_join(d)) < 0) return 1;
    for (; lines < 1000 && scanf("%lu %d %31s", &at, &who[lines], what) == 3; lines++) {
        clock_ns = at;
        number[lines] = 0;
        if (strcmp(what, "drop"))
            number[lines] = 1 + device_push(d, place[who[lines]], strtoull(what, NULL, 10), NULL);
        else
            device_leave(d, place[who[lines]]), dropped[who[lines]] = 1;
    }
    for (int i = 0; i < lines; i++) {
        uint64_t end = 0;
        if (number[i] && !dropped[who[i]])
            end = device_wait(d, place[who[i]], number[i] - 1);
        else if (number[i])
            device_done(d, place[who[i]], number[i] - 1, &end); /* 0 where it was dropped */
        printf("%lu\n", end);
    }
    return 0;
}
