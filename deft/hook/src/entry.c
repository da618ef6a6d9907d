/*
 * The wrappers. Each has a hidden name, w_NAME, whose address is this library's own
 * whatever else is loaded, and NAME itself as an exported alias, for programs that
 * are linked to the driver.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gate.h"
#include "memory.h"
#include "trace.h"

#define WRAP(name, params) \
    static int w_##name params; \
    EXPORT int name params __attribute__((alias("w_" #name))); \
    static int w_##name params

/* Declares next, the function to call; inside the driver, the driver's own. */
#define NEXT(name, ...) \
    int (*next)(__VA_ARGS__) = (int (*)(__VA_ARGS__))entry_next(E_##name); \
    if (unlikely(!next)) \
        return CU_STUB_LIBRARY; \
    void *raw = unlikely(inside) ? entry_raw(E_##name) : NULL; \
    if (unlikely(raw != NULL)) \
        next = (int (*)(__VA_ARGS__))raw;

#define CALL(r, call) \
    do { \
        inside++; \
        r = call; \
        inside--; \
    } while (0)

#define ENDS(name, end) (sizeof name > sizeof end && memcmp(&name[sizeof name - sizeof end], end, sizeof end) == 0)
#define PER_THREAD(name) (ENDS(name, "_ptsz") || ENDS(name, "_ptds"))

#define WORDS word a0, word a1, word a2, word a3, word a4, word a5
#define GIVEN a0, a1, a2, a3, a4, a5
#define SIX word, word, word, word, word, word

/* -- launches -- */

/* A launch: the body of every wrapper that gives the device work. */
#define LAUNCH_BODY(name, stream, call) \
    if (unlikely(inside)) \
        return call; \
    uint64_t in = trace_begin(); \
    enum pass pass = gate_launch((stream), PER_THREAD(#name)); \
    int r; \
    trace_before((stream), PER_THREAD(#name)); \
    CALL(r, call); \
    trace_after(in, (stream), PER_THREAD(#name), 1); \
    if (unlikely(pass == PASS_RECORD)) \
        gate_after((stream), PER_THREAD(#name), 1); \
    return r;

#define AS_KERNEL(name, arg) \
    WRAP(name, (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
                unsigned shared, void *stream, void **params, void **extra)) { \
        NEXT(name, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) \
        LAUNCH_BODY(name, stream, next(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra)) \
    }

#define AS_COOPERATIVE(name, arg) \
    WRAP(name, (void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
                unsigned shared, void *stream, void **params)) { \
        NEXT(name, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **) \
        LAUNCH_BODY(name, stream, next(f, gx, gy, gz, bx, by, bz, shared, stream, params)) \
    }

#define AS_KERNEL_EX(name, arg) \
    WRAP(name, (const struct launch_config *config, void *f, void **params, void **extra)) { \
        NEXT(name, const struct launch_config *, void *, void **, void **) \
        LAUNCH_BODY(name, config ? config->stream : NULL, next(config, f, params, extra)) \
    }

#define AS_GRAPH_LAUNCH(name, arg) \
    WRAP(name, (void *exec, void *stream)) { \
        NEXT(name, void *, void *) \
        if (unlikely(inside)) \
            return next(exec, stream); \
        uint64_t kernels, in = trace_begin(); \
        enum pass pass = gate_graph(exec, stream, PER_THREAD(#name), &kernels); \
        int r; \
        trace_before(stream, PER_THREAD(#name)); \
        CALL(r, next(exec, stream)); \
        trace_after(in, stream, PER_THREAD(#name), kernels); \
        if (unlikely(pass == PASS_RECORD)) \
            gate_after(stream, PER_THREAD(#name), kernels); \
        return r; \
    }

/* A host function, with its place in the queue: once it is called, the work before it is
   done, and the program may wait for what it does. */
struct host_call {
    void (*f)(void *);
    void (*callback)(void *, int, void *); /* instead of f */
    void *stream, *data;
    struct place_in_queue at;
};

static void call_host(struct host_call *h, int status) {
    struct host_call c = *h;
    free(h);
    gate_reached(c.at);
    if (c.callback)
        c.callback(c.stream, status, c.data);
    else
        c.f(c.data);
}

static void call_function(void *h) { call_host(h, CU_SUCCESS); }

static void call_callback(void *stream, int status, void *h) {
    (void)stream;
    call_host(h, status);
}

/* Returns a host call for the driver to make, or NULL if it shall make the program's own: a
   captured one may be called any number of times. */
static struct host_call *new_host_call(struct host_call c, bool per_thread) {
    gate_copy(c.stream, per_thread);
    bool captured = any_capture() && queue_capturing(c.stream, per_thread);
    bool watched = !captured && (c.f || c.callback) && acquire(&this_member->slot) != &no_slot;
    struct host_call *h = watched ? malloc(sizeof *h) : NULL;
    if (h) {
        *h = c;
        h->at = queue_place(c.stream, per_thread);
    }
    return h;
}

/* Calls next, the driver's function, with this library's host function and data in place of
   the program's. */
#define HOST_BODY(name, call, field, ours) \
    if (unlikely(inside)) \
        return call; \
    struct host_call *h = new_host_call((struct host_call){.field = f, .stream = stream, .data = data}, PER_THREAD(#name)); \
    if (h) { \
        f = ours; \
        data = h; \
    } \
    int r; \
    CALL(r, call); \
    if (r != CU_SUCCESS) \
        free(h); \
    return r;

#define AS_HOST(name, arg) \
    WRAP(name, (void *stream, void (*f)(void *), void *data)) { \
        NEXT(name, void *, void (*)(void *), void *) \
        HOST_BODY(name, next(stream, f, data), f, call_function) \
    }

#define AS_HOST_V2(name, arg) \
    WRAP(name, (void *stream, void (*f)(void *), void *data, unsigned mode)) { \
        NEXT(name, void *, void (*)(void *), void *, unsigned) \
        HOST_BODY(name, next(stream, f, data, mode), f, call_function) \
    }

#define AS_CALLBACK(name, arg) \
    WRAP(name, (void *stream, void (*f)(void *, int, void *), void *data, unsigned flags)) { \
        NEXT(name, void *, void (*)(void *, int, void *), void *, unsigned) \
        HOST_BODY(name, next(stream, f, data, flags), callback, call_callback) \
    }

/* -- copies, waits, captures, ends -- */

/* These share a body per kind, which takes the arguments as they came. */
typedef int (*six_fn)(SIX);

/* Calls entry point id; sets *skip where the call came from the driver. */
static int call_six(enum entry_id id, const word *a, bool *skip) {
    six_fn next = (six_fn)entry_next(id);
    if (!next)
        return CU_STUB_LIBRARY;
    *skip = inside;
    if (inside) {
        void *raw = entry_raw(id);
        next = raw ? (six_fn)raw : next;
    }
    int r;
    CALL(r, next(a[0], a[1], a[2], a[3], a[4], a[5]));
    return r;
}

#define BODY(kind) static int kind(enum entry_id id, long arg, bool per_thread, const word *a)

/* One way in for all of them. A wrapper says which it is, in a register that no
   argument travels in, and jumps; so it needs no frame and no unwind table of its
   own. */
HIDDEN int enter_shared(WORDS, enum entry_id id) __attribute__((used));
#define NUMBER(kind, name, arg) __asm__(".set E_" #name ",%c0" : : "i"(E_##name));
__attribute__((used)) static void set_numbers(void) { DEFT_ENTRIES(NUMBER) }
#if defined __x86_64__
#define JUMP(name) "  movl $E_" name ",%eax\n  jmp deft_shared\n"
__asm__(".text\n.type deft_shared,@function\n"
        "deft_shared:\n"
        ".cfi_startproc\n"
        "  push %rax\n.cfi_adjust_cfa_offset 8\n"
        "  call enter_shared\n"
        "  pop %rdx\n.cfi_adjust_cfa_offset -8\n"
        "  ret\n"
        ".cfi_endproc\n.size deft_shared,.-deft_shared\n");
#else
#define JUMP(name) "  movz w6,#:abs_g0:E_" name "\n  b enter_shared\n"
#endif
#define BY(name, arg) \
    int w_##name(WORDS) HIDDEN; \
    __asm__(".text\n.globl " #name ",w_" #name "\n.hidden w_" #name "\n" \
            ".type " #name ",%function\n.type w_" #name ",%function\n" \
            #name ":\nw_" #name ":\n" JUMP(#name) ".size " #name ",.-" #name "\n");

static __attribute__((noinline)) void copies(void *stream, bool per_thread) {
    gate_copy(stream, per_thread);
    add(&acquire(&this_member->slot)->copies, 1);
}

BODY(launch) {
    bool skip = true;
    void *stream = arg >= 0 ? (void *)a[arg] : NULL;
    enum pass pass = inside ? PASS_PLAIN : gate_launch(stream, per_thread);
    int r = call_six(id, a, &skip);
    if (pass == PASS_RECORD)
        gate_after(stream, per_thread, 1);
    return r;
}

/* The call waits for the device: the owner knows that its queue is not empty. */
static __attribute__((noinline)) int wait_six(enum entry_id id, const word *a, bool *skip) {
    struct deft_slot *s = acquire(&this_member->slot);
    uint64_t in = trace_begin();
    add(&s->in_wait, 1);
    int r = call_six(id, a, skip);
    add(&s->in_wait, -1);
    trace_waited(in);
    return r;
}

BODY(copy) {
    bool skip = true;
    if (!inside)
        copies(arg >= 0 ? (void *)a[arg] : NULL, per_thread);
    struct mark before = queue_mark();
    struct deft_slot *s = acquire(&this_member->slot);
    bool waits = arg == WAITS && !inside;
    uint64_t in = trace_begin();
    if (waits)
        add(&s->in_wait, 1);
    if (!inside)
        trace_before(arg >= 0 ? (void *)a[arg] : NULL, per_thread);
    int r = call_six(id, a, &skip);
    trace_after(in, arg >= 0 ? (void *)a[arg] : NULL, per_thread, 0);
    if (waits) {
        add(&s->in_wait, -1);
        trace_waited(trace_begin());
    }
    if (waits && r == CU_SUCCESS && !skip)
        gate_synced(NO, NULL, per_thread, before);
    return r;
}

BODY(synced) {
    bool skip = true;
    if (id == E_cuCtxSynchronize_v2 && a[0] && a[0] != context)
        arg = NO; /* another context than the thread's */
    member_ensure();
    struct mark before = queue_mark();
    int r = inside ? call_six(id, a, &skip) : wait_six(id, a, &skip);
    if (r == CU_SUCCESS && !skip)
        gate_synced(arg, (void *)a[0], per_thread, before);
    return r;
}

/* The program asks whether work is done. A program whose queue is known to be empty may
   ask as often as it likes. */
BODY(query) {
    bool skip = true;
    struct mark before = queue_mark();
    int r = call_six(id, a, &skip);
    if (skip || before.launches == load(&acquire(&this_member->slot)->emptied))
        return r;
    if (r == CU_NOT_READY)
        gate_refused();
    else if (r == CU_SUCCESS)
        gate_queried(arg, (void *)a[0], per_thread, before);
    return r;
}

/* A capture ends when its stream is capturing no more, whatever the driver
   answers: it may say that the capture was invalidated. */
BODY(capture) {
    bool skip = true;
    member_ensure();
    bool before = !arg && !inside && queue_capturing((void *)a[0], per_thread);
    int r = call_six(id, a, &skip);
    if (!skip && (arg ? r == CU_SUCCESS : before && !queue_capturing((void *)a[0], per_thread)))
        queue_capture(arg);
    return r;
}

/* A device's primary context, 0 while it has none. */
static word primary(word device) {
    unsigned flags;
    int active = 0;
    word c = 0;
    if (CALL3("cuDevicePrimaryCtxGetState", device, &flags, &active) == CU_SUCCESS && active && CALL2("cuDevicePrimaryCtxRetain", &c, device) == CU_SUCCESS)
        CALL1("cuDevicePrimaryCtxRelease_v2", device);
    return c;
}

/* The context of a green context, 0 if there is none. */
static word green_context(word green) {
    word c = 0;
    return CALL2("cuCtxFromGreenCtx", &c, green) == CU_SUCCESS ? c : 0;
}

/* Returns the context that goes away, 0 if none does. */
static word lost_context(long what, word handle) {
    switch (what) {
    case ALL:
        return handle;
    case PRIMARY:
        return primary(handle);
    case GREEN:
        return green_context(handle);
    default:
        return 0;
    }
}

/* A stream or a context goes away. A primary context that has been reset, or
   that nobody has retained any more, is another one from then on. */
BODY(lose) {
    bool skip = true, open = false, resets = id == E_cuDevicePrimaryCtxReset || id == E_cuDevicePrimaryCtxReset_v2;
    word c = inside ? 0 : lost_context(arg, a[0]);
    if (arg >= 0 && !inside) {
        open = any_capture() && queue_capturing((void *)a[0], per_thread);
        queue_drop_stream((void *)a[0], per_thread);
    }
    int r = call_six(id, a, &skip);
    if (r != CU_SUCCESS || skip)
        return r;
    if (open)
        queue_capture(false);
    if (c && (arg != PRIMARY || resets || !primary(a[0])))
        queue_drop_context(c);
    return r;
}

/* The thread's context changes. */
BODY(enter) {
    bool skip = true;
    (void)arg, (void)per_thread;
    member_ensure();
    int r = call_six(id, a, &skip);
    if (r == CU_SUCCESS && !skip)
        member_update();
    return r;
}

/* Batches: more arguments than registers hold. */
static __attribute__((noinline)) int batch(WORDS, word a6, word a7, word a8, enum entry_id id, bool per_thread, void *stream) {
    void *raw = inside ? entry_raw(id) : NULL;
    int (*next)(SIX, word, word, word) = (int (*)(SIX, word, word, word))(raw ? raw : entry_next(id)), r;
    if (unlikely(!next))
        return CU_STUB_LIBRARY;
    if (unlikely(inside))
        return next(GIVEN, a6, a7, a8);
    copies(stream, per_thread);
    CALL(r, next(GIVEN, a6, a7, a8));
    return r;
}

#define AS_BATCH(name, arg) \
    WRAP(name, (WORDS, word a6, word a7, word a8)) { return batch(GIVEN, a6, a7, a8, E_##name, PER_THREAD(#name), (void *)a##arg); }

/* Graphs: where the executable one and the other stand; of the first its address. */
BODY(graph) {
    bool skip = true;
    (void)per_thread;
    if (arg == DESTROYS && !inside)
        graph_remove((void *)a[0]);
    int r = call_six(id, a, &skip);
    if (r == CU_SUCCESS && !skip && arg != DESTROYS)
        graph_update(arg == UPDATES ? (void *)a[0] : *(void **)a[0], (void *)a[1]);
    return r;
}
/* -- memory -- */

/* Handles of cuMemCreate are no addresses: kept apart by the highest bit. */
#define HANDLE(h) ((h) | 1ull << 63)

/* Of an array: elements of 4, 2 or, in formats not named here, 1 byte; a
   level of a mipmapped one has half the width, height and depth of the last. */
static uint64_t texels(uint64_t w, uint64_t h, uint64_t d, unsigned format, unsigned channels, unsigned levels) {
    uint64_t each = format == 0x03 || format == 0x0a || format == 0x20 ? 4 : format == 0x02 || format == 0x09 || format == 0x10 ? 2 : 1;
    uint64_t sum = 0;
    for (unsigned i = 0; i < levels && i < 32; i++, w /= 2, h /= 2, d /= 2)
        sum += (w ? w : 1) * (h ? h : 1) * (d ? d : 1) * each * (channels ? channels : 1);
    return sum;
}

static uint64_t array_bytes(const void *p, unsigned levels) {
    const struct {
        size_t width, height;
        unsigned format, channels;
    } *d = p;
    return d ? texels(d->width, d->height, 1, d->format, d->channels, levels) : 0;
}

static uint64_t array3d_bytes(const void *p, unsigned levels) {
    const struct {
        size_t width, height, depth;
        unsigned format, channels, flags;
    } *d = p;
    return d ? texels(d->width, d->height, d->depth, d->format, d->channels, levels) : 0;
}

/* Whether a location's type is one of the host. */
static bool is_host(int type) { return type >= CU_LOCATION_HOST && type < CU_LOCATION_HOST + 3; }

static uint64_t bytes_of(long how, const word *a) {
    switch (how) {
    case CREATE: /* CUmemAllocationProp: the location's type is its third word */
        return a[2] && is_host(((const int *)a[2])[2]) ? 0 : a[1];
    case POOLED:
        return memory_is_host((void *)a[2]) ? 0 : a[1];
    case PITCH:
        return a[2] * a[3];
    case ARRAY:
        return array_bytes((const void *)a[1], 1);
    case ARRAY3D:
        return array3d_bytes((const void *)a[1], 1);
    case MIPMAPPED:
        return array3d_bytes((const void *)a[1], (unsigned)a[2]);
    default:
        return a[1];
    }
}

static uint64_t key_of(long how, uint64_t key) {
    return how == CREATE ? HANDLE(key) : key;
}

BODY(take) {
    bool skip = true;
    (void)per_thread;
    uint64_t bytes = inside ? 0 : bytes_of(arg, a);
    if (bytes && arg == POOLED)
        memory_pool((void *)a[2]);
    if (!inside && !memory_reserve(bytes, arg == ASYNC || arg == POOLED))
        return CU_OUT_OF_MEMORY;
    int r = call_six(id, a, &skip);
    if (skip)
        return r;
    if (r == CU_SUCCESS)
        memory_add(key_of(arg, *(uint64_t *)a[0]), bytes);
    else
        memory_cancel(bytes);
    return r;
}

/* Memory on the host is not the device's. */
BODY(pool) {
    bool skip = true;
    (void)per_thread;
    int r = call_six(id, a, &skip);
    if (r == CU_SUCCESS && !skip)
        memory_place_pool(*(void **)a[0], a[1] && is_host(((const int *)a[1])[arg]));
    return r;
}

BODY(give) {
    bool skip = true;
    (void)per_thread;
    int r = call_six(id, a, &skip);
    if (r == CU_SUCCESS && !skip)
        memory_remove(key_of(arg, a[0]));
    return r;
}

/* -- mapped memory -- */

/* Memory stays while it is mapped, whoever released its handle. */
WRAP(cuMemMap, (uint64_t at, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)) {
    NEXT(cuMemMap, uint64_t, size_t, size_t, uint64_t, uint64_t)
    int r;
    CALL(r, next(at, bytes, offset, handle, flags));
    if (r == CU_SUCCESS && !inside)
        memory_mapped(at, bytes, HANDLE(handle));
    return r;
}

WRAP(cuMemUnmap, (uint64_t at, size_t bytes)) {
    NEXT(cuMemUnmap, uint64_t, size_t)
    int r;
    CALL(r, next(at, bytes));
    if (r == CU_SUCCESS && !inside)
        memory_unmapped(at, bytes);
    return r;
}

WRAP(cuMemRetainAllocationHandle, (uint64_t * handle, void *at)) {
    NEXT(cuMemRetainAllocationHandle, uint64_t *, void *)
    int r;
    CALL(r, next(handle, at));
    if (r == CU_SUCCESS && !inside)
        memory_count(HANDLE(*handle), 1);
    return r;
}

WRAP(cuMemGetInfo_v2, (size_t * free_bytes, size_t *total_bytes)) {
    NEXT(cuMemGetInfo_v2, size_t *, size_t *)
    int r;
    CALL(r, next(free_bytes, total_bytes));
    if (r == CU_SUCCESS && !inside)
        memory_info(free_bytes, total_bytes);
    return r;
}

WRAP(cuDeviceTotalMem_v2, (size_t * bytes, int device)) {
    NEXT(cuDeviceTotalMem_v2, size_t *, int)
    int r;
    CALL(r, next(bytes, device));
    if (r == CU_SUCCESS && !inside) {
        member_ensure();
        memory_info(NULL, bytes);
    }
    return r;
}

/* -- the way in -- */

WRAP(cuInit, (unsigned flags)) {
    NEXT(cuInit, unsigned)
    if (!inside)
        member_ensure();
    int r;
    CALL(r, next(flags));
    return r;
}

WRAP(cuGetProcAddress, (const char *name, void **f, int version, uint64_t flags)) {
    NEXT(cuGetProcAddress, const char *, void **, int, uint64_t)
    if (inside)
        return next(name, f, version, flags);
    int r;
    CALL(r, next(name, f, version, flags));
    if (r == CU_SUCCESS)
        lookup_wrap(name, f, version, flags, DEFT_PATH_GETPROC);
    return r;
}

WRAP(cuGetProcAddress_v2, (const char *name, void **f, int version, uint64_t flags, int *status)) {
    NEXT(cuGetProcAddress_v2, const char *, void **, int, uint64_t, int *)
    if (inside)
        return next(name, f, version, flags, status);
    int r;
    CALL(r, next(name, f, version, flags, status));
    if (r == CU_SUCCESS)
        lookup_wrap(name, f, version, flags, DEFT_PATH_GETPROC_V2);
    return r;
}

WRAP(cuGetExportTable, (const void **table, const void *id)) {
    NEXT(cuGetExportTable, const void **, const void *)
    if (!inside)
        member_path(DEFT_PATH_EXPORT_TABLE);
    int r;
    CALL(r, next(table, id));
    return r;
}

/* -- the table -- */

#define AS_LONG(name, arg)
#define AS_LAUNCH BY
#define AS_COPY BY
#define AS_SYNC BY
#define AS_QUERY BY
#define AS_CAPTURE BY
#define AS_LOSE BY
#define AS_GRAPH BY
#define AS_ENTER BY
#define AS_TAKE BY
#define AS_GIVE BY
#define AS_POOL BY
#define WRAPPER(kind, name, arg) AS_##kind(name, arg)
DEFT_ENTRIES(WRAPPER)

void *const wrappers[ENTRIES] = {
#define ADDRESS(kind, name, arg) (void *)w_##name,
    DEFT_ENTRIES(ADDRESS)
};

int enter_shared(WORDS, enum entry_id id) {
    static const struct {
        signed char kind, arg;
    } shapes[ENTRIES] = {
#define SHAPE(kind, name, arg) {kind, arg},
        DEFT_ENTRIES(SHAPE)
    };
    static int (*const bodies[])(enum entry_id, long, bool, const word *) = {
        [LAUNCH] = launch, [COPY] = copy, [SYNC] = synced, [QUERY] = query, [CAPTURE] = capture,
        [LOSE] = lose, [GRAPH] = graph, [ENTER] = enter, [TAKE] = take, [GIVE] = give, [POOL] = pool,
    };
    return bodies[shapes[id].kind](id, shapes[id].arg, entry_per_thread(id), (const word[]){GIVEN});
}
/* -- coming and going -- */

static void forget_parent(void) {
    member_forked();
    queue_forget();
    memory_forget();
    graphs_forget();
    trace_forget();
    gate_forget();
}

/* DEFT_JOIN=load joins every program that loads the library, not those alone
   that come to the driver: deft doctor wants to know. */
__attribute__((constructor)) static void loaded(void) {
    const char *when = secure_getenv("DEFT_JOIN");
    pthread_atfork(NULL, NULL, forget_parent);
    if (when && strcmp(when, "load") == 0)
        member_ensure();
}

__attribute__((destructor)) static void ended(void) {
    if (members[0].slot != &no_slot && driver_handle())
        member_path(DEFT_PATH_LOADED);
    member_leave();
    trace_end();
}
