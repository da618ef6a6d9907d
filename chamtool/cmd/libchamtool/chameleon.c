// The front end for the Chameleon library, in both of its dialects.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "tools_interface.h"

static struct {
    int32_t patched;
    struct task_params (*params)(void *task);
    struct task_meta (*meta)(void *task);
    tool_data *(*data)(int32_t task);
} library;

static inline int literal(const struct task_params *p, int32_t i) { return p->types && p->types[i] & ARG_LITERAL; }

// size_at returns the place of a size of the event at head.
static inline uint64_t *size_at(struct ring *r, uint64_t head, uint64_t n) { return &r->slots[(head + 1 + n / SLOT_WORDS) & r->mask][n % SLOT_WORDS]; }

// push_task writes an event with the sizes of the arguments that are not literals. Those beyond
// MAX_SIZES are summed into the last.
static void push_task(int kind, int flag, int32_t number, uint64_t at, uint64_t token, uint64_t entry, struct task_params p) {
    struct ring *r = my_ring();
    uint64_t head, n = 0, most = p.n > MAX_SIZES ? MAX_SIZES : p.n > 0 ? (uint64_t)p.n : 0;
    if (!r || (head = room(r, 1 + (most + SLOT_WORDS - 1) / SLOT_WORDS)) == UINT64_MAX) return;
    for (int32_t i = 0; i < p.n; i++) {
        if (literal(&p, i)) continue;
        if (n < MAX_SIZES) *size_at(r, head, n++) = (uint64_t)p.sizes[i];
        else *size_at(r, head, MAX_SIZES - 1) += (uint64_t)p.sizes[i];
    }
    uint64_t *slot = r->slots[head & r->mask], further = (n + SLOT_WORDS - 1) / SLOT_WORDS;
    slot[0] = header(kind, flag, n, further, number);
    slot[1] = at;
    slot[2] = token;
    slot[3] = entry;
    publish(r, head, 1 + further);
}

// ---- callbacks of both dialects -------------------------------------------

static void on_thread_init(tool_data *thread) {
    (void)thread;
    if (on()) push(EVENT_THREAD_START, 0, 0, ticks(), 0, 0);
}

static void describe(int kind, int flag, uint64_t at, void *task, uint64_t token) {
    struct task_params p = {0};
    uint64_t entry = 0;
    if (library.params) p = library.params(task);
    if (library.meta) entry = (uint64_t)library.meta(task).entry;
    if (kind == EVENT_CLAIM) entry = (uint64_t)(uintptr_t)task;
    push_task(kind, flag, 0, at, token, entry, p);
}

// The communication thread reads the tokens of queued tasks while workers set them.
static inline uint64_t get_token(const tool_data *data) { return __atomic_load_n(&data->value, __ATOMIC_RELAXED); }
static inline uint64_t set_token(tool_data *data, uint64_t token) {
    __atomic_store_n(&data->value, token, __ATOMIC_RELAXED);
    return token;
}

// on_task_create leaves an eighth of a ring to the runs of tasks. One whose creation has no room is
// described where it starts, as those from other ranks are.
static void on_task_create(void *task, tool_data *data, const void *caller) {
    (void)caller;
    struct ring *r;
    if (!creates() || !data || !(r = my_ring())) return;
    if (__builtin_expect(!has_room(r, r->quarter / 2), 0)) {
        set_token(data, 0);
        add(&r->dropped, 1);
        return;
    }
    describe(EVENT_CREATE, TASK_LOCAL, ticks(), task, set_token(data, name()));
}

// start notes a task's beginning. A task that was created here has a name already;
// one that came from another rank, or from the patched library, which names none,
// gets one now and is described.
static inline void start(struct ring *r, void *task, int flag, tool_data *data) {
    uint64_t at = ticks(), token = get_token(data);
    if (library.patched || flag != TASK_LOCAL || !token) {
        token = set_token(data, name());
        describe(library.patched && flag == TASK_LOCAL ? EVENT_CLAIM : EVENT_ARRIVE, flag, at, task, token);
    } else {
        add(&r->started, 1);
    }
    begin_run(r, token, at);
}

static void on_task_schedule(void *task, int flag, tool_data *data, int what, void *prior, int prior_flag, tool_data *prior_data) {
    (void)prior, (void)prior_flag, (void)prior_data;
    struct ring *r;
    if (!on() || !data || !(r = my_ring())) return;
    switch (what) {
    case SCHEDULE_START:
    case SCHEDULE_YIELD: start(r, task, flag, data); break;
    case SCHEDULE_END:
    case SCHEDULE_CANCEL: end_run(r, EVENT_RUN, flag, get_token(data), ticks()); break;
    }
}

static void on_sync_region(int type, int status, tool_data *thread, const void *caller) {
    (void)type, (void)thread, (void)caller;
    struct ring *r = on() ? my_ring() : NULL;
    if (r) push_wait(r, status == SYNC_START ? EVENT_WAIT_START : EVENT_WAIT_END, 0, 0, ticks());
}

// ---- decisions for the communication thread ---------------------

// task_words appends what the tool keeps with each task: the token of one of
// our own, the predicted seconds of one that came. 0 where the library does not
// know the task any more.
static uint64_t *task_words(uint64_t *words, const int32_t *tasks, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        tool_data *data = library.data ? library.data(tasks[i]) : NULL;
        *words++ = data ? get_token(data) : 0;
    }
    return words;
}

// The library exchanges loads and calls for moves hundreds of times a second. Most
// of the answers are as before: the load of a queue by what its tasks took on
// average a moment ago, and no move from a rank that is not above the mean, or
// that had none to make a moment ago. Only the communication thread is here.
enum { LOAD_VALID_NS = 20000000, NO_MOVE_NS = 5000000 }; // ns

static struct {
    uint64_t loaded, refused; // when Go answered with a load, and with no move
    double each;              // predicted microseconds of a task in the queue then
} last_answers;

static int32_t scale_load(int32_t tasks) {
    double load = last_answers.each * tasks;
    return load < INT32_MAX ? (int32_t)load : INT32_MAX;
}

// gives reports whether this rank may have something to give.
static int gives(const int32_t *load) {
    double sum = 0;
    for (int32_t i = 0; i < tool.process.ranks; i++) sum += load[i];
    if ((double)load[tool.process.rank] * tool.process.ranks <= sum) return 0;
    return nanoseconds(CLOCK_MONOTONIC) - last_answers.refused >= NO_MOVE_NS;
}

static int32_t on_local_load(int32_t *local, int32_t local_n, int32_t *copies, int32_t copies_n,
                             int32_t *stolen, int32_t stolen_n, int32_t *stolen_copies, int32_t stolen_copies_n) {
    (void)copies, (void)copies_n, (void)stolen_copies, (void)stolen_copies_n;
    int32_t load = local_n + stolen_n;
    uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    if (on() && load > 0 && now - last_answers.loaded < LOAD_VALID_NS) return scale_load(load);
    uint64_t *words = on() ? malloc(sizeof *words * (size_t)(load + 1)) : NULL;
    if (!words) return load;
    task_words(task_words(words, local, local_n), stolen, stolen_n);
    struct question q = {ASK_LOAD, .words = words, .local = local_n, .stolen = stolen_n, .n = load};
    call_service(chamtool_go_answer, &q);
    free(words);
    if (load > 0) last_answers.loaded = now, last_answers.each = (double)q.n / load;
    return q.n;
}

static struct migration *on_migration(const int32_t *load, int32_t *tasks, int32_t local, int32_t stolen, int32_t *n) {
    (void)stolen;
    *n = 0;
    if (!on() || local <= 0 || !gives(load)) return NULL;
    struct migration *moves = malloc(sizeof *moves * (size_t)local);
    int32_t *chosen = malloc(2 * sizeof *chosen * (size_t)local);
    uint64_t *words = malloc(sizeof *words * (size_t)local);
    if (moves && chosen && words) {
        task_words(words, tasks, local);
        struct question q = {ASK_MOVES, .loads = load, .words = words, .local = local, .chosen = chosen, .ranks = chosen + local};
        call_service(chamtool_go_answer, &q);
        *n = q.n;
        for (int32_t i = 0; i < *n; i++) moves[i] = (struct migration){tasks[chosen[i]], chosen[local + i]};
    }
    free(words);
    free(chosen);
    if (*n > 0) return moves; // the library frees it
    last_answers.refused = nanoseconds(CLOCK_MONOTONIC);
    free(moves);
    return NULL;
}

// A task that moves is counted. Where the tool balances, it takes its predicted seconds with it:
// the receiver counts them in its load before it has learned anything of such a task.
static void *on_encode(void *task, tool_data *data, int32_t *size) {
    (void)task;
    double *seconds = malloc(sizeof *seconds); // the library frees it
    *size = 0;
    if (!seconds) return NULL;
    struct question q = {ASK_SECONDS, .token = data ? get_token(data) : 0};
    if (on() && data) push(EVENT_GIVE, 0, 0, ticks(), get_token(data), 0);
    if (on() && data && tool.settings.balance) call_service(chamtool_go_answer, &q);
    *seconds = q.seconds;
    *size = sizeof *seconds;
    return seconds;
}

static void on_decode(void *task, tool_data *data, void *buffer, int32_t size) {
    (void)task;
    if (data && size == sizeof data->value) memcpy(&data->value, buffer, sizeof data->value);
}

// ---- the patched library --------------------------------------------------

// vector is a std::vector<double> as libstdc++ and libc++ lay it out. C passes it as C++ does by
// the Itanium ABI: as an argument by the address of a copy that the caller destroys, as a result
// in memory of the caller.
struct vector { double *begin, *end, *room; };

enum { MOST_VALUES = 1 << 16 }; // in one prediction

// allocate_for_host returns memory that the program frees by its operator delete.
static void *allocate_for_host(size_t bytes) {
    void *(*new_operator)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "_Znwm"); // operator new(unsigned long)
    return new_operator ? new_operator(bytes) : malloc(bytes); // as operator new does unless it is replaced
}

// on_patched_create reports the sizes that the library knows of the task, not those of the vector.
static void on_patched_create(void *task, const struct vector *sizes, double queued, intptr_t entry, int iteration) {
    (void)sizes, (void)queued;
    if (!on()) return;
    struct task_params p = {0};
    if (library.params) p = library.params(task);
    push_task(EVENT_ANNOUNCE, TASK_LOCAL, iteration, ticks(), (uint64_t)(uintptr_t)task, (uint64_t)entry, p);
}

static struct vector on_patched_predict(int32_t iteration, int mode) {
    (void)iteration;
    struct vector none = {NULL, NULL, NULL};
    double *values = on() ? allocate_for_host(MOST_VALUES * sizeof *values) : NULL;
    if (!values) return none;
    struct question q = {ASK_PREDICT, .mode = mode, .values = values, .room = MOST_VALUES};
    call_service(chamtool_go_answer, &q);
    return (struct vector){values, values + (q.n > 0 ? q.n : 0), values + MOST_VALUES};
}

static void on_iteration_load(int32_t iteration, int32_t thread, double load) {
    (void)thread;
    uint64_t bits;
    memcpy(&bits, &load, sizeof bits);
    if (on()) push(EVENT_LOAD, 0, iteration, ticks(), 0, bits);
}

static _Bool on_train(int32_t iteration, int mode) {
    (void)iteration;
    struct question q = {ASK_TRAIN, .mode = mode};
    if (on()) call_service(chamtool_go_answer, &q);
    return q.n != 0;
}

static int on_tasks_per_rank(int32_t iteration) {
    (void)iteration;
    struct question q = {ASK_TASKS_PER_RANK};
    if (on()) call_service(chamtool_go_answer, &q);
    return q.n;
}

// ---- start and stop -------------------------------------------------------

static int (*set_callback)(int event, any_function f);

static void register_callback(int event, any_function f) {
    int result = set_callback(event, f);
    if (result == SET_ERROR || result == SET_NEVER || result == SET_IMPOSSIBLE)
        fprintf(stderr, "chamtool: rank %d: callback %d is not offered by the library\n", tool.process.rank, event);
}

static void hear_patched(void) {
    register_callback(CALLBACK_TASK_CREATE, (any_function)on_patched_create);
    register_callback(CALLBACK_PREDICT, (any_function)on_patched_predict);
    register_callback(CALLBACK_ITERATION_LOAD, (any_function)on_iteration_load);
    register_callback(CALLBACK_TRAIN, (any_function)on_train);
    register_callback(CALLBACK_TASKS_PER_RANK, (any_function)on_tasks_per_rank);
}

static void hear_upstream(void) {
    register_callback(CALLBACK_TASK_CREATE, (any_function)on_task_create);
    if (!tool.settings.balance) return;
    register_callback(CALLBACK_LOCAL_LOAD, (any_function)on_local_load);
    register_callback(CALLBACK_MIGRATION, (any_function)on_migration);
}

static int initialize(lookup_function lookup, tool_data *data) {
    (void)data;
    struct rank_info *(*info)(void) = (struct rank_info * (*)(void)) lookup("cham_t_get_rank_info");
    set_callback = (int (*)(int, any_function))lookup("cham_t_set_callback");
    library.params = (struct task_params(*)(void *))lookup("cham_t_get_task_param_info");
    library.data = (tool_data * (*)(int32_t)) lookup("cham_t_get_task_data");
    library.meta = (struct task_meta(*)(void *))lookup("cham_t_get_task_meta_info");
    if (!set_callback) {
        fprintf(stderr, "chamtool: the library offers no cham_t_set_callback: the tool stays off\n");
        return 0;
    }
    struct rank_info *rank = info ? info() : NULL;
    tool.process.rank = rank ? rank->rank : 0;
    tool.process.ranks = rank ? rank->size : 1;
    library.patched = library.meta == NULL;
    tool.process.dialect = library.patched ? DIALECT_PATCHED : DIALECT_UPSTREAM;
    if (!begin_process()) return 0;
    register_callback(CALLBACK_THREAD_INIT, (any_function)on_thread_init);
    register_callback(CALLBACK_TASK_SCHEDULE, (any_function)on_task_schedule);
    register_callback(CALLBACK_SYNC_REGION, (any_function)on_sync_region);
    register_callback(CALLBACK_ENCODE, (any_function)on_encode);
    register_callback(CALLBACK_DECODE, (any_function)on_decode);
    if (library.patched) hear_patched();
    else hear_upstream();
    return 1;
}

static void finalize(tool_data *data) {
    (void)data;
    end_process();
}

static struct start_tool_result result = {initialize, finalize, {0}};

EXPORT struct start_tool_result *cham_t_start_tool(unsigned version) {
    (void)version;
    return start_tool() ? &result : NULL;
}
