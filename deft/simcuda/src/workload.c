/* A DNN job without a network: launches the kernels of a profile through
 * libcuda.so.1, job after job, and writes the completion times down. It takes
 * the place of run_model.py in an experiment on the simulated device. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

static const char usage[] =
    "usage: deft-workload [flags]\n"
    "\n"
    "Runs one warm-up job, then jobs of the same kernels, and writes one CSV row each.\n"
    "\n"
    "what a job is:\n"
    "  --kernels N         kernels of a job (with --kernel-ns)\n"
    "  --kernel-ns NS      time of one kernel on the device\n"
    "  --profile FILE      instead: lines \"COUNT NS\", in launch order; # begins a comment\n"
    "  --launch-ns NS      host work before each launch (0)\n"
    "  --host-ms MS        host work at the beginning of each job (0)\n"
    "  --graph             launch the job as one captured graph\n"
    "  --graph-kernels N   launch every N kernels as one captured graph\n"
    "how many, and when:\n"
    "  --dur-s S           begin jobs for S seconds (0)\n"
    "  --min-jobs N        and at least N jobs (10)\n"
    "  --jobs N            instead: exactly N jobs\n"
    "  --sleep-ms MS       pause after each job (0)\n"
    "  --period-ms MS      begin each job MS after the last one began, or at once if late\n"
    "  --wait HOW          how the end of a job is awaited: sync (the stream), event,\n"
    "                      poll-stream, poll-event, copy (to the host), callback (sync)\n"
    "  --barrier           print \"model loaded\", then wait for a line \"run\" on stdin\n"
    "where and how:\n"
    "  --csv FILE          rows go here, row 1 the warm-up (none)\n"
    "  --device N          CUDA ordinal (0)\n"
    "  --mem-bytes N       device memory held while running (0)\n"
    "  --reserved-bytes N  the figure for the last CSV column (mem-bytes)\n"
    "  --slo-ms MS         deadline of a job, passed to the hook (0: none)\n"
    "  --no-marks          do not call deft_job_begin and deft_job_end\n"
    "\n"
    "The last line on stdout is \"jobs J launches L\", the warm-up included in L.\n"
    "Exit status: 0 done, 1 the driver or a file failed, 2 wrong usage.\n";

static void stop(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
static void stop(int status, const char *format, ...) {
    va_list a;
    va_start(a, format);
    fputs("deft-workload: ", stderr);
    vfprintf(stderr, format, a);
    fputc('\n', stderr);
    va_end(a);
    exit(status);
}

/* ---- the command line ------------------------------------------------------ */

static struct {
    uint64_t kernels, kernel_ns, launch_ns, host_ns, sleep_ns, period_ns, min_jobs, jobs, duration_ns, slo_ns;
    uint64_t memory_bytes, reserved_bytes, graph, device, barrier, no_marks;
    const char *profile, *csv, *wait;
} want = {.min_jobs = 10, .wait = "sync"};

/* A flag has a number, in a unit, a text, or sets a number without an argument. */
static const struct flag {
    const char *name;
    uint64_t *number;
    double unit;
    const char **text;
    uint64_t set;
} flags[] = {
    {"kernels", &want.kernels, 1, NULL, 0}, {"kernel-ns", &want.kernel_ns, 1, NULL, 0}, {"profile", NULL, 0, &want.profile, 0},
    {"launch-ns", &want.launch_ns, 1, NULL, 0}, {"host-ms", &want.host_ns, 1e6, NULL, 0}, {"graph", &want.graph, 0, NULL, UINT64_MAX},
    {"graph-kernels", &want.graph, 1, NULL, 0}, {"dur-s", &want.duration_ns, 1e9, NULL, 0}, {"min-jobs", &want.min_jobs, 1, NULL, 0},
    {"jobs", &want.jobs, 1, NULL, 0}, {"sleep-ms", &want.sleep_ns, 1e6, NULL, 0}, {"period-ms", &want.period_ns, 1e6, NULL, 0},
    {"barrier", &want.barrier, 0, NULL, 1}, {"csv", NULL, 0, &want.csv, 0}, {"device", &want.device, 1, NULL, 0},
    {"slo-ms", &want.slo_ns, 1e6, NULL, 0}, {"mem-bytes", &want.memory_bytes, 1, NULL, 0}, {"reserved-bytes", &want.reserved_bytes, 1, NULL, 0},
    {"wait", NULL, 0, &want.wait, 0}, {"no-marks", &want.no_marks, 0, NULL, 1},
};
enum { FLAGS = sizeof flags / sizeof *flags };

/* A number at least 0, times unit. */
static uint64_t number(const char *name, double unit) {
    char *end;
    errno = 0;
    double v = strtod(optarg, &end) * unit;
    if (end == optarg || *end || errno || !(v >= 0 && v < 9e18)) stop(2, "--%s %s: want a number of at least 0", name, optarg);
    return (uint64_t)(v + 0.5);
}

static void read_flags(int argc, char **argv) {
    struct option options[FLAGS + 2] = {{0}};
    int which, i;
    for (i = 0; i < FLAGS; i++) options[i] = (struct option){flags[i].name, flags[i].set ? 0 : 1, NULL, 0};
    options[FLAGS] = (struct option){"help", 0, NULL, 'h'};
    while ((which = getopt_long(argc, argv, "h", options, &i)) != -1) {
        if (which == 'h' || which == '?') {
            fputs(usage, which == 'h' ? stdout : stderr);
            exit(which == 'h' ? 0 : 2);
        }
        if (flags[i].text)
            *flags[i].text = optarg;
        else
            *flags[i].number = flags[i].set ? flags[i].set : number(flags[i].name, flags[i].unit);
    }
    if (optind < argc) stop(2, "%s: unexpected argument", argv[optind]);
    if (!want.profile == !(want.kernels && want.kernel_ns)) stop(2, "want --kernels and --kernel-ns above 0, or --profile");
    if (!want.reserved_bytes) want.reserved_bytes = want.memory_bytes;
}

/* ---- the profile ----------------------------------------------------------- */

static struct group {
    uint64_t kernels;
    unsigned blocks;
} *groups;
static size_t group_count;

/* Blocks whose time on the simulated device is ns. */
static unsigned blocks(uint64_t ns) {
    const char *s = getenv("SIMCUDA_NS_PER_BLOCK");
    uint64_t each = s && *s ? strtoull(s, NULL, 10) : 1, n = each ? (ns + each / 2) / each : ns;
    if (n > 0x7fffffff) stop(1, "a kernel of %lu ns is longer than the device can be asked for", (unsigned long)ns);
    return n ? (unsigned)n : 1;
}

static void add_group(uint64_t kernels, uint64_t ns) {
    groups = realloc(groups, (group_count + 1) * sizeof *groups);
    if (!groups) stop(1, "out of memory");
    groups[group_count++] = (struct group){kernels, blocks(ns)};
}

static void read_profile(void) {
    char line[256];
    unsigned long kernels, ns;
    if (!want.profile) {
        add_group(want.kernels, want.kernel_ns);
        return;
    }
    FILE *f = fopen(want.profile, "re");
    if (!f) stop(1, "%s: %s", want.profile, strerror(errno));
    for (int n = 1; fgets(line, sizeof line, f); n++) {
        char rest;
        line[strcspn(line, "#")] = 0;
        int fields = sscanf(line, "%lu %lu %c", &kernels, &ns, &rest);
        if (fields == EOF) continue;
        if (fields != 2 || !kernels || !ns) stop(1, "%s:%d: want kernels and nanoseconds, at least 1 of each", want.profile, n);
        add_group(kernels, ns);
    }
    fclose(f);
    if (!group_count) stop(1, "%s: a job without kernels", want.profile);
}

/* ---- the driver -------------------------------------------------------------- */

/* Functions of the driver: field, name, parameters. */
#define DRIVER(ROW) \
    ROW(init, cuInit, unsigned) \
    ROW(device_get, cuDeviceGet, CUdevice *, int) \
    ROW(retain, cuDevicePrimaryCtxRetain, CUhandle *, CUdevice) \
    ROW(set_current, cuCtxSetCurrent, CUhandle) \
    ROW(load, cuModuleLoadData, CUhandle *, const void *) \
    ROW(get_function, cuModuleGetFunction, CUhandle *, CUhandle, const char *) \
    ROW(stream_create, cuStreamCreate, CUhandle *, unsigned) \
    ROW(stream_sync, cuStreamSynchronize, CUhandle) \
    ROW(stream_query, cuStreamQuery, CUhandle) \
    ROW(event_create, cuEventCreate, CUhandle *, unsigned) \
    ROW(event_record, cuEventRecord, CUhandle, CUhandle) \
    ROW(event_sync, cuEventSynchronize, CUhandle) \
    ROW(event_query, cuEventQuery, CUhandle) \
    ROW(copy_out, cuMemcpyDtoH, void *, CUdeviceptr, size_t) \
    ROW(host_function, cuLaunchHostFunc, CUhandle, CUhostFn, void *) \
    ROW(mem_alloc, cuMemAlloc, CUdeviceptr *, size_t) \
    ROW(launch, cuLaunchKernel, CUhandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUhandle, void **, void **) \
    ROW(begin_capture, cuStreamBeginCapture, CUhandle, int) \
    ROW(end_capture, cuStreamEndCapture, CUhandle, CUhandle *) \
    ROW(instantiate, cuGraphInstantiateWithFlags, CUhandle *, CUhandle, uint64_t) \
    ROW(graph_launch, cuGraphLaunch, CUhandle, CUhandle) \
    ROW(graph_destroy, cuGraphDestroy, CUhandle)

static struct {
#define FIELD(field, name, ...) CUresult (*field)(__VA_ARGS__);
    DRIVER(FIELD)
} cu;

/* Finds a function as the run-time library does from CUDA 12 on. */
static void *look_up(const char *name) {
    static CUresult (*get)(const char *, void **, int, uint64_t, int *);
    void *libcuda = get ? NULL : dlopen("libcuda.so.1", RTLD_NOW), *f = NULL;
    int found;
    if (libcuda) *(void **)&get = dlsym(libcuda, "cuGetProcAddress_v2");
    if (!get) stop(1, "%s", dlerror());
    if (get(name, &f, 12090, CU_GET_PROC_LEGACY_STREAM, &found)) stop(1, "%s: the driver does not have it", name);
    return f;
}

static void check(CUresult r, const char *what) {
    if (r) stop(1, "%s: driver error %d", what, r);
}

static CUhandle function, stream, event;
static CUdeviceptr result;

/* ---- waits for the end of a job ---- */

static void wait_stream(void) { check(cu.stream_sync(stream), "cuStreamSynchronize"); }

static void poll(CUresult (*query)(CUhandle), CUhandle what, const char *name) {
    CUresult r;
    while ((r = query(what)) == CUDA_ERROR_NOT_READY) usleep(50);
    check(r, name);
}

static void poll_stream(void) { poll(cu.stream_query, stream, "cuStreamQuery"); }

static void record_event(void) { check(cu.event_record(event, stream), "cuEventRecord"); }

static void wait_event(void) {
    record_event();
    check(cu.event_sync(event), "cuEventSynchronize");
}

static void poll_event(void) {
    record_event();
    poll(cu.event_query, event, "cuEventQuery");
}

static void wait_copy(void) {
    CUdeviceptr host;
    check(cu.copy_out(&host, result, sizeof host), "cuMemcpyDtoH");
}

static sem_t called;

static void call_back(void *unused) {
    (void)unused;
    sem_post(&called);
}

static void wait_callback(void) {
    check(cu.host_function(stream, call_back, NULL), "cuLaunchHostFunc");
    sem_wait(&called);
}

static const struct {
    const char *name;
    void (*wait)(void);
} waits[] = {{"sync", wait_stream}, {"event", wait_event}, {"poll-stream", poll_stream}, {"poll-event", poll_event}, {"copy", wait_copy}, {"callback", wait_callback}};

static void (*wait_for_job)(void);

static void choose_wait(void) {
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (!strcmp(want.wait, waits[i].name)) wait_for_job = waits[i].wait;
    if (!wait_for_job) stop(2, "--wait %s: want sync, event, poll-stream, poll-event, copy or callback", want.wait);
}

static void open_driver(void) {
    CUhandle context, module;
    CUdevice device;
#define LOOK_UP(field, name, ...) *(void **)&cu.field = look_up(#name);
    DRIVER(LOOK_UP)
    check(cu.init(0), "cuInit");
    check(cu.device_get(&device, (int)want.device), "cuDeviceGet");
    check(cu.retain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cu.set_current(context), "cuCtxSetCurrent");
    check(cu.load(&module, ""), "cuModuleLoadData");
    check(cu.get_function(&function, module, "kernel"), "cuModuleGetFunction");
    if (want.graph || wait_for_job != wait_copy) check(cu.stream_create(&stream, 1), "cuStreamCreate");
    check(cu.event_create(&event, 2), "cuEventCreate");
    if (wait_for_job == wait_copy) check(cu.mem_alloc(&result, sizeof result), "cuMemAlloc");
    CUdeviceptr at;
    if (want.memory_bytes) check(cu.mem_alloc(&at, want.memory_bytes), "cuMemAlloc");
}

/* ---- jobs ------------------------------------------------------------------- */

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t at) {
    struct timespec t = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

/* Host work: keeps the processor, as a framework does between launches. */
static void work(uint64_t ns) {
    for (uint64_t until = ns ? now_ns() + ns : 0; ns && now_ns() < until;) {
    }
}

static uint64_t launches;

static CUhandle *graphs; /* of a job, in launch order */
static size_t graphs_of_job;

static void begin_graph(void) { check(cu.begin_capture(stream, 1), "cuStreamBeginCapture"); }

static void end_graph(void) {
    CUhandle captured;
    graphs = realloc(graphs, (graphs_of_job + 1) * sizeof *graphs);
    if (!graphs) stop(1, "out of memory");
    check(cu.end_capture(stream, &captured), "cuStreamEndCapture");
    check(cu.instantiate(&graphs[graphs_of_job++], captured, 0), "cuGraphInstantiateWithFlags");
    check(cu.graph_destroy(captured), "cuGraphDestroy");
}

static void launch_kernel(unsigned blocks) {
    work(want.launch_ns);
    check(cu.launch(function, blocks, 1, 1, 256, 1, 1, 0, stream, NULL, NULL), "cuLaunchKernel");
}

/* Captures the job's kernels, want.graph at a time. */
static void capture(void) {
    uint64_t done = 0;
    for (size_t g = 0; g < group_count; g++)
        for (uint64_t k = 0; k < groups[g].kernels; k++) {
            if (done % want.graph == 0) {
                if (done) end_graph();
                begin_graph();
            }
            launch_kernel(groups[g].blocks);
            done++;
        }
    end_graph();
}

static void launch_graphs(void) {
    for (size_t g = 0; g < graphs_of_job; g++) {
        work(want.launch_ns);
        check(cu.graph_launch(graphs[g], stream), "cuGraphLaunch");
    }
    launches += graphs_of_job;
}

static void launch_kernels(void) {
    for (size_t g = 0; g < group_count; g++) {
        for (uint64_t k = 0; k < groups[g].kernels; k++) launch_kernel(groups[g].blocks);
        launches += groups[g].kernels;
    }
}

/* The hook's marks of a job's begin and end, where the hook is loaded. */
static int (*job_begin)(uint64_t slo_ns);
static int (*job_end)(void);

static FILE *csv;

static uint64_t run_job(void) {
    uint64_t begin = now_ns();
    if (job_begin) job_begin(want.slo_ns);
    work(want.host_ns);
    if (want.graph)
        launch_graphs();
    else
        launch_kernels();
    wait_for_job();
    if (job_end) job_end();
    uint64_t end = now_ns();
    if (csv && fprintf(csv, "%lu,%lu,%.6f,%lu,%lu\n", begin, end, (double)(end - begin) / 1e6, want.memory_bytes, want.reserved_bytes) < 0)
        stop(1, "%s: %s", want.csv, strerror(errno));
    return begin;
}

static void wait_for_start(void) {
    char line[64];
    puts("model loaded");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) stop(1, "standard input ended before \"run\"");
    if (strcmp(line, "run\n")) stop(1, "got %s, want run", line);
}

int main(int argc, char **argv) {
    read_flags(argc, argv);
    read_profile();
    choose_wait();
    open_driver();
    if (!want.no_marks) {
        *(void **)&job_begin = dlsym(RTLD_DEFAULT, "deft_job_begin");
        *(void **)&job_end = dlsym(RTLD_DEFAULT, "deft_job_end");
    }
    if (want.csv && !(csv = fopen(want.csv, "we"))) stop(1, "%s: %s", want.csv, strerror(errno));
    if (csv) fputs("start_timestamp_ns,end_timestamp_ns,jct_ms,max_allocated_gpu_memory_allocated_byte,max_reserved_gpu_memory_byte\n", csv);
    if (want.graph) capture();
    run_job();
    if (csv) fflush(csv);
    if (want.barrier) wait_for_start();

    uint64_t jobs = 0, until = now_ns() + want.duration_ns;
    for (;; jobs++) {
        if (want.jobs ? jobs >= want.jobs : jobs >= want.min_jobs && now_ns() >= until) break;
        uint64_t begin = run_job();
        if (csv) fflush(csv);
        if (want.period_ns) sleep_until(begin + want.period_ns);
        if (want.sleep_ns) sleep_until(now_ns() + want.sleep_ns);
    }
    if (csv && (ferror(csv) | fclose(csv))) stop(1, "%s: %s", want.csv, strerror(errno));
    printf("jobs %lu launches %lu\n", jobs, launches);
    return 0;
}
