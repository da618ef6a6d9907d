/*
 * The queue by itself, over a driver that does what it is told: streams of two
 * contexts that hold launches until told that some are done. One command a line:
 *
 *   launch S      to stream S of the current context
 *   bounded S K   the same, at most K in flight; the device does one launch each
 *                 time it is asked something
 *   interrupted S a launch to stream S is interrupted before it is counted, until its
 *                 kernel of 2 ms is done: "1" if the kernel is not taken for a shorter one
 *   done S N      of stream S of the current context, N more are done
 *   wait S        the program waits for a stream; -1: for its context
 *   await         it waits for an event, of something that is done
 *   look          is the queue empty? "1", "0"
 *   destroy S     the stream, its work goes on
 *   capture S, uncapture S
 *   context C     the current one
 *   lose          the current context, with its work; context 0 is current then
 *   fork          this process is a child now: of its threads one is left
 *   thread T      what follows is done by thread T, with a current context of its own
 *   storm N       all threads at once launch and wait N times, each in a stream of
 *                 its own, then for what is left
 *
 * The answer is "ok", that of look, or what went wrong.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue.c"

enum { CONTEXTS = 2, STREAMS = 4, THREADS = 3, QUERY_ERROR = 900, NO_HANDLE = 400 };

__thread int inside FAST;
__thread word context FAST;
struct member members[DEVICES];
__thread struct member *this_member FAST = members;
struct deft_slot no_slot, slot;
uint32_t slow_reasons;
static __thread word current = 1; /* contexts are 1 and 2 */
void member_update(void) { context = current; }

static struct stream {
    _Atomic uint64_t launched, done;
    int capturing;
} streams[CONTEXTS + 1][STREAMS];
static struct stream past[64]; /* destroyed ones, which events still know */
static int pasts;
static int working;   /* the device does something whenever it is asked */
static const char *wrong;

struct event {
    struct stream *of;
    uint64_t at;
};

/* Handles of streams are numbers from 16 on; no two contexts have the same, as with CUDA. */
static void *handle(long s) { return (void *)(16 + (current - 1) * STREAMS + (word)s); }

/* Returns the stream of a handle; NULL if another context has it. */
static struct stream *of(void *s) {
    word first = 16 + (current - 1) * STREAMS, n = (word)s;
    return n >= first && n < first + STREAMS ? &streams[current][n - first] : NULL;
}

static void work(void) {
    for (int c = 1; working && c <= CONTEXTS; c++)
        for (int s = 0; s < STREAMS; s++)
            if (streams[c][s].done < streams[c][s].launched) {
                streams[c][s].done++;
                return;
            }
}

static int is_capturing(void *s, int *status) {
    *status = of(s) ? of(s)->capturing : 0;
    return 0;
}
static int query(void *s) {
    work();
    if (!of(s))
        return NO_HANDLE;
    if (of(s)->capturing) {
        wrong = "a stream that captures was asked";
        return QUERY_ERROR;
    }
    return of(s)->done < of(s)->launched ? CU_NOT_READY : CU_SUCCESS;
}
static int create(struct event **e, unsigned flags) {
    (void)flags;
    *e = calloc(1, sizeof **e);
    return 0;
}
static int destroy(struct event *e) {
    free(e);
    return 0;
}
static int record_event(struct event *e, void *s) {
    if (!of(s))
        return NO_HANDLE;
    if (of(s)->capturing)
        wrong = "an event was recorded into a capture";
    *e = (struct event){of(s), of(s)->launched};
    return 0;
}
static int query_event(struct event *e) {
    work();
    return e->of && e->of->done < e->at ? CU_NOT_READY : CU_SUCCESS;
}
static int lost; /* context 2 is no more */
static int push(word c) {
    static __thread word before;
    word now = current;
    if (lost && c == 2)
        wrong = "a lost context was entered";
    current = c ? c : before;
    before = now;
    return 0;
}
static int pop(word *c) {
    *c = current;
    return push(0);
}
static int exchange(int *mode) {
    static __thread int now;
    int before = now;
    now = *mode;
    *mode = before;
    return 0;
}

void *driver_symbol(const char *name) {
    static const struct {
        const char *name;
        void *f;
    } all[] = {
        {"cuStreamIsCapturing", is_capturing}, {"cuStreamQuery", query}, {"cuEventCreate", create},
        {"cuEventDestroy_v2", destroy}, {"cuEventRecord", record_event}, {"cuEventQuery", query_event},
        {"cuCtxPushCurrent_v2", push}, {"cuCtxPopCurrent_v2", pop}, {"cuThreadExchangeStreamCaptureMode", exchange},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name))
            return all[i].f;
    return NULL;
}

/* Its events go on with what is left of a stream. */
static void gone(struct stream *s) {
    past[pasts % 64] = *s;
    for (struct queue *q = queues; q < queues + 1; q++)
        for (struct lane *l = q->lanes; l; l = l->next) {
            struct event *probe = l->probe;
            if (probe && probe->of == s)
                probe->of = &past[pasts % 64];
            for (int i = 0; i < GROUPS; i++)
                if (l->event[i] && ((struct event *)l->event[i])->of == s)
                    ((struct event *)l->event[i])->of = &past[pasts % 64];
        }
    pasts++;
    *s = (struct stream){0};
}

/* At most most in flight, of kernels of a known time; 0: any number. */
static void launch(long s, uint64_t most) {
    void *to = handle(s);
    uint64_t bound = most * 1000;
    if (most) {
        queues->pace = (struct span){1000, 1};
        queues->ended.ns = 0;
        queue_room(bound, 1);
    }
    queue_touch(to, false);
    __atomic_fetch_add(&slot.launches, 1, __ATOMIC_RELAXED);
    streams[current][s].launched++;
    if (most)
        queue_add(bound, to, false, 1);
    uint64_t left = 0;
    for (int c = 1; most && c <= CONTEXTS; c++)
        for (int i = 0; i < STREAMS; i++)
            left += streams[c][i].launched - streams[c][i].done;
    if (most && left > most)
        wrong = "more in flight than the bound";
}

static bool interrupted(long s) {
    queue_room(1, 1);
    queue_touch(handle(s), false);
    __atomic_fetch_add(&slot.launches, 1, __ATOMIC_RELAXED);
    streams[current][s].launched++;
    nap(2000000);
    streams[current][s].done++;
    queue_add(1, handle(s), false, 1);
    queue_room(1, 1);
    return kernel_ns(queues) >= 2000000;
}

static void wait(long s) {
    struct mark before = queue_mark();
    for (int i = 0; i < STREAMS; i++)
        if (s < 0 || s == i)
            streams[current][i].done = streams[current][i].launched;
    queue_waited(s < 0 ? ALL : 0, s < 0 ? NULL : handle(s), false, before);
}

/* Two of three in the first context. */
static void *storm(void *of) {
    long me = ((long *)of)[0], times = ((long *)of)[1];
    current = (word)(1 + me % CONTEXTS);
    member_update();
    for (long i = 0; i < times; i++) {
        launch(me, 0);
        if (i % (3 + me) == 0)
            wait(me);
        if (i % 5 == 0)
            queue_is_empty();
    }
    wait(me);
    return NULL;
}

static void all_at_once(long times) {
    pthread_t all[THREADS];
    long of[THREADS][2];
    for (long i = 0; i < THREADS; i++) {
        of[i][0] = i, of[i][1] = times;
        pthread_create(&all[i], NULL, storm, of[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
}

static char line[64];
static int forks; /* threads from before the last one are new ones */
static sem_t go[THREADS], did;

static void obey(void);

static void *worker(void *me) {
    for (int born = forks; !sem_wait(&go[(long)me]); sem_post(&did)) {
        if (born != forks)
            current = 1;
        member_update();
        obey();
        born = forks;
    }
    return NULL;
}

static void obey(void) {
    char what[16];
    long n = 0, k = 0;
    int answer = -1;
    sscanf(line, "%15s %ld %ld", what, &n, &k);
    if (!strcmp(what, "launch"))
        launch(n, 0);
    else if (!strcmp(what, "bounded")) {
        working = 1;
        launch(n, (uint64_t)k);
        working = 0;
    } else if (!strcmp(what, "interrupted"))
        answer = interrupted(n);
    else if (!strcmp(what, "done"))
        streams[current][n].done += (uint64_t)k;
    else if (!strcmp(what, "wait"))
        wait(n);
    else if (!strcmp(what, "await"))
        queue_waited(NO, NULL, false, queue_mark());
    else if (!strcmp(what, "look"))
        answer = queue_is_empty();
    else if (!strcmp(what, "destroy")) {
        queue_drop_stream(handle(n), false);
        gone(&streams[current][n]);
    } else if (!strcmp(what, "capture") || !strcmp(what, "uncapture")) {
        streams[current][n].capturing = what[0] == 'c';
        queue_capture(what[0] == 'c');
    } else if (!strcmp(what, "context")) {
        current = (word)n + 1;
        lost &= n == 0;
        member_update();
    } else if (!strcmp(what, "lose")) {
        memset(streams[current], 0, sizeof streams[current]);
        current = 1;
        lost = 1;
        queue_drop_context(2);
    } else if (!strcmp(what, "fork")) {
        queue_forget();
        memset(streams, 0, sizeof streams);
        slow_reasons = 0;
        pasts = 0;
        forks++;
    } else if (!strcmp(what, "storm")) {
        all_at_once(n);
        answer = queue_is_empty();
    }
    if (wrong)
        printf("%s\n", wrong);
    else if (answer >= 0)
        printf("%d\n", answer);
    else
        printf("ok\n");
}

int main(void) {
    pthread_t thread;
    long who = 0;
    members[0].slot = &slot;
    setvbuf(stdout, NULL, _IOLBF, 0);
    sem_init(&did, 0, 0);
    for (long i = 0; i < THREADS; i++) {
        sem_init(&go[i], 0, 0);
        pthread_create(&thread, NULL, worker, (void *)i);
    }
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "thread %ld", &who) == 1) {
            puts("ok");
            continue;
        }
        sem_post(&go[who]);
        sem_wait(&did);
    }
    return 0;
}
