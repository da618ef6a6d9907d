// host: a program of the Chameleon library's shape that drives the callbacks
// of the tool: worker threads that create and run tasks between taskwaits, a
// communication thread that asks for loads and decisions, and, built with
// HOST_MPI, ranks that hand tasks to each other. It prints its own
// counts, to compare with a tool's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef HOST_MPI
#include <mpi.h>
#endif

#include "interface.h"

// A test that includes this file defines what else happens when an iteration's tasks exist and when
// they have run, and which callbacks are not offered.
#ifndef BEGUN
#define BEGUN(iteration)
#define RAN(iteration)
#define REFUSES(event) 0
#endif

enum { MAX_ARGS = 80, EVENTS = 18, LOCAL = 1, REMOTE = 2, START = 1, YIELD = 2, END = 3, LITERAL = 0x100 };

struct host_task {
    data_t data;
    int32_t id;
    int32_t n; // order of the matrices, or microseconds to spin
    int32_t args;
    int64_t sizes[MAX_ARGS];
    int64_t types[MAX_ARGS];
    void *pointers[MAX_ARGS];
    int remote, nested;
    void (*body)(int32_t);
    host_task *next;
};

static struct {
    long threads, tasks, iterations, args, buffers, literal_every, nest, seed, mode, train;
    const char *shape, *work, *list, *skew, *dialect;
    int sizes[64], size_count;
} option = {.threads = 2, .args = 3, .buffers = 3, .tasks = 200, .iterations = 5, .shape = "work", .work = "matrix", .list = "24,32,48,64,80", .skew = "0", .dialect = "upstream", .seed = 1, .mode = 3, .train = 3};

static struct {
    function_t callback[EVENTS];
    start_result_t *tool;
    rank_info_t rank;
    int on, patched;
    _Atomic long created, started, ended, remote, moved, loads, waits, predicted, trained, told;
    double least, most; // of what was predicted
    double greatest;    // load of an iteration that the tool was told, in seconds
    _Atomic uint64_t own_cpu; // ns of CPU time of the host's own threads, the tool's start and end left out
} host = {.rank = {0, 1}};

#define CALL(type, event) ((type)host.callback[event])

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t cpu_now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void count_own_cpu(void) { atomic_fetch_add(&host.own_cpu, cpu_now(CLOCK_THREAD_CPUTIME_ID)); }

static _Noreturn void die(const char *what, const char *why) {
    fprintf(stderr, "host: %s: %s\n", what, why);
    exit(1);
}

// ---- the work -------------------------------------------------------------

static __thread volatile double sink;
static __thread double *matrices;
static __thread int32_t matrices_n;

// Visible: the tool names them.
__attribute__((visibility("default"), noinline)) void host_multiply(int32_t n) {
    double *a = matrices;
    if (matrices_n < n) {
        free(a);
        matrices = a = calloc((size_t)n * (size_t)n * 3, sizeof *a);
        matrices_n = n;
        if (!a) die("matrix", "out of memory");
        for (long i = 0; i < 2L * n * n; i++) a[i] = (double)(i % 7);
    }
    double *b = a + (long)n * n, *c = b + (long)n * n;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++) {
            double x = a[(long)i * n + k];
            for (int32_t j = 0; j < n; j++) c[(long)i * n + j] += x * b[(long)k * n + j];
        }
    sink = c[0];
}

__attribute__((visibility("default"), noinline)) void host_spin(int32_t microseconds) {
    double until = now() + 1e-6 * microseconds;
    while (now() < until) {}
}

__attribute__((visibility("default"), noinline)) void host_nothing(int32_t n) { sink = n; }

// ---- the queue ------------------------------------------------------------

static struct {
    pthread_mutex_t lock;
    host_task *first, **last;
    host_task **by_id;
    long by_id_room;
    int32_t next_id;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &queue.first};

static void enqueue(host_task *t) {
    pthread_mutex_lock(&queue.lock);
    t->next = NULL;
    *queue.last = t;
    queue.last = &t->next;
    pthread_mutex_unlock(&queue.lock);
}

static host_task *dequeue(void) {
    pthread_mutex_lock(&queue.lock);
    host_task *t = queue.first;
    if (t && !(queue.first = t->next)) queue.last = &queue.first;
    pthread_mutex_unlock(&queue.lock);
    return t;
}

static void register_id(host_task *t) {
    pthread_mutex_lock(&queue.lock);
    t->id = ++queue.next_id;
    if (t->id >= queue.by_id_room) {
        queue.by_id_room = 2 * t->id + 1024;
        queue.by_id = realloc(queue.by_id, sizeof *queue.by_id * (size_t)queue.by_id_room);
        if (!queue.by_id) die("queue", "out of memory");
    }
    queue.by_id[t->id] = t;
    pthread_mutex_unlock(&queue.lock);
    t->id |= host.rank.comm_rank << 16;
}

static host_task *find(int32_t id) {
    host_task *t = NULL;
    pthread_mutex_lock(&queue.lock);
    if (id >> 16 == host.rank.comm_rank && (id & 0xffff) <= queue.next_id) t = queue.by_id[id & 0xffff];
    pthread_mutex_unlock(&queue.lock);
    return t;
}

// queued copies the ids of the tasks that wait, local or remote ones.
static int32_t is_queued(int32_t *ids, int32_t room, int remote) {
    int32_t n = 0;
    pthread_mutex_lock(&queue.lock);
    for (host_task *t = queue.first; t && n < room; t = t->next)
        if (t->remote == remote) ids[n++] = t->id;
    pthread_mutex_unlock(&queue.lock);
    return n;
}

// ---- what the tool may look up --------------------------------------------

static __thread data_t thread_data;

static int set_callback(int event, function_t f) {
    int last = host.patched ? 17 : 13;
    if (event < 1 || event > last || REFUSES(event)) return 0;
    host.callback[event] = f;
    return 5;
}

static rank_info_t *get_rank_info(void) { return &host.rank; }

static param_info_t param_info(host_task *t) {
    param_info_t p = {-1, NULL, NULL, NULL};
    if (t) p = (param_info_t){t->args, t->sizes, t->types, t->pointers};
    return p;
}

static meta_info_t meta_info(host_task *t) {
    meta_info_t m = {0, 0, 0};
    if (t) m.entry_ptr = (intptr_t)t->body;
    return m;
}

static data_t *task_data(int32_t id) {
    host_task *t = find(id);
    return t ? &t->data : NULL;
}

static function_t lookup(const char *name) {
    static const struct { const char *name; function_t f; int upstream; } known[] = {
        {"cham_t_set_callback", (function_t)set_callback, 0},
        {"cham_t_get_rank_info", (function_t)get_rank_info, 0},
        {"cham_t_get_task_param_info", (function_t)param_info, 0},
        {"cham_t_get_task_data", (function_t)task_data, 0},
        {"cham_t_get_task_meta_info", (function_t)meta_info, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name) && !(known[i].upstream && host.patched)) return known[i].f;
    return NULL;
}

// ---- finding the tool -----------------------------------------------------

static int try_tool(const char *path) {
    void *library = dlopen(path, RTLD_LAZY);
    if (!library) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 0;
    }
    start_result_t *(*entry)(unsigned) = (start_result_t * (*)(unsigned)) dlsym(library, "cham_t_start_tool");
    if (entry && (host.tool = entry(10))) return 1;
    dlclose(library);
    return 0;
}

static void find_tool(void) {
    uint64_t before = cpu_now(CLOCK_THREAD_CPUTIME_ID);
    const char *enabled = getenv("CHAMELEON_TOOL");
    if (enabled && (!strcmp(enabled, "0") || !strcmp(enabled, "disabled"))) return;
    const char *list = getenv("CHAMELEON_TOOL_LIBRARIES"), *older = getenv("CHAM_TOOL_DIR");
    if (list && *list) {
        char *paths = strdup(list), *rest = paths, *path;
        while (!host.tool && (path = strsep(&rest, ":"))) if (*path) try_tool(path);
        free(paths);
    } else if (older && *older) {
        try_tool(older);
    }
    if (host.tool && host.tool->initialize) host.on = host.tool->initialize(lookup, &host.tool->data);
    atomic_fetch_sub(&host.own_cpu, cpu_now(CLOCK_THREAD_CPUTIME_ID) - before);
}

// ---- events ---------------------------------------------------------------

static void create(host_task *t, int iteration) {
    atomic_fetch_add_explicit(&host.created, 1, memory_order_relaxed);
    if (!host.on || !host.callback[3]) return;
#ifdef HOST_PATCHED
    if (host.patched) {
        patched_create(host.callback[3], t, t->sizes, t->args, 0, (intptr_t)t->body, iteration);
        return;
    }
#endif
    (void)iteration;
    CALL(create_fn, 3)(t, &t->data, __builtin_return_address(0));
}

static void run(host_task *t, host_task *prior, int iteration, int thread) {
    int flag = t->remote ? REMOTE : LOCAL, prior_flag = prior && prior->remote ? REMOTE : LOCAL;
    data_t *prior_data = prior ? &prior->data : NULL;
    atomic_fetch_add_explicit(&host.started, 1, memory_order_relaxed);
    if (t->remote) atomic_fetch_add_explicit(&host.remote, 1, memory_order_relaxed);
    if (host.on && host.callback[6]) CALL(schedule_fn, 6)(t, flag, &t->data, prior ? YIELD : START, prior, prior_flag, prior_data);
    double began = host.patched ? now() : 0;
    t->body(t->n);
    if (t->nested && !prior) { // a task inside a task, as a taskwait in a task would run one
        host_task inner = *t;
        inner.nested = 0;
        inner.remote = 0;
        inner.data.value = 0;
        create(&inner, iteration);
        run(&inner, t, iteration, thread);
    }
    double took = host.patched ? now() - began : 0;
    if (host.on && host.callback[6]) CALL(schedule_fn, 6)(t, flag, &t->data, END, prior, prior_flag, prior_data);
    atomic_fetch_add_explicit(&host.ended, 1, memory_order_relaxed);
    if (host.on && host.patched && option.mode == 3 && !t->remote && host.callback[14]) CALL(task_time_fn, 14)(iteration, thread, t->id, took);
}

static void fill(host_task *t, unsigned random) {
    memset(t, 0, sizeof *t);
    t->n = option.sizes[random % (unsigned)option.size_count];
    t->args = option.args;
    for (int i = 0; i < t->args; i++) {
        int literal = i >= option.buffers || (option.literal_every && i % option.literal_every == 0);
        t->sizes[i] = literal ? 8 : (int64_t)t->n * t->n * 8 + (i < 3 ? 0 : i);
        t->types[i] = literal ? LITERAL : 1 + i;
    }
    t->body = !strcmp(option.work, "matrix") ? host_multiply : !strcmp(option.work, "spin") ? host_spin : host_nothing;
    t->nested = option.nest > 0 && random / (unsigned)option.size_count % (unsigned)option.nest == 0;
}

// ---- decisions ------------------------------------------------------------

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER; // no task is freed while the tool looks at it

static int32_t own_load(void) {
    enum { ROOM = 1 << 16 };
    int32_t *ids = malloc(2 * ROOM * sizeof *ids), *stolen = ids + ROOM;
    if (!ids) die("load", "out of memory");
    int32_t local_n = is_queued(ids, ROOM, 0), stolen_n = is_queued(stolen, ROOM, 1), load = local_n + stolen_n;
    if (host.on && host.callback[8]) {
        pthread_mutex_lock(&asking);
        load = CALL(load_fn, 8)(ids, local_n, NULL, 0, stolen, stolen_n, NULL, 0);
        pthread_mutex_unlock(&asking);
        atomic_fetch_add(&host.loads, 1);
    }
    free(ids);
    return load;
}

// decide asks the tool which tasks to move, given every rank's load. It returns
// the number of moves.
static int32_t decide(const int32_t *load, tuple_t *moves, int32_t room) {
    int32_t *ids = malloc(sizeof *ids * (size_t)room), n = is_queued(ids, room, 0), made = 0;
    if (!ids) die("decide", "out of memory");
    if (host.on && host.callback[10]) {
        tuple_t *t = CALL(select_fn, 10)(load, ids, n, 0, &made);
        if (made > room) die("callback 10", "more moves than tasks");
        const char *limit = getenv("MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE");
        int most = limit ? atoi(limit) : 1;
        for (int r = 0; r < host.rank.comm_size; r++) {
            int for_rank = 0;
            for (int32_t i = 0; i < made; i++) for_rank += t[i].rank_id == r;
            if (for_rank > most) die("callback 10", "more tasks for a rank than the library sends at once: it loses the others");
        }
        if (t) memcpy(moves, t, sizeof *t * (size_t)made);
        free(t);
    }
    free(ids);
    return made;
}

#ifdef HOST_MPI
// take_out removes a waiting local task.
static host_task *take_out(int32_t id) {
    host_task *found = NULL;
    pthread_mutex_lock(&queue.lock);
    for (host_task **at = &queue.first; *at; at = &(*at)->next)
        if ((*at)->id == id && !(*at)->remote) {
            found = *at;
            *at = found->next;
            if (!*at) queue.last = at;
            break;
        }
    pthread_mutex_unlock(&queue.lock);
    return found;
}

// wire is a task on its way to another rank.
typedef struct { int32_t id, n, nested, tool_bytes; char tool[256]; } wire;

static wire pack(host_task *t) {
    wire w = {t->id, t->n, t->nested, 0, {0}};
    if (host.on && host.callback[4] && host.callback[5]) {
        void *buffer = CALL(encode_fn, 4)(t, &t->data, &w.tool_bytes);
        if (w.tool_bytes < 0 || w.tool_bytes > (int32_t)sizeof w.tool) die("callback 4", "absurd size");
        if (buffer) memcpy(w.tool, buffer, (size_t)w.tool_bytes);
        free(buffer);
    }
    return w;
}

static void unpack(wire *w) {
    host_task *t = malloc(sizeof *t);
    if (!t) die("unpack", "out of memory");
    fill(t, 0);
    t->id = w->id;
    t->n = w->n;
    t->nested = w->nested;
    t->remote = 1;
    for (int i = 0; i < t->args && i < 3; i++) t->sizes[i] = (int64_t)t->n * t->n * 8;
    if (w->tool_bytes > 0 && host.on && host.callback[4] && host.callback[5]) CALL(decode_fn, 5)(t, &t->data, w->tool, w->tool_bytes);
    enqueue(t);
}

// exchange moves tasks between the ranks before they are run.
static void exchange(void) {
    int size = host.rank.comm_size, room = 1 << 16, total = 0;
    int32_t mine = own_load(), *load = malloc(sizeof *load * (size_t)size);
    MPI_Allgather(&mine, 1, MPI_INT32_T, load, 1, MPI_INT32_T, MPI_COMM_WORLD);
    tuple_t *moves = malloc(sizeof *moves * (size_t)room);
    int *counts = calloc(4 * (size_t)size, sizeof *counts), *from = counts + size, *got = from + size, *got_from = got + size;
    int32_t n = decide(load, moves, room);
    wire *out = malloc(sizeof *out * (size_t)(n + 1));
    int used = 0;
    for (int r = 0; r < size; r++) {
        from[r] = used * (int)sizeof *out;
        for (int32_t i = 0; i < n; i++) {
            if (moves[i].rank_id != r) continue;
            host_task *t = r == host.rank.comm_rank ? NULL : take_out(moves[i].task_id);
            if (!t) die("move", "to its own rank, or of a task that is not there");
            out[used++] = pack(t);
            atomic_fetch_add(&host.moved, 1);
        }
        counts[r] = used * (int)sizeof *out - from[r];
    }
    MPI_Alltoall(counts, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        got_from[r] = total;
        total += got[r];
    }
    wire *in = malloc((size_t)total + 1);
    MPI_Alltoallv(out, counts, from, MPI_BYTE, in, got, got_from, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < total / (int)sizeof *in; i++) unpack(in + i);
    free(in), free(out), free(counts), free(moves), free(load);
}
#else
static void exchange(void) {
    tuple_t moves[1 << 10];
    int32_t load = own_load();
    if (decide(&load, moves, 1 << 10) != 0) die("decision", "a lone rank moves tasks");
}
#endif

// ---- threads --------------------------------------------------------------

static pthread_barrier_t barrier;
static _Atomic int comm_quit;
static _Atomic double iteration_load, load_before;

static void *comm(void *unused) {
    (void)unused;
    while (!comm_quit) {
        own_load();
        usleep(500);
    }
    count_own_cpu();
    return NULL;
}

static void add_load(double x) {
    double old = iteration_load;
    while (!atomic_compare_exchange_weak(&iteration_load, &old, old + x)) {}
}

// patched_decisions asks what the patched library asks at the start of an
// iteration.
static void patched_decisions(int iteration) {
#ifdef HOST_PATCHED
    if (!host.on || !host.patched) return;
    if (iteration == 0 && host.callback[17]) CALL(tasks_per_rank_fn, 17)(0);
    if (iteration == option.train && host.callback[15]) {
        CALL(train_fn, 15)(iteration, option.mode);
        atomic_fetch_add(&host.trained, 1);
    }
    if (iteration > option.train && host.callback[16]) {
        static double values[1 << 16];
        int32_t n = patched_predict(host.callback[16], iteration, option.mode, values, 1 << 16);
        for (int32_t i = 0; i < n; i++)
            if (!(values[i] >= 0 && values[i] < 1e9)) die("callback 16", "a prediction that is negative or not a number");
        for (int32_t i = 0; i < n; i++) {
            if (!host.predicted++ || values[i] < host.least) host.least = values[i];
            if (values[i] > host.most) host.most = values[i];
        }
    }
#else
    (void)iteration;
#endif
}

static void tasks_of(int thread, int iteration, unsigned *seed) {
    long total = option.tasks;
    if (host.rank.comm_rank == 0) total = (long)((double)total * (1 + atof(option.skew)));
    long mine = total / option.threads + (thread < total % option.threads);
    for (long i = 0; i < mine; i++) {
        host_task *t = malloc(sizeof *t);
        if (!t) die("task", "out of memory");
        fill(t, (unsigned)rand_r(seed));
        register_id(t);
        create(t, iteration);
        enqueue(t);
    }
}

static void work(int thread) {
    unsigned seed = (unsigned)(option.seed * 1000003 + thread + 7919 * host.rank.comm_rank);
    for (int it = 0; it < option.iterations; it++) {
        tasks_of(thread, it, &seed);
        pthread_barrier_wait(&barrier);
        if (thread == 0) {
            patched_decisions(it);
            exchange();
            BEGUN(it);
        }
        pthread_barrier_wait(&barrier);
        if (host.on && host.callback[7]) CALL(sync_fn, 7)(1, 1, &thread_data, NULL);
        double before = now();
        for (host_task *t; (t = dequeue());) run(t, NULL, it, thread);
        add_load(now() - before);
        if (thread == 0) RAN(it);
        pthread_barrier_wait(&barrier);
        if (thread == 0) {
#ifdef HOST_MPI
            MPI_Barrier(MPI_COMM_WORLD);
#endif
            pthread_mutex_lock(&asking);
            pthread_mutex_lock(&queue.lock);
            for (int32_t i = 1; i <= queue.next_id; i++) {
                free(queue.by_id[i]);
                queue.by_id[i] = NULL;
            }
            queue.next_id = 0; // ids begin again, as the library's do
            pthread_mutex_unlock(&queue.lock);
            pthread_mutex_unlock(&asking);
        }
        // In the library the last thread to leave tells the load: now this one, now that.
        if (thread == it % option.threads && host.on && host.patched && host.callback[13]) {
            CALL(iteration_load_fn, 13)(it, thread, iteration_load);
            host.told++;
            if (iteration_load - load_before > host.greatest) host.greatest = iteration_load - load_before;
            load_before = iteration_load; // they add up, as the library's do unless it is built otherwise
        }
        pthread_barrier_wait(&barrier);
        if (host.on && host.callback[7]) CALL(sync_fn, 7)(1, 2, &thread_data, NULL);
        if (thread == 0) host.waits++;
    }
}

// flood drives create, start and end as fast as a thread can.
static void flood(int thread) {
    host_task t;
    fill(&t, (unsigned)thread);
    t.body = host_nothing;
    for (long i = 0; i < option.tasks; i++) {
        t.data.value = 0;
        create(&t, 0);
        run(&t, NULL, 0, thread);
    }
}

static void *worker(void *number) {
    int thread = (int)(intptr_t)number;
    if (host.on && host.callback[1]) CALL(thread_fn, 1)(&thread_data);
    pthread_barrier_wait(&barrier);
    if (!strcmp(option.shape, "flood")) flood(thread);
    else work(thread);
    pthread_barrier_wait(&barrier);
    if (host.on && host.callback[2]) CALL(thread_fn, 2)(&thread_data);
    free(matrices);
    count_own_cpu();
    return NULL;
}

// ---- main -----------------------------------------------------------------

static void parse_sizes(void) {
    char *list = strdup(option.list), *rest = list;
    for (char *word; (word = strsep(&rest, ","));) {
        int n = atoi(word);
        if (n < 1 || n > 4096 || option.size_count == 64) die("--sizes", "want at most 64 numbers from 1 to 4096");
        option.sizes[option.size_count++] = n;
    }
    free(list);
}

// options are the whole numbers and the texts of the command line.
static const struct { const char *name; long *number, least, most; const char **text; } options[] = {
    {"threads", &option.threads, 1, 1024, NULL},
    {"tasks", &option.tasks, 0, 1000000000, NULL},
    {"iterations", &option.iterations, 0, 1000000000, NULL},
    {"shape", NULL, 0, 0, &option.shape},
    {"work", NULL, 0, 0, &option.work},
    {"sizes", NULL, 0, 0, &option.list},
    {"args", &option.args, 0, MAX_ARGS, NULL},
    {"buffers", &option.buffers, 0, MAX_ARGS, NULL},
    {"literal-every", &option.literal_every, 0, MAX_ARGS, NULL},
    {"nest", &option.nest, 0, 1000000, NULL},
    {"skew", NULL, 0, 0, &option.skew},
    {"seed", &option.seed, 0, INT32_MAX, NULL},
    {"dialect", NULL, 0, 0, &option.dialect},
    {"mode", &option.mode, 0, 3, NULL},
    {"train", &option.train, 0, 1000000000, NULL},
};

// set_number sets an option to a whole number in its range.
static void set_number(int i, const char *text) {
    char *end, why[100], name[40];
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < options[i].least || n > options[i].most) {
        snprintf(name, sizeof name, "--%s", options[i].name);
        snprintf(why, sizeof why, "%.20s: want a whole number from %ld to %ld", text, options[i].least, options[i].most);
        die(name, why);
    }
    *options[i].number = n;
}

static void parse(int argc, char **argv) {
    enum { COUNT = sizeof options / sizeof *options };
    struct option known[COUNT + 1] = {0};
    for (int i = 0; i < COUNT; i++) known[i] = (struct option){options[i].name, required_argument, NULL, i};
    for (int i; (i = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (i < 0 || i >= COUNT) exit(2);
        if (options[i].text) *options[i].text = optarg;
        else set_number(i, optarg);
    }
    parse_sizes();
    host.patched = !strcmp(option.dialect, "patched");
    if (!host.patched && strcmp(option.dialect, "upstream")) die("--dialect", "want upstream or patched");
#ifndef HOST_PATCHED
    if (host.patched) die("--dialect patched", "this host was built without a C++ compiler");
#endif
}

int main(int argc, char **argv) {
#ifdef HOST_MPI
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &host.rank.comm_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &host.rank.comm_size);
#endif
    parse(argc, argv);
    find_tool();
    double began = now();
    pthread_t *id = malloc(sizeof *id * (size_t)option.threads), comm_id;
    int with_comm = strcmp(option.shape, "flood") && host.on && host.callback[8];
    pthread_barrier_init(&barrier, NULL, (unsigned)option.threads);
    if (with_comm) pthread_create(&comm_id, NULL, comm, NULL);
    for (int i = 0; i < option.threads; i++)
        if (pthread_create(&id[i], NULL, worker, (void *)(intptr_t)i)) die("thread", "cannot be started");
    for (int i = 0; i < option.threads; i++) pthread_join(id[i], NULL);
    comm_quit = 1;
    if (with_comm) pthread_join(comm_id, NULL);
    double took = now() - began;
    free(id);
    count_own_cpu();
    if (host.on && host.tool->finalize) host.tool->finalize(&host.tool->data);
    double own = 1e-9 * (double)host.own_cpu, all = 1e-9 * (double)cpu_now(CLOCK_PROCESS_CPUTIME_ID);
    printf("{\"rank\":%d,\"ranks\":%d,\"tool\":%s,\"created\":%ld,\"started\":%ld,\"ended\":%ld,\"remote\":%ld,\"moved\":%ld,"
           "\"loads\":%ld,\"trained\":%ld,\"predicted\":%ld,\"least_predicted\":%.9g,\"most_predicted\":%.9g,\"most_told\":%.9g,\"waits\":%ld,\"told\":%ld,\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"tool_cpu_seconds\":%.6f}\n",
           host.rank.comm_rank, host.rank.comm_size, host.on ? "true" : "false", host.created, host.started, host.ended, host.remote,
           host.moved, host.loads, host.trained, host.predicted, host.least, host.most, host.greatest, host.waits, host.told, took,
           all, host.on ? all - own : 0);
    fflush(stdout);
#ifdef HOST_MPI
    MPI_Finalize();
#endif
    return 0;
}
