/* libcuda.so.1 without a GPU: the driver API as programs and hooks meet it,
 * over the device of device.h. Kernels compute nothing; they take time, in
 * proportion to their number of blocks. Streams of one process share its queue
 * and run in the order of submission; copies move their bytes at the call and
 * take their time in the queue.
 *
 * Settings, read from the environment once:
 *   SIMCUDA_DEVICE        files of the devices, at most four, with a colon
 *                         between (/dev/shm/simcuda-UID)
 *   SIMCUDA_ORDER         fifo (default), turns or mps; the Go package
 *                         deft/internal/device says what they are like
 *   SIMCUDA_SLICE_NS      length of a turn (2070000)
 *   SIMCUDA_SWITCH_NS     idle time at a change of turn (166000)
 *   SIMCUDA_OVERLAP       under mps, share of a command that runs next to another's (0.3)
 *   SIMCUDA_QUEUE         commands a process may have waiting (1024)
 *   SIMCUDA_NS_PER_BLOCK  time of one block of a kernel (1)
 *   SIMCUDA_NS_PER_KIB    time to copy or set 1024 bytes (80)
 *   SIMCUDA_MEMORY_BYTES  device memory (17179869184)
 *   SIMCUDA_AFTER_FORK    refuse (default, as the real driver does) or allow
 *   SIMCUDA_COUNTS        file to which each process appends what it did
 *   SIMCUDA_NOOP          1: cuLaunchKernel returns at once, for measurements
 *   SIMCUDA_FAULT         comma-separated: launch:N (the N-th launch fails, and
 *                         all that follow), die:N (SIGKILL at the N-th launch,
 *                         the kernel queued), slow:NS (a launch keeps the host
 *                         busy), dlsym (the driver looks its own names up)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simcuda.h"

struct settings config = {.ns_per_block = 1, .ns_per_kib = 80};
struct process this_process;
pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t number_from(const char *name, uint64_t otherwise) {
    const char *s = getenv(name);
    return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void read_faults(const char *s) {
    for (; s && *s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
        sscanf(s, "launch:%lu", &config.fail_at);
        sscanf(s, "die:%lu", &config.die_at);
        sscanf(s, "slow:%lu", &config.slow_ns);
        if (!strncmp(s, "dlsym", 5)) config.look_up = 1;
    }
}

static void after_fork_child(void) {
    pthread_mutex_init(&process_lock, NULL);
    this_process.orphan = this_process.ready && !config.after_fork;
    this_process.ready = this_process.devices = 0;
    this_process.launches = this_process.kernels = this_process.graphs = this_process.syncs = this_process.copies = 0;
}

__attribute__((constructor)) static void load(void) {
    const char *after = getenv("SIMCUDA_AFTER_FORK");
    config.ns_per_block = number_from("SIMCUDA_NS_PER_BLOCK", 1);
    config.ns_per_kib = number_from("SIMCUDA_NS_PER_KIB", 80);
    config.noop = number_from("SIMCUDA_NOOP", 0) == 1;
    config.after_fork = after && !strcmp(after, "allow");
    read_faults(getenv("SIMCUDA_FAULT"));
    pthread_atfork(NULL, NULL, after_fork_child);
}

static CUresult join_device(const char *file, const struct device_settings *s) {
    struct device *d = device_open(file, s);
    if (!d) {
        fprintf(stderr, "simcuda: %s: %s\n", file, strerror(errno));
        return CUDA_ERROR_NO_DEVICE;
    }
    int client = device_join(d);
    if (client < 0) {
        fprintf(stderr, "simcuda: %s: all %d places for processes are taken\n", file, DEVICE_CLIENTS);
        return CUDA_ERROR_NO_DEVICE;
    }
    this_process.at[this_process.devices].device = d;
    this_process.at[this_process.devices++].client = client;
    return CUDA_SUCCESS;
}

static CUresult join(void) {
    char paths[4096], *rest = NULL;
    const char *files = getenv("SIMCUDA_DEVICE"), *order = getenv("SIMCUDA_ORDER");
    const char *overlap = getenv("SIMCUDA_OVERLAP");
    enum device_order o = order && !strcmp(order, "turns") ? DEVICE_TURNS : order && !strcmp(order, "mps") ? DEVICE_MPS : DEVICE_FIFO;
    struct device_settings s = {
        .order = o,
        .slice_ns = number_from("SIMCUDA_SLICE_NS", 2070000),
        .switch_ns = number_from("SIMCUDA_SWITCH_NS", 166000),
        .overlap = overlap && *overlap ? strtod(overlap, NULL) : .3,
        .memory_bytes = number_from("SIMCUDA_MEMORY_BYTES", 16ull << 30),
        .queue = number_from("SIMCUDA_QUEUE", DEVICE_ROOM),
    };
    if (!(s.overlap >= 0 && s.overlap <= 1)) s.overlap = .3;
    if (s.slice_ns < 1000) s.slice_ns = 1000;
    if (s.queue < 1 || s.queue > DEVICE_ROOM) s.queue = DEVICE_ROOM;
    if (files && *files)
        snprintf(paths, sizeof paths, "%s", files);
    else
        snprintf(paths, sizeof paths, "/dev/shm/simcuda-%u", (unsigned)getuid());
    CUresult r = CUDA_SUCCESS;
    this_process.devices = 0;
    for (char *file = strtok_r(paths, ":", &rest); file && !r; file = strtok_r(NULL, ":", &rest))
        r = this_process.devices < DEVICES ? join_device(file, &s) : CUDA_ERROR_INVALID_VALUE;
    return r;
}

static void write_counts(void) {
    char line[160];
    const char *path = getenv("SIMCUDA_COUNTS");
    int fd = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return;
    int n = snprintf(line, sizeof line, "{\"pid\":%d,\"launches\":%lu,\"kernels\":%lu,\"graphs\":%lu,\"syncs\":%lu,\"copies\":%lu}\n",
                     (int)getpid(), READ(launches), READ(kernels), READ(graphs), READ(syncs), READ(copies));
    if (write(fd, line, (size_t)n) != n) fprintf(stderr, "simcuda: %s: %s\n", path, strerror(errno));
    close(fd);
}

__attribute__((destructor)) static void unload(void) {
    if (!__atomic_exchange_n(&this_process.ready, 0, __ATOMIC_ACQ_REL)) return;
    write_counts();
    for (int i = 0; i < this_process.devices; i++) device_leave(ON(i));
}

CUresult usable(void) {
    if (!__atomic_load_n(&this_process.ready, __ATOMIC_ACQUIRE)) return CUDA_ERROR_NOT_INITIALIZED;
    return READ(failed) ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

API CUresult cuInit(unsigned flags) {
    CUresult r = CUDA_SUCCESS;
    NEED(flags == 0, CUDA_ERROR_INVALID_VALUE);
    NEED(!this_process.orphan, CUDA_ERROR_NOT_INITIALIZED);
    pthread_mutex_lock(&process_lock);
    if (!this_process.ready && !(r = join())) __atomic_store_n(&this_process.ready, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&process_lock);
    return r;
}

API CUresult cuDriverGetVersion(int *version) {
    NEED(version, CUDA_ERROR_INVALID_VALUE);
    *version = 13000;
    return CUDA_SUCCESS;
}
