// The front end for OpenMP runtimes that speak OMPT.
//
// A task's function is its construct: the return address of its creation. Its
// features are the integers that the runtime keeps of it: what is firstprivate,
// and the bounds of a taskloop. They are there when it starts: one event opens a
// task, and a second one describes it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph.h"
#include "ompt.h"
#include "run.h"

enum { MOST_WORDS = 8 };          // of a task's memory that are read: two integers each
#define MOST_BYTES (1ull << 36)   // between two addresses of one array
enum { LEAST_DOUBLE = 0x3e700000, MOST_DOUBLE = 0x42a00000 }; // high halves: 2^-24 to 2^43
enum { CONTROL_ITERATION = 64 };  // omp_control_tool: an iteration ends here

static struct {
    int (*memory)(void **block, size_t *size, int number);
    uintptr_t from, to;               // the runtime's code
    uint32_t program, mapped, stack; // the high halves of addresses: its own, of what is mapped, of the stack
    uintptr_t fixed, fixed_to;        // what a program without PIE has below 4 GB
    _Atomic uint64_t loops[1 << 5];   // taskloops by number: their places in the program
    _Atomic uint64_t forked;          // where the last team was forked
    _Atomic int marked;               // the program says itself where iterations end
} omp;

// number_in returns the number of a place in a table, to which it adds it; 0 if there are too many.
static uint64_t number_in(_Atomic uint64_t *table, uint64_t size, uint64_t place) {
    for (uint64_t n = 1; n < size; n++) {
        uint64_t there = atomic_load_explicit(&table[n], memory_order_relaxed);
        if (there == place) return n;
        if (there) continue;
        if (atomic_compare_exchange_strong(&table[n], &there, place) || there == place) return n;
    }
    return 0;
}

static __thread struct { uint64_t place, number; } last_construct;

// construct returns the number of the construct at a place, and remembers it.
static inline uint64_t construct(uint64_t place) {
    if (__builtin_expect(place != last_construct.place, 0)) last_construct.number = number_in(tool.constructs, CONSTRUCTS, last_construct.place = place);
    return last_construct.number;
}

// ---- the cost of callbacks ----------------------------------------------------

enum { SAMPLED = 61, LONGEST_CALL = 100000 }; // one callback in so many, of pairs both in turn; in a longer one, in ticks, the thread was stopped

static inline uint64_t start_call(void) { return own_ring && own_ring->called++ % SAMPLED == 0 ? ticks() : 0; }

// end_call counts a callback without what its stamps add to it.
static inline void end_call(const uint64_t *start) {
    if (!*start) return;
    uint64_t at = ticks(), stamp = ticks() - at, spent = at - *start;
    if (spent > stamp && spent < LONGEST_CALL) add(&own_ring->calls, SAMPLED * (spent - stamp));
}

// TIMED measures the rest of a function.
#define TIMED uint64_t call __attribute__((cleanup(end_call), unused)) = start_call()

// ---- taskloops --------------------------------------------------------------

// in_loop are the taskloops that the thread is in, the innermost last: how many tasks
// were under way when it came to it, and its number.
static __thread struct { uint64_t depth; unsigned number; } in_loop[16];
static __thread unsigned loops_deep;

static inline int of_runtime(uint64_t address) { return address >= omp.from && address < omp.to; }

// caller returns the address at which the program called the runtime: the first one on the stack
// that is neither the runtime's nor the tool's.
static uint64_t caller(void) {
    void *stack[24];
    int n = backtrace(stack, 24), i = 1;
    while (i < n && !of_runtime((uint64_t)(uintptr_t)stack[i])) i++;
    while (i < n && of_runtime((uint64_t)(uintptr_t)stack[i])) i++;
    return i < n ? (uint64_t)(uintptr_t)stack[i] : 0;
}

// on_work notes the taskloops that a thread is in, and the kinds of work-sharing in a region.
static void on_work(int work, int endpoint, ompt_data *parallel, ompt_data *task, uint64_t count, const void *address) {
    (void)parallel, (void)task, (void)count;
    TIMED;
    if (!on()) return;
    if (own_ring && own_ring->computing && own_ring->state == own_ring->computing) {
        _Atomic uint64_t *bits = &own_ring->computing->work;
        atomic_store_explicit(bits, atomic_load_explicit(bits, memory_order_relaxed) | 1ull << (work & 63), memory_order_relaxed);
    }
    if (work != OMPT_WORK_TASKLOOP) return;
    if (endpoint == OMPT_END) {
        loops_deep -= loops_deep > 0;
        return;
    }
    uint64_t at = (uint64_t)(uintptr_t)address;
    unsigned number = (unsigned)number_in(omp.loops, sizeof omp.loops / sizeof *omp.loops, of_runtime(at) ? caller() : at);
    struct ring *r = my_ring();
    if (r && loops_deep < 16) in_loop[loops_deep].depth = r->depth, in_loop[loops_deep].number = number;
    loops_deep++;
}

// ---- tasks ------------------------------------------------------------------

// loop_here returns the taskloop that the thread creates a task of. The runtime halves a
// long one by tasks of its own, which create the others: the task that runs here is
// then none of the program's.
static unsigned loop_here(struct ring *r) {
    if (loops_deep > 0 && loops_deep <= 16 && in_loop[loops_deep - 1].depth == r->depth) return in_loop[loops_deep - 1].number;
    if (r->depth == 0 || r->depth > MOST_NESTED) return 0;
    struct under_way *run = &r->under_way[r->depth - 1];
    if (!(run->loop & 0x1f)) return 0;
    if (!(run->loop & RUNTIMES)) {
        if (run->construct & COUNTED) {
            struct unread *u = unread_of(r, run->construct);
            add(&u->created, UINT64_MAX), add(&u->begun, UINT64_MAX); // one less
        } else push(EVENT_RUNTIMES, 1, 0, ticks(), atomic_load_explicit(&run->token, memory_order_relaxed), 0);
    }
    run->loop |= RUNTIMES;
    return (unsigned)(run->loop & 0x1f);
}

// helpers is the region of the runtime's hidden helper threads, which run target tasks and belong
// to no team of the program.
static struct region helpers;

static inline struct ring *root_of(struct ring *r) {
    struct ring *root = atomic_load_explicit(&r->root, memory_order_relaxed);
    return root ? root : r;
}

// follow makes the tasks that a thread creates from now on count to the iterations of a root.
static void follow(struct ring *r, struct ring *root) {
    struct ring *before = root_of(r);
    if (before == root) return;
    uint64_t named = atomic_load_explicit(&r->named, memory_order_relaxed);
    atomic_fetch_add(&before->earlier, named - atomic_load(&r->foreign));
    atomic_store(&r->foreign, named);
    atomic_store(&r->root, root);
}

static __thread int begun;  // the runtime reported that this thread began
static __thread int joined; // EVENT_THREAD_START was written
static __thread int helper; // a hidden helper thread

// join_team writes that this thread takes part in the program's teams.
static void join_team(void) {
    if (joined || !on()) return;
    push(EVENT_THREAD_START, 0, 0, ticks(), 0, 0);
    joined = 1;
}

// implicit_tasks are the implicit tasks of parallel regions that this thread is in.
static __thread unsigned implicit_tasks;

// teams are their teams.
static __thread struct team {
    struct region *region;
    uint64_t number; // of the region: its record may be used again
    unsigned size;
    uint32_t base; // tasks that were under way when this thread entered it
    struct task *task;
} teams[16];

// current_team returns the innermost team of this thread, NULL outside of regions.
static inline struct team *current_team(void) { return implicit_tasks > 0 && implicit_tasks <= 16 ? &teams[implicit_tasks - 1] : NULL; }

static __thread int if_is_false; // the next task's if clause

// is_undeferred reports whether a task's parent waits for it. A team of a single thread runs each
// task where it is created, and the runtime calls all of them undeferred.
static inline int is_undeferred(const struct task *parent, int flags) {
    struct team *team = current_team();
    int alone = team && team->size == 1;
    return flags & OMPT_TASK_UNDEFERRED && (!alone || if_is_false || (parent && parent->final));
}

// current_task returns the task that this thread is in, NULL without memory.
static struct task *current_task(struct ring *r) {
    struct team *team = current_team();
    if (r->depth > (team ? team->base : 0) && r->depth <= MOST_NESTED) return r->under_way[r->depth - 1].task;
    if (team) return team->task;
    if (!r->initial) r->initial = create_implicit(r, NULL, ticks());
    return r->initial;
}

static void on_implicit_task(int endpoint, ompt_data *parallel, ompt_data *task, unsigned threads, unsigned number, int flags) {
    (void)task, (void)number;
    TIMED;
    if (!(flags & OMPT_TASK_IMPLICIT)) return;
    struct region *region = parallel ? parallel->ptr : NULL;
    struct ring *r = on() ? my_ring() : NULL;
    uint64_t at = ticks();
    if (endpoint != OMPT_BEGIN) {
        struct team *team = current_team();
        if (r && team && team->task) end_task(r, team->task, at);
        implicit_tasks -= implicit_tasks > 0;
        struct team *outer = current_team();
        if (helper || !r) return;
        if (outer && outer->region) enter_region(r, outer->region->place, at);
        else change_state(r, NULL, at);
        return;
    }
    helper = region == &helpers;
    if (begun && !helper) join_team();
    if (region && !helper && r) {
        follow(r, region->root);
        enter_region(r, region->place, at);
    }
    if (implicit_tasks < 16) {
        struct task *own = r && !helper ? create_implicit(r, region, at) : NULL;
        teams[implicit_tasks] = (struct team){region, region ? atomic_load(&region->number) : 0, threads, own_ring ? (uint32_t)own_ring->depth : 0, own};
    }
    implicit_tasks++;
}

// on_parallel_begin notes where a team is forked. The runtime's front end for gcc may
// give that place for the construct of a task which is created by a task that the
// forking thread runs at the end of the region.
static void on_parallel_begin(ompt_data *task, const void *frame, ompt_data *parallel, unsigned threads, int flags, const void *address) {
    (void)task, (void)frame, (void)threads, (void)flags;
    TIMED;
    struct ring *r;
    if (!begun && implicit_tasks == 0) { // the runtime reports no beginning of the first helper
        parallel->ptr = &helpers;
        return;
    }
    atomic_store_explicit(&omp.forked, (uint64_t)(uintptr_t)address, memory_order_relaxed);
    if (!on() || !(r = my_ring())) return;
    notice_unloads();
    int inner = implicit_tasks > 0 || r->depth > 0;
    if (!inner) follow(r, r);
    struct region *region = &r->regions[r->forks % REGIONS];
    region->root = root_of(r), region->inner = inner;
    struct team *outer = current_team();
    int is_last_call = outer && outer->region && of_runtime((uint64_t)(uintptr_t)address); // of the region around it, whose body leaves no other address
    region->place = is_last_call ? outer->region->place : place_of(r, (uint64_t)(uintptr_t)address);
    atomic_store(&region->ended, 0);
    atomic_store(&region->number, ++r->forks);
    parallel->ptr = region;
    uint64_t at = ticks();
    fork_team(r, current_task(r), region, at);
    if (!inner && r->state) fork_region(r, region->place, at);
}

// under_way reports whether a task lies on this thread's stack.
static inline int under_way(const struct ring *r, uint64_t token) {
    for (uint64_t i = r->depth < MOST_NESTED ? r->depth : MOST_NESTED; i > 0; i--)
        if (atomic_load_explicit(&r->under_way[i - 1].token, memory_order_relaxed) == token) return 1;
    return 0;
}

// end_stale_part ends the part on top of this thread's tasks, which is over.
static __attribute__((noinline)) void end_stale_part(struct ring *r) {
    struct under_way *run = end_inner(r);
    uint64_t at = ticks(), token = atomic_load(&run->token);
    int ours = !(token & TAKEN) && atomic_compare_exchange_strong(&run->token, &token, 0);
    if (ours) pause_task(r, run->task, at);
    release_task(r, run->task, 1);
    contain(r, run, at, ours && push_run(r, EVENT_RUN, 1, run, token, r->shown, at));
    resume_task(current_task(r), at);
}

// end_stale_parts ends the parts on top of this thread's tasks that are over without a report: those
// that follow the task, or the region, that the thread is in. A task that has just ended a part
// is in none of them.
static inline void end_stale_parts(struct ring *r, const ompt_data *current) {
    while (__builtin_expect(r->depth > 0 && r->depth <= MOST_NESTED && r->under_way[r->depth - 1].loop & CONTINUED, 0)) {
        const struct task *task = current ? current->ptr : NULL;
        uint64_t token = task ? task->token : 0, top = atomic_load(&r->under_way[r->depth - 1].token) & ~TAKEN;
        uint64_t base = current_team() ? current_team()->base : 0;
        if (token == top || r->depth <= base || (token && !under_way(r, token))) return;
        end_stale_part(r);
    }
}

// tail_of names a task that is created by the last call of a function, which leaves no return
// address: by the construct of the task that the function belongs to, or by where the program
// called the runtime.
static uint64_t tail_of(struct ring *r) {
    uint64_t around = r->depth > 0 ? atomic_load(&tool.constructs[innermost(r)->construct % CONSTRUCTS]) : 0;
    return around ? around : caller();
}

static void on_task_create(ompt_data *by, const void *frame, ompt_data *task, int flags, int dependences, const void *address) {
    (void)frame;
    struct ring *r;
    TIMED;
    if (!creates() || !(flags & OMPT_TASK_EXPLICIT) || !(r = my_ring())) return;
    end_stale_parts(r, by);
    uint64_t at = ticks(), entry = (uint64_t)(uintptr_t)address;
    unsigned number = 0;
    if (__builtin_expect(of_runtime(entry) || loops_deep > 0, 0)) number = loop_here(r);
    if (number) entry = atomic_load_explicit(&omp.loops[number], memory_order_relaxed);
    if (__builtin_expect(entry == atomic_load_explicit(&omp.forked, memory_order_relaxed), 0)) entry = caller();
    if (__builtin_expect(of_runtime(entry), 0)) entry = tail_of(r);
    uint64_t place = place_of(r, entry), known = construct(place);
    struct task *around = current_task(r);
    struct task *t = create_task(r, around, known, at);
    if (!t) {
        add(&r->dropped, 1);
        return;
    }
    const struct under_way *parent = innermost(r);
    uint64_t level = r->depth ? parent->level + !(parent->loop & RUNTIMES) : 1;
    t->level = level < DEPTHS ? (uint8_t)level : DEPTHS - 1;
    t->loop = (uint8_t)number;
    t->undeferred = is_undeferred(around, flags);
    t->final = (flags & OMPT_TASK_FINAL) != 0;
    if_is_false = 0;
    t->token = name();
    task->ptr = t;
    t->counted = !has_spare(r, r->quarter); // the rest is for the tasks that are open
    if (__builtin_expect(t->counted, 0)) add(&unread_of(r, known)->created, 1);
    else push(EVENT_OPEN, 1, 0, at, t->token, place);
}

static inline int dependence_kind(int type) {
    if (type == OMPT_DEPENDENCE_IN) return DEPENDS_IN;
    if (type == OMPT_DEPENDENCE_MUTEXINOUTSET) return DEPENDS_MUTEXINOUTSET;
    return type == OMPT_DEPENDENCE_INOUTSET ? DEPENDS_INOUTSET : DEPENDS_OUT;
}

static void on_dependences(ompt_data *task, const ompt_dependence *list, int count) {
    struct ring *r;
    if (!on() || !task->ptr || !(r = my_ring())) return;
    for (int i = 0; i < count; i++) {
        int type = list[i].type, all = type == OMPT_DEPENDENCE_OUT_ALL_MEMORY || type == OMPT_DEPENDENCE_INOUT_ALL_MEMORY;
        depend_on(r, task->ptr, all ? 0 : list[i].variable.value, dependence_kind(type));
    }
}

// A taskwait with a depend clause, and a task with one and a false if clause, wait here. No event
// of OMPT reports it, so the library stands before the runtime's function where it is preloaded.
// flags are bits: 1 in, 2 out, 4 mutexinoutset, 8 inoutset.
struct kmp_dependence { intptr_t address; size_t length; uint8_t flags; };
typedef void (*kmp_wait)(void *, int32_t, int32_t, struct kmp_dependence *, int32_t, struct kmp_dependence *, int32_t);

static void wait_for_dependences(kmp_wait next, void *place, int32_t thread, int32_t n, struct kmp_dependence *list, int32_t n2, struct kmp_dependence *list2, int32_t no_wait) {
    static __thread int within; // one of the two functions calls the other
    struct ring *r = on() && !within && !no_wait ? own_ring : NULL;
    struct task *task = r ? current_task(r) : NULL;
    uint64_t at, address = (uint64_t)(uintptr_t)__builtin_return_address(0);
    if (r) {
        at = ticks();
        push_wait(r, EVENT_WAIT_START, FLAG_COUNTED, 0, at);
        begin_wait(r, task, WAIT_OTHER, at);
        if (r->computing) wait_in(r, TIME_BARRIER, place_of(r, of_runtime(address) ? caller() : address), at);
    }
    within++;
    next(place, thread, n, list, n2, list2, no_wait);
    within--;
    if (!r) return;
    at = ticks();
    push_wait(r, EVENT_WAIT_END, FLAG_COUNTED, atomic_load(&tool.iteration), at);
    for (int32_t i = 0; task && i < n; i++) {
        int kind = list[i].flags & 2 ? DEPENDS_OUT : list[i].flags & 4 ? DEPENDS_MUTEXINOUTSET : list[i].flags & 8 ? DEPENDS_INOUTSET : DEPENDS_IN;
        await_address(task, (uint64_t)list[i].address, kind);
    }
    end_wait(r, task, WAIT_OTHER, at);
    if (r->computing) change_state(r, r->computing, at);
}

EXPORT void __kmpc_omp_wait_deps(void *place, int32_t thread, int32_t n, struct kmp_dependence *list, int32_t n2, struct kmp_dependence *list2) {
    static kmp_wait next;
    if (!next) next = (kmp_wait)find_next("__kmpc_omp_wait_deps", "omp");
    wait_for_dependences(next, place, thread, n, list, n2, list2, 0);
}

EXPORT void __kmpc_omp_taskwait_deps_51(void *place, int32_t thread, int32_t n, struct kmp_dependence *list, int32_t n2, struct kmp_dependence *list2, int32_t no_wait) {
    static kmp_wait next;
    if (!next) next = (kmp_wait)find_next("__kmpc_omp_taskwait_deps_51", "omp");
    wait_for_dependences(next, place, thread, n, list, n2, list2, no_wait);
}

// __kmpc_omp_task_begin_if0 creates and begins a task whose if clause is false. Its last call is the
// runtime's function, which takes the return address for the construct's.
EXPORT void __kmpc_omp_task_begin_if0(void *place, int32_t thread, void *task) {
    static void (*next)(void *, int32_t, void *);
    if (!next) next = (void (*)(void *, int32_t, void *))find_next("__kmpc_omp_task_begin_if0", "omp");
    if_is_false = 1;
    next(place, thread, task);
}

static inline uint64_t integer(uint32_t half) { return (uint64_t)(int64_t)(int32_t)half; }

// small reports whether a half is an integer of at most 24 bits and a sign.
static inline int small(uint32_t half) { return half < 1 << 24 || half >= UINT32_MAX - (1 << 24); }

// is_float reports whether a half may be a float from 2^-24 to 2^40.
static inline int is_float(uint32_t half) { return half - 0x33800000 < 0x53800000 - 0x33800000; }

static inline uint64_t millionths(uint32_t half) {
    float value;
    memcpy(&value, &half, sizeof value);
    return (uint64_t)((double)value * 1e6);
}

// numbers reads a word of a task's memory as two numbers. It is two integers of 32 bits;
// one of 64; a double, in millionths; or an address, of which the distance in bytes from
// the address before it in the block counts: the bounds of an array. An integer that is
// followed by a float looks like a double with few bits, so both are taken; a float that is
// followed by an integer counts in millionths. Numbers that cannot be sizes are 0. What the compiler leaves between a task's variables may be the
// half of an address.
static inline void numbers(uint64_t word, uint64_t *before, uint64_t *out) {
    uint32_t high = (uint32_t)(word >> 32), low = (uint32_t)word;
    int address = high - omp.program < 16 || (high + 64 >= omp.mapped && high <= omp.stack);
    out[0] = out[1] = 0;
    if ((address && low >= 1 << 24) || word - omp.fixed < omp.fixed_to - omp.fixed) {
        if (*before && word - *before < MOST_BYTES) out[0] = word - *before;
        *before = word;
    } else if (high < 16 && low >= 1u << 31) { // more than an int
        out[0] = word;
    } else if (high - LEAST_DOUBLE < MOST_DOUBLE - LEAST_DOUBLE) {
        double value;
        memcpy(&value, &word, sizeof value);
        out[0] = (uint64_t)(value * 1e6);
        if (low < 1 << 20 || low > UINT32_MAX - (1 << 20)) out[1] = integer(low);
    } else {
        if (small(high) && high != 0 && is_float(low)) out[0] = millionths(low);
        else if (small(high) || small(low)) out[0] = integer(low);
        if (!address && small(high)) out[1] = integer(high);
    }
}

enum { BODY_BEFORE = 4 * 8, LONE_INT = 4 + 3 };

static __thread uint64_t last_body;

// body_of returns the place of the function that a compiler made of a task.
static inline uint64_t body_of(uint64_t address) {
    uint64_t place = address | atomic_load_explicit(&unloads, memory_order_relaxed);
    if (__builtin_expect(place != last_body, 0)) note_place(last_body = place);
    return place;
}

// describe writes what a task works on. The runtime keeps five words of its own
// before a task's variables, of which the block shows the last two. The second one
// is the function of the task.
static inline void describe(struct ring *r, uint64_t at, struct task *t) {
    uint64_t sizes[2 * MOST_WORDS], n = 0, before = 0;
    if (__builtin_expect(t->counted || !has_spare(r, 3 + MOST_WORDS), 0)) {
        struct unread *u = unread_of(r, t->construct);
        add(&u->begun, 1);
        add(&u->half_reported, !t->counted);
        add(&u->begun_reported, !t->counted);
        t->counted = 1;
        return;
    }
    void *block;
    size_t size;
    uint64_t body = 0;
    if (omp.memory && omp.memory(&block, &size, 0)) {
        uintptr_t from = (uintptr_t)block, skip = from & 7 ? 20 : 8;
        const uint64_t *word = (const uint64_t *)(from + skip), *end = word + (size > skip ? (size - skip) / 8 : 0);
        if (t->loop && end - word >= 2) {
            sizes[n++] = word[1] - word[0]; // its iterations less one, or times the step
            sizes[n++] = 0;
            word += 2;
        }
        for (; word < end && n < 2 * MOST_WORDS; word++, n += 2) numbers(*word, &before, sizes + n);
        if (size == skip + LONE_INT) { // gcc makes no whole word of it, and LLVM's runtime adds 3 bytes to align it
            uint32_t alone;
            memcpy(&alone, (const void *)(from + skip), sizeof alone);
            sizes[n++] = is_float(alone) ? millionths(alone) : integer(alone);
        }
        body = body_of(*(const uint64_t *)(from + skip - BODY_BEFORE));
        while (n > 0 && sizes[n - 1] == 0) n--;
    }
    uint64_t further = (n + SLOT_WORDS - 1) / SLOT_WORDS, head = room(r, 1 + further);
    if (head == UINT64_MAX) return;
    uint64_t *slot = r->slots[head & r->mask];
    slot[0] = header(EVENT_BEGIN, 1, n, further, (int32_t)atomic_load_explicit(&tool.iteration, memory_order_relaxed));
    slot[1] = at;
    slot[2] = t->token;
    slot[3] = body;
    for (uint64_t i = 0; i < n; i++) r->slots[(head + 1 + i / SLOT_WORDS) & r->mask][i % SLOT_WORDS] = sizes[i];
    publish(r, head, 1 + further);
}

// cancel reports that a task was discarded before it began.
static void cancel(struct ring *r, const struct task *t) {
    if (t->counted || !has_spare(r, 1)) {
        struct unread *u = unread_of(r, t->construct);
        add(&u->cancelled, 1);
        add(&u->half_reported, !t->counted);
        add(&u->begun_reported, !t->counted);
    } else push(EVENT_CANCEL, 1, (int32_t)atomic_load_explicit(&tool.iteration, memory_order_relaxed), ticks(), t->token, 0);
}

// stop reports the end of a task's run, or of a part of it, and goes on with what is around it.
static inline void stop(struct ring *r, struct task *t, int kind, int ended, uint64_t at) {
    const struct under_way *top = innermost(r);
    int continued = top->task == t && top->loop & CONTINUED;
    end_run(r, kind, 1, t->token, at);
    if (ended) end_task(r, t, at);
    else pause_task(r, t, at);
    if (__builtin_expect(continued, 0)) release_task(r, t, 1);
    resume_task(current_task(r), at);
}

// go_on begins a task on this thread, or continues it.
static inline void go_on(struct ring *r, struct task *t, uint64_t at) {
    uint64_t continued = t->begun ? CONTINUED : 0;
    pause_task(r, current_task(r), at);
    begin_task(r, t, at);
    t->begun = 1;
    if (!continued) {
        describe(r, at, t);
    } else {
        atomic_fetch_add(&t->holds, 1); // by what is under way
        if (!t->counted && !has_spare(r, 3)) t->counted = 1, add(&unread_of(r, t->construct)->half_reported, 1); // what follows is only counted
    }
    if (r->depth < MOST_NESTED) {
        struct under_way *run = &r->under_way[r->depth];
        run->task = t;
        run->loop = t->loop | continued;
        run->level = t->level;
        run->construct = t->construct | (t->counted ? COUNTED : 0);
        run->waiting = r->state == r->computing ? NULL : r->state;
        if (run->waiting) change_state(r, r->computing, at);
    }
    begin_run(r, t->token, at);
}

static void on_task_schedule(ompt_data *prior, int status, ompt_data *next) {
    struct ring *r;
    TIMED;
    if (!on() || !(r = my_ring())) return;
    end_stale_parts(r, prior);
    struct task *before = prior->ptr, *after = next ? next->ptr : NULL;
    switch (status) {
    case OMPT_TASK_COMPLETE:
    case OMPT_TASK_CANCEL:
    case OMPT_TASK_DETACH:
        if (!before || !before->begun) { // an implicit task, one that began before there was a tool, or one that never began
            if (!before || status != OMPT_TASK_CANCEL) return;
            cancel(r, before);
            end_task(r, before, ticks());
        } else {
            stop(r, before, EVENT_RUN, status != OMPT_TASK_DETACH, ticks());
        }
        if (status == OMPT_TASK_DETACH) before->begun = 0;
        else prior->ptr = NULL;
        return; // what goes on is on the stack already
    case OMPT_TASK_LATE_FULFILL:
        if (before) fulfill_task(r, before, current_task(r), ticks());
        prior->ptr = NULL;
        return;
    case OMPT_TASK_SWITCH:
    case OMPT_TASK_YIELD: break;
    default: return; // an event that a task waited for
    }
    if (after && !(after->begun && under_way(r, after->token))) go_on(r, after, ticks());
    else if (before && before->begun && under_way(r, before->token)) stop(r, before, EVENT_PART, 0, ticks()); // an untied task leaves the thread before its end
}

// ---- iterations -------------------------------------------------------------

static __thread uint64_t entered; // the iteration of its root in which this thread came to wait

// count_created returns the tasks that the threads of a root created.
static uint64_t count_created(const struct ring *root) {
    uint64_t n = atomic_load(&root->earlier);
    for (struct ring *r = atomic_load(&tool.rings); r; r = r->next)
        if (root_of(r) == root) n += atomic_load_explicit(&r->named, memory_order_relaxed) - atomic_load(&r->foreign);
    return n;
}

// end_iteration closes the iteration under way of a root if tasks were created in it: once,
// whichever of the threads that wait is the first to go on.
static void end_iteration(struct ring *r, struct ring *root, uint64_t at) {
    uint64_t n = count_created(root), before = atomic_load(&root->closed);
    if (n <= before || atomic_load(&root->iteration) != entered) return;
    if (!atomic_compare_exchange_strong(&root->closed, &before, n)) return;
    keep_graph(r, current_task(r), at);
    atomic_fetch_add(&root->iteration, 1);
    atomic_fetch_add(&tool.iteration, 1);
    notice_unloads();
}

// push_iteration reports the number of iterations that have ended by a wait of no time.
static void push_iteration(struct ring *r, uint64_t at) {
    push_wait(r, EVENT_WAIT_START, FLAG_COUNTED, 0, at);
    push_wait(r, EVENT_WAIT_END, FLAG_COUNTED, atomic_load(&tool.iteration), at);
}

static inline int ends_region(int kind) { return kind == OMPT_BARRIER_IMPLICIT || kind == OMPT_BARRIER_IMPLICIT_PARALLEL; }

// ends reports whether the end of a wait may end an iteration: that of a thread in no
// explicit task and in no region within another one. At the end of a region its workers
// learn that the barrier is over when the next region begins, so the thread that forked
// the region closes the iteration.
static inline int ends(int kind, const ompt_data *parallel, const struct ring *r) {
    const struct region *region = parallel ? parallel->ptr : NULL;
    return r->depth == 0 && !ends_region(kind) && !(region && region->inner) && !atomic_load_explicit(&omp.marked, memory_order_relaxed);
}

// begin_idling begins a wait of a thread in its region.
static void begin_idling(struct ring *r, int kind, uint64_t address, uint64_t at) {
    struct team *team = current_team();
    if (!team || !team->region) return;
    wait_in(r, TIME_BARRIER, !address || of_runtime(address) ? team->region->place : place_of(r, address), at);
    if (!ends_region(kind)) return;
    r->last_barrier.state = r->state;
    r->last_barrier.region = team->region;
    r->last_barrier.number = team->number;
}

// end_idling ends a wait. A worker learns only when the next region begins that the one before is
// over: the time since then is outside of regions.
static void end_idling(struct ring *r, int kind, uint64_t at) {
    struct team *team = current_team();
    struct region *region = team ? team->region : NULL;
    uint64_t ended = 0;
    if (!region) return;
    if (ends_region(kind)) ended = atomic_load(&region->number) == team->number ? atomic_load(&region->ended) : 1;
    if (ended && ended < at) {
        pause_task(r, team->task, 0);
        end_state(r, ended);
        begin_state(r, NULL, at);
    } else change_state(r, r->computing, at);
}

static inline int class_of(int kind) {
    if (kind == OMPT_TASKWAIT) return WAIT_TASKWAIT;
    if (kind == OMPT_TASKGROUP) return WAIT_TASKGROUP;
    return kind == OMPT_REDUCTION ? WAIT_OTHER : WAIT_BARRIER;
}

// An iteration ends where all its tasks were waited for: at a taskwait, a taskgroup's end,
// a barrier, or the end of a parallel region.
static void synchronize(int kind, int endpoint, ompt_data *parallel, ompt_data *task, const void *address, int is_wait) {
    struct ring *r;
    TIMED;
    if (!on() || (helper && !(own_ring && own_ring->depth > 0)) || !(r = my_ring())) return;
    end_stale_parts(r, task);
    struct task *current = current_task(r);
    uint64_t at = ticks();
    if (kind == OMPT_TASKGROUP && !is_wait) {
        if (endpoint == OMPT_BEGIN) enter_group(r, current);
        return;
    }
    if (endpoint == OMPT_BEGIN) {
        if (r->depth == 0) entered = atomic_load(&root_of(r)->iteration);
        push_wait(r, EVENT_WAIT_START, FLAG_COUNTED, 0, at);
        begin_wait(r, current, class_of(kind), at);
        begin_idling(r, kind, (uint64_t)(uintptr_t)address, at);
        return;
    }
    end_wait(r, current, class_of(kind), at);
    if (ends(kind, parallel, r)) end_iteration(r, root_of(r), at);
    push_wait(r, EVENT_WAIT_END, FLAG_COUNTED, atomic_load(&tool.iteration), at);
    end_idling(r, kind, at);
}

static void on_sync_region(int kind, int endpoint, ompt_data *parallel, ompt_data *task, const void *address) {
    synchronize(kind, endpoint, parallel, task, address, 0);
}

// on_sync_wait hears of the wait at the end of a taskgroup, which begins with its region.
static void on_sync_wait(int kind, int endpoint, ompt_data *parallel, ompt_data *task, const void *address) {
    if (kind == OMPT_TASKGROUP) synchronize(kind, endpoint, parallel, task, address, 1);
}

static void on_parallel_end(ompt_data *parallel, ompt_data *task, int flags, const void *address) {
    (void)task, (void)flags, (void)address;
    TIMED;
    struct ring *r;
    if (!on() || !(r = my_ring())) return;
    struct region *region = parallel->ptr;
    uint64_t at = ticks();
    if (region) {
        atomic_store(&region->ended, at);
        join_teams(current_task(r), region, at);
        if (!region->inner) {
            leave_regions(r, at);
            keep_graph(r, current_task(r), at);
        }
    }
    if (!ends(0, parallel, r)) return;
    struct ring *root = root_of(r);
    uint64_t before = entered = atomic_load(&root->iteration);
    end_iteration(r, root, at);
    if (atomic_load(&root->iteration) != before) push_iteration(r, at);
}

static int on_control(uint64_t command, uint64_t modifier, void *arg, const void *address) {
    (void)modifier, (void)arg, (void)address;
    if (command != CONTROL_ITERATION || !on()) return 0;
    struct ring *r = my_ring();
    if (!r) return 0;
    atomic_store(&omp.marked, 1);
    entered = atomic_load(&root_of(r)->iteration);
    uint64_t at = ticks();
    end_iteration(r, root_of(r), at);
    push_iteration(r, at);
    return 0;
}

// ---- locks --------------------------------------------------------------------

enum { LOCK_BITS = 10 };
static _Atomic(struct ring *) owners[1 << LOCK_BITS]; // of locks: the thread that took each last

static inline _Atomic(struct ring *) *owner_of(uint64_t lock) { return &owners[lock * 0x9e3779b97f4a7c15 >> (64 - LOCK_BITS)]; }

// is_others reports whether another thread took a lock last; otherwise there is no wait for it.
static inline int is_others(uint64_t lock) {
    struct ring *owner = atomic_load_explicit(owner_of(lock), memory_order_relaxed);
    return owner && owner != own_ring;
}

// begin_locking notes that the thread tries to take a lock. It may spin until it has it, or never
// get it: a test that fails has no end. Its CPU time is read where that is little next to its time.
static void begin_locking(int may_wait, uint64_t place) {
    struct ring *r = own_ring;
    if (!r) return;
    uint64_t at = ticks();
    int is_rare = at - r->lock_last >= LONG_TICKS;
    r->lock_last = at;
    r->lock_cpu = (may_wait || is_rare) && r->cpu_since ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) : 0;
    r->lock_place = of_runtime(place) ? 0 : place;
    r->lock_at = at;
}

// end_locking counts a wait as one of the task that the thread is in.
static void end_locking(int waited_for, uint64_t place) {
    struct ring *r = own_ring;
    uint64_t from = r ? r->lock_at : 0, at = ticks();
    if (!from) return;
    r->lock_at = 0;
    if (!waited_for || !on()) return;
    struct under_way *run = innermost(r);
    struct task *t = current_task(r);
    pause_task(r, t, from);
    resume_task(t, at);
    run->inner += at - from;
    run->unreported += at - from;
    if (!r->state || r->state != r->computing || r->since > from) return;
    r->cpu_since = r->lock_cpu ? r->cpu_since + nanoseconds(CLOCK_THREAD_CPUTIME_ID) - r->lock_cpu : 0;
    wait_in(r, TIME_LOCK, place_of(r, of_runtime(place) ? caller() : place), from);
    change_state(r, r->computing, at);
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned how, uint64_t lock, const void *address) {
    (void)hint, (void)how;
    TIMED;
    if (own_ring) own_ring->lock_at = 0;
    if (on() && kind != OMPT_TEST_LOCK && kind != OMPT_TEST_NEST_LOCK) begin_locking(is_others(lock), (uint64_t)(uintptr_t)address);
}

static void on_mutex_acquired(int kind, uint64_t lock, const void *address) {
    (void)kind;
    TIMED;
    if (!on() || !my_ring()) return;
    int waited_for = is_others(lock);
    atomic_store_explicit(owner_of(lock), own_ring, memory_order_relaxed);
    end_locking(waited_for, (uint64_t)(uintptr_t)address);
}

// __kmpc_doacross_wait waits for an earlier iteration of an ordered loop, which no event reports.
EXPORT void __kmpc_doacross_wait(void *place, int32_t thread, const int64_t *iteration) {
    static void (*next)(void *, int32_t, const int64_t *);
    if (!next) next = (void (*)(void *, int32_t, const int64_t *))find_next("__kmpc_doacross_wait", "omp");
    struct team *team = current_team();
    int may_wait = !team || team->size > 1;
    uint64_t address = (uint64_t)(uintptr_t)__builtin_return_address(0);
    if (on()) begin_locking(may_wait, address);
    next(place, thread, iteration);
    end_locking(may_wait, address);
}

// ---- threads ----------------------------------------------------------------

// on_thread_begin lets a worker join with its first team: it may be a helper.
static void on_thread_begin(int kind, ompt_data *thread) {
    (void)thread;
    begun = 1;
    if (kind != OMPT_THREAD_WORKER) join_team();
}

static void on_thread_end(ompt_data *thread) {
    (void)thread;
    if (joined && on() && own_ring) change_state(own_ring, NULL, ticks());
}

// ---- start and stop ---------------------------------------------------------

static int code_of(struct dl_phdr_info *info, size_t size, void *address) {
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, to = from + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || (uintptr_t)address < from || (uintptr_t)address >= to) continue;
        omp.from = from, omp.to = to;
        return 1;
    }
    return 0;
}

// program_at learns where the program itself is loaded: the loader lists it first.
static int program_at(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    uintptr_t from = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_addr + info->dlpi_phdr[i].p_vaddr < from) from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    omp.program = (uint32_t)((uint64_t)from >> 32);
    if (omp.program == 0) omp.program = UINT32_MAX - 16, omp.fixed = from, omp.fixed_to = (uintptr_t)sbrk(0) + (1 << 26);
    return 1;
}

// on_exit_within ends the tool where a program exits within a parallel region, in which case the
// runtime does not finalize.
static void on_exit_within(void) {
    if (implicit_tasks > 0) end_process();
}

static int initialize(ompt_lookup lookup, int device, ompt_data *data) {
    (void)device, (void)data;
    int (*set)(int, ompt_function) = (int (*)(int, ompt_function))lookup("ompt_set_callback");
    if (!set) return 0;
    omp.memory = (int (*)(void **, size_t *, int))lookup("ompt_get_task_memory");
    dl_iterate_phdr(code_of, (void *)(uintptr_t)lookup);
    dl_iterate_phdr(program_at, NULL);
    omp.mapped = (uint32_t)((uint64_t)omp.from >> 32), omp.stack = (uint32_t)((uint64_t)(uintptr_t)&set >> 32);
    void *warm[1];
    backtrace(warm, 1); // loads the unwinder now and not in a callback
    tool.process.dialect = DIALECT_OMPT;
    for (struct ring *r = atomic_load(&tool.rings); r; r = r->next) atomic_store(&r->closed, count_created(r));
    atomic_store(&tool.iteration, 0);
    atomic_store(&omp.marked, 0);
    reset_graph();
    if (!begin_process()) return 0;
    struct ring *r = my_ring();
    if (r) {
        leave_regions(r, ticks());
        r->initial = create_implicit(r, NULL, ticks());
    }
    static int registered;
    if (!registered++) atexit(on_exit_within);
    const struct { int event; ompt_function call; const char *name; } all[] = {
        {OMPT_THREAD_BEGIN, (ompt_function)on_thread_begin, "thread begin"}, {OMPT_THREAD_END, (ompt_function)on_thread_end, "thread end"},
        {OMPT_PARALLEL_BEGIN, (ompt_function)on_parallel_begin, "parallel begin"}, {OMPT_PARALLEL_END, (ompt_function)on_parallel_end, "parallel end"},
        {OMPT_IMPLICIT_TASK, (ompt_function)on_implicit_task, "implicit task"},
        {OMPT_TASK_CREATE, (ompt_function)on_task_create, "task create"}, {OMPT_TASK_SCHEDULE, (ompt_function)on_task_schedule, "task schedule"},
        {OMPT_WORK, (ompt_function)on_work, "work"}, {OMPT_SYNC_REGION_WAIT, (ompt_function)on_sync_wait, "wait"}, {OMPT_SYNC_REGION, (ompt_function)on_sync_region, "sync region"},
        {OMPT_MUTEX_ACQUIRE, (ompt_function)on_mutex_acquire, "mutex acquire"}, {OMPT_MUTEX_ACQUIRED, (ompt_function)on_mutex_acquired, "mutex acquired"},
        {OMPT_CONTROL_TOOL, (ompt_function)on_control, "control tool"}, {OMPT_DEPENDENCES, (ompt_function)on_dependences, "dependences"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (set(all[i].event, all[i].call) < OMPT_SET_SOMETIMES)
            fprintf(stderr, "chamtool: rank %d: the OpenMP runtime does not report \"%s\"\n", tool.process.rank, all[i].name);
    return 1;
}

static void finalize(ompt_data *data) {
    (void)data;
    end_process();
}

static struct ompt_start_tool_result result = {initialize, finalize, {0}};

// A program of the Chameleon library runs on an OpenMP runtime too: there the
// other front end reports more.
EXPORT struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime) {
    (void)version, (void)runtime;
    if (dlsym(RTLD_DEFAULT, "chameleon_init")) return NULL;
    return start_tool() ? &result : NULL;
}
