#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x33616475636d6973ull /* "simcuda3" */
#define WORDS (DEVICE_CLIENTS / 64)
#define REAP_NS 5000000ull   /* how often the dead are looked for */
#define LOOK_NS 5000000ull   /* longest sleep of a waiter */

struct command {
    uint64_t sequence; /* order over all clients */
    uint64_t ns;       /* device time it takes */
    uint64_t queued;   /* when it came */
    uint64_t end;      /* when it was done */
};

struct client {
    int32_t pid; /* 0: free */
    uint32_t reserved;
    uint64_t start_ticks;
    uint64_t tail; /* commands ever queued here */
    int64_t memory;
    struct command ring[DEVICE_QUEUE];
};

/* The progress of the device: small, as it is copied and run ahead. */
struct progress {
    uint64_t clock;      /* the device has been brought up to this time */
    uint64_t turn_end;   /* DEVICE_TURNS: end of the running client's turn */
    uint32_t running;    /* client + 1; 0 for none */
    uint32_t last;       /* client + 1 whose context is loaded; 0 for none */
    uint64_t began;      /* of the last command that began */
    uint64_t ended;      /* of the last command that ended */
    uint64_t busy[WORDS]; /* clients that may have commands waiting */
    struct {
        uint64_t head;    /* commands done */
        uint64_t left;    /* ns left of command left_of - 1 */
        uint64_t left_of; /* the command, plus 1, that left belongs to */
    } client[DEVICE_CLIENTS];
};

struct device {
    uint64_t magic;
    struct device_settings settings;
    pthread_mutex_t lock;
    uint64_t sequence;
    uint64_t reaped_at;
    struct progress progress;
    struct client client[DEVICE_CLIENTS];
};

/* The lock is never held while sleeping. The state behind it is valid at every
 * instruction, so a holder's death needs no repair. */
static void lock(struct device *d) {
    if (pthread_mutex_lock(&d->lock) == EOWNERDEAD) pthread_mutex_consistent(&d->lock);
}

static void unlock(struct device *d) { pthread_mutex_unlock(&d->lock); }

/* ---- running the device ------------------------------------------------ */

static int has_commands(const struct device *d, const struct progress *p, int i) {
    return p->client[i].head < d->client[i].tail;
}

/* The next client with work after client i, in turn; -1 for none. Clients that
 * turn out to have none lose their mark. */
static int next_busy(const struct device *d, struct progress *p, int i) {
    for (int n = 0; n <= DEVICE_CLIENTS;) {
        i = (i + 1) % DEVICE_CLIENTS;
        uint64_t rest = p->busy[i / 64] >> (i % 64);
        if (rest == 0) {
            n += 64 - i % 64;
            i |= 63;
            continue;
        }
        int step = __builtin_ctzll(rest);
        i += step;
        n += step + 1;
        if (has_commands(d, p, i)) return i;
        p->busy[i / 64] &= ~(1ull << (i % 64));
    }
    return -1;
}

/* The client whose first command was queued first; -1 for none. */
static int first_queued(const struct device *d, struct progress *p) {
    int first = -1;
    uint64_t earliest = UINT64_MAX;
    for (int w = 0; w < WORDS; w++) {
        for (uint64_t rest = p->busy[w]; rest; rest &= rest - 1) {
            int i = w * 64 + __builtin_ctzll(rest);
            if (!has_commands(d, p, i)) {
                p->busy[w] &= ~(1ull << (i % 64));
                continue;
            }
            uint64_t sequence = d->client[i].ring[p->client[i].head % DEVICE_QUEUE].sequence;
            if (sequence < earliest) earliest = sequence, first = i;
        }
    }
    return first;
}

static int has_begun(const struct progress *p, int i) { return p->client[i].left_of == p->client[i].head + 1; }

/* The client that runs now; -1 for none. Under DEVICE_TURNS a change of
 * client may put the clock forward. */
static int choose(const struct device *d, struct progress *p) {
    int running = (int)p->running - 1, last = p->last ? (int)p->last - 1 : DEVICE_CLIENTS - 1;
    if (d->settings.order != DEVICE_TURNS) {
        if (running >= 0 && has_commands(d, p, running) && has_begun(p, running)) return running;
        return d->settings.order == DEVICE_MPS ? next_busy(d, p, last) : first_queued(d, p);
    }
    if (running >= 0 && has_commands(d, p, running) && p->clock < p->turn_end) return running;
    int next = next_busy(d, p, last);
    if (next < 0) return -1;
    if (p->last && next != last) p->clock += d->settings.switch_ns;
    p->turn_end = p->clock + d->settings.slice_ns;
    return next;
}

/* Begins client i's first command. What could run of it next to another client's,
 * for which it waited, is done already. */
static void begin(const struct device *d, struct progress *p, int i) {
    const struct command *k = &d->client[i].ring[p->client[i].head % DEVICE_QUEUE];
    uint64_t done = 0;
    if (d->settings.order == DEVICE_MPS && p->last && (int)p->last - 1 != i && p->ended == p->clock) {
        uint64_t since = k->queued > p->began ? k->queued : p->began, most = (uint64_t)(d->settings.overlap * (double)k->ns);
        done = p->clock - since < most ? p->clock - since : most;
    }
    p->client[i].left = k->ns - done;
    __atomic_store_n(&p->client[i].left_of, p->client[i].head + 1, __ATOMIC_RELEASE);
    p->began = p->clock;
}

/* Brings p up to now, or until command number of client stop is done. The
 * ends are written to ends: NULL when only looking ahead. The stores are
 * ordered: see device.h for what a death between two of them may cost. */
static void run(const struct device *d, struct device *ends, struct progress *p, uint64_t now, int stop, uint64_t number) {
    for (;;) {
        int i = choose(d, p);
        p->running = (uint32_t)(i + 1);
        if (i < 0) {
            if (p->clock < now && stop < 0) p->clock = now;
            return;
        }
        if (!has_begun(p, i)) begin(d, p, i);
        p->last = (uint32_t)(i + 1);
        uint64_t rest = p->client[i].left, step = rest;
        if (d->settings.order == DEVICE_TURNS && p->turn_end - p->clock < step) step = p->turn_end - p->clock;
        if (p->clock >= now && step > 0) return;
        if (p->clock < now && now - p->clock < step) step = now - p->clock;
        p->client[i].left = rest - step;
        p->clock += step;
        if (rest > step) continue;
        if (ends) ends->client[i].ring[p->client[i].head % DEVICE_QUEUE].end = p->clock;
        p->ended = p->clock;
        __atomic_store_n(&p->client[i].head, p->client[i].head + 1, __ATOMIC_RELEASE);
        if (i == stop && p->client[i].head > number) return;
    }
}

static void run_to_now(struct device *d) { run(d, d, &d->progress, now_ns(), -1, 0); }

/* When command number of client i will be done if nothing else is queued. */
static uint64_t forecast(const struct device *d, int i, uint64_t number) {
    struct progress ahead = d->progress;
    run(d, NULL, &ahead, UINT64_MAX, i, number);
    return ahead.clock;
}

/* ---- clients ------------------------------------------------------------ */

/* The time a process started, in clock ticks since boot; 0 if it is dead. */
static uint64_t start_ticks(int pid) {
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = 0;
    char *p = strrchr(text, ')'), state;
    unsigned long long ticks = 0;
    if (!p || sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state, &ticks) != 2) return 0;
    return state == 'Z' || state == 'X' ? 0 : ticks;
}

/* Drops all that client i has queued and frees its place. */
static void remove_client(struct device *d, int i) {
    d->progress.client[i].head = d->client[i].tail;
    if (d->progress.running == (uint32_t)i + 1) d->progress.running = 0;
    if (d->progress.last == (uint32_t)i + 1) d->progress.last = 0;
    d->client[i].memory = 0;
    d->client[i].pid = 0;
}

/* Purges the dead; all of them, or only those that others may be waiting for. */
static void reap(struct device *d, int self, int all) {
    d->reaped_at = d->progress.clock;
    for (int i = 0; i < DEVICE_CLIENTS; i++) {
        struct client *c = &d->client[i];
        if (c->pid && i != self && (all || has_commands(d, &d->progress, i)) && start_ticks(c->pid) != c->start_ticks) remove_client(d, i);
    }
}

int device_join(struct device *d) {
    int pid = getpid(), place = -1;
    uint64_t ticks = start_ticks(pid);
    lock(d);
    run_to_now(d);
    for (int round = 0; round < 2 && place < 0; round++) {
        if (round) reap(d, -1, 1);
        for (int i = 0; i < DEVICE_CLIENTS && place < 0; i++)
            if (!d->client[i].pid) place = i;
    }
    if (place >= 0) {
        struct client *c = &d->client[place];
        c->memory = 0;
        c->start_ticks = ticks;
        c->pid = pid;
    }
    unlock(d);
    return place;
}

void device_leave(struct device *d, int i) {
    lock(d);
    run_to_now(d);
    remove_client(d, i);
    unlock(d);
}

/* ---- commands ----------------------------------------------------------- */

uint64_t device_push(struct device *d, int i, uint64_t ns, uint64_t *last) {
    struct client *c = &d->client[i];
    for (;;) {
        lock(d);
        run_to_now(d);
        uint64_t number = c->tail;
        if (number - d->progress.client[i].head < d->settings.queue) {
            struct command *k = &c->ring[number % DEVICE_QUEUE];
            k->ns = ns;
            k->queued = d->progress.clock;
            k->sequence = d->sequence++;
            k->end = 0;
            if (last) __atomic_store_n(last, number + 1, __ATOMIC_RELAXED);
            d->progress.busy[i / 64] |= 1ull << (i % 64);
            __atomic_store_n(&c->tail, number + 1, __ATOMIC_RELEASE);
            unlock(d);
            return number;
        }
        unlock(d);
        device_wait(d, i, number - d->settings.queue);
    }
}

uint64_t device_tail(struct device *d, int i) {
    lock(d);
    uint64_t tail = d->client[i].tail;
    unlock(d);
    return tail;
}

/* Under the lock: whether command number is done, and when. */
static int done(struct device *d, int i, uint64_t number, uint64_t *end) {
    if (d->progress.client[i].head <= number) return 0;
    *end = d->client[i].tail - number <= DEVICE_QUEUE ? d->client[i].ring[number % DEVICE_QUEUE].end : 0;
    return 1;
}

int device_done(struct device *d, int i, uint64_t number, uint64_t *end) {
    uint64_t when = 0;
    lock(d);
    run_to_now(d);
    int is = done(d, i, number, &when);
    if (!is && d->progress.clock - d->reaped_at > REAP_NS) reap(d, i, 0);
    unlock(d);
    if (end) *end = when;
    return is;
}

uint64_t device_wait(struct device *d, int i, uint64_t number) {
    for (;;) {
        uint64_t end = 0, due;
        lock(d);
        run_to_now(d);
        if (done(d, i, number, &end)) {
            unlock(d);
            return end;
        }
        uint64_t now = d->progress.clock;
        if (now - d->reaped_at > REAP_NS) reap(d, i, 0);
        due = forecast(d, i, number);
        unlock(d);
        sleep_until(due < now + LOOK_NS ? due : now + LOOK_NS);
    }
}

/* ---- memory ------------------------------------------------------------- */

static uint64_t memory_used(struct device *d) {
    uint64_t used = 0;
    for (int i = 0; i < DEVICE_CLIENTS; i++)
        if (d->client[i].pid) used += (uint64_t)d->client[i].memory;
    return used;
}

int device_memory(struct device *d, int i, int64_t bytes) {
    int result = 0;
    lock(d);
    if (bytes > 0 && memory_used(d) + (uint64_t)bytes > d->settings.memory_bytes) reap(d, i, 1);
    if (bytes > 0 && memory_used(d) + (uint64_t)bytes > d->settings.memory_bytes)
        result = -1;
    else
        d->client[i].memory += bytes;
    unlock(d);
    return result;
}

void device_memory_info(struct device *d, uint64_t *free_bytes, uint64_t *total_bytes) {
    lock(d);
    uint64_t used = memory_used(d);
    *total_bytes = d->settings.memory_bytes;
    *free_bytes = used < *total_bytes ? *total_bytes - used : 0;
    unlock(d);
}

/* ---- the file ----------------------------------------------------------- */

static int prepare(struct device *d, const struct device_settings *settings) {
    pthread_mutexattr_t a;
    int err = pthread_mutexattr_init(&a);
    if (!err) err = pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    if (!err) err = pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    if (!err) err = pthread_mutex_init(&d->lock, &a);
    d->settings = *settings;
    d->progress.clock = d->reaped_at = now_ns();
    __atomic_store_n(&d->magic, MAGIC, __ATOMIC_RELEASE);
    return err;
}

struct device *device_open(const char *path, const struct device_settings *settings) {
    struct device *d = MAP_FAILED;
    struct stat st;
    int err = 0, fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return NULL;
    /* The lock on the file ends with its holder: a maker that dies half-way
     * leaves a file without the mark, which the next one makes again. */
    if (flock(fd, LOCK_EX) || fstat(fd, &st)) {
        err = errno;
    } else if (st.st_size != 0 && st.st_size != (off_t)sizeof *d) {
        err = EPROTO;
    } else if (ftruncate(fd, sizeof *d)) {
        err = errno;
    } else if (fallocate(fd, 0, 0, sizeof *d) && errno == ENOSPC) {
        err = errno; /* a touched page without room would be a SIGBUS */
    } else {
        d = mmap(NULL, sizeof *d, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (d == MAP_FAILED) err = errno;
    }
    if (!err && d->magic == 0) err = prepare(d, settings);
    if (!err && d->magic != MAGIC) err = EPROTO;
    if (err && d != MAP_FAILED) munmap(d, sizeof *d);
    flock(fd, LOCK_UN); /* closing is not enough: the mapping keeps the file open */
    close(fd);
    errno = err;
    return err ? NULL : d;
}
