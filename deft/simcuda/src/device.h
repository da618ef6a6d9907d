/* The simulated device: one, shared by every process that maps its file. Its
 * physics are those of the Go package deft/internal/device, and a test plays both.
 *
 * Each client (process) has a queue of commands, each so many nanoseconds of
 * device time. There is no server: whoever looks at the device first brings it
 * up to the present, then reads it. All of it happens under one robust lock,
 * which the kernel hands on when its holder is killed; a holder that dies
 * between any two writes leaves a valid device, at
 * worst with one command's last step run twice. The queue of a dead client is
 * dropped, its running command with it, as a driver does with the work of a
 * process that is gone. */
#ifndef SIMCUDA_DEVICE_H
#define SIMCUDA_DEVICE_H

#include <stdint.h>

enum device_order {
    DEVICE_FIFO,  /* commands run in the order they were queued, all clients together */
    DEVICE_TURNS, /* clients take turns of slice_ns, a command is interrupted */
    DEVICE_MPS    /* one command of each client in turn, partly at the same time */
};

struct device_settings {
    enum device_order order;
    uint64_t slice_ns;     /* DEVICE_TURNS: length of a turn */
    uint64_t switch_ns;    /* DEVICE_TURNS: idle time at each change of client */
    double overlap;        /* DEVICE_MPS: share of a command that runs next to another's */
    uint64_t memory_bytes; /* device memory */
    uint64_t queue;        /* commands a client may have waiting, at most DEVICE_ROOM */
};

enum {
    DEVICE_ROOM = 1024,  /* commands a client may have waiting */
    DEVICE_QUEUE = 2048, /* the last ones, whose ends are known */
    DEVICE_CLIENTS = 512
};

struct device;

/* Opens or makes the device in the file path; the settings are those of the
 * process that makes it. NULL and errno where that cannot be done: EPROTO for
 * a file that holds something else. */
struct device *device_open(const char *path, const struct device_settings *settings);

/* Registers the calling process; -1 where all places are taken. */
int device_join(struct device *d);
void device_leave(struct device *d, int client);

/* Queues ns of work and returns its number, waiting while the queue is full.
 * If last is not NULL, the number plus 1 is stored there first: 0 means no
 * command. */
uint64_t device_push(struct device *d, int client, uint64_t ns, uint64_t *last);

/* Number of the command that will be queued next: all below it are queued. */
uint64_t device_tail(struct device *d, int client);

/* Whether command number is done, and when it was (0 if that is forgotten). */
int device_done(struct device *d, int client, uint64_t number, uint64_t *end_ns);

/* Returns once command number is done, and when it was (0 if forgotten). */
uint64_t device_wait(struct device *d, int client, uint64_t number);

/* Adds bytes (or takes them away); -1 where the device has not so many left. */
int device_memory(struct device *d, int client, int64_t bytes);
void device_memory_info(struct device *d, uint64_t *free_bytes, uint64_t *total_bytes);

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t now_ns(void);

/* Sleeps until a little before at, then spins. */
void sleep_until(uint64_t at);

#endif
