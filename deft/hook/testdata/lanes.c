/*
 * The queue by itself, over a driver that does what it is told: streams of two
 * contexts that hold launches until told that some are done. One command a line:
 *
 *   launch S      to stream S of the current context
 *   bounded S K   the same, at most K in flight; the device does one launch each
 *                 time it is asked something
 *   done S N      of stream S of the current context, N more are done
 *   wait S        the program waits for a stream; -1: for its context
 *   await         it waits for an event, of something that is done
 *   look          is the queue empty? "1", "0"
 *   destroy S     the stream, its work goes on
 *   capture S, uncapture S
 *   context C     the current one
 *   lose          the current context, with its work; context 0 is current then
 *   fork          this process is a child now
 *
 * The answer is "ok", that of look, or what went wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue.c"

enum { CONTEXTS = 2, STREAMS = 4, QUERY_ERROR = 900, NO_HANDLE = 400 };

__thread int inside FAST;
__thread word context FAST;
struct member members[DEVICES];
__thread struct member *here FAST = members;
struct deft_slot nobody, slot;
uint32_t attend;
static word current = 1; /* contexts are 1 and 2 */
void member_here(void) { context = current; }

static struct stream {
    uint64_t launched, done;
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

/* Streams are told by number, from 16 on. */
static struct stream *of(void *s) {
    word n = (word)s;
    return n >= 16 && n < 16 + STREAMS ? &streams[current][n - 16] : NULL;
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
    static word before;
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
    static int now;
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

static void launch(long s, struct bound b) {
    void *to = (void *)(16 + s);
    if (b.kernels)
        queue_room(b, 1);
    queue_touch(to, false);
    slot.launches++;
    streams[current][s].launched++;
    if (b.kernels)
        queue_add(b, to, false, 1);
    uint64_t left = 0;
    for (int c = 1; b.kernels && c <= CONTEXTS; c++)
        for (int i = 0; i < STREAMS; i++)
            left += streams[c][i].launched - streams[c][i].done;
    if (b.kernels && left > b.kernels)
        wrong = "more in flight than the bound";
}

static void wait(long s) {
    struct mark before = queue_mark();
    for (int i = 0; i < STREAMS; i++)
        if (s < 0 || s == i)
            streams[current][i].done = streams[current][i].launched;
    queue_waited(s < 0 ? ALL : 0, s < 0 ? NULL : (void *)(16 + s), false, before);
}

int main(void) {
    char line[64], what[16];
    members[0].slot = &slot;
    context = current;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        long n = 0, k = 0;
        int answer = -1;
        sscanf(line, "%15s %ld %ld", what, &n, &k);
        if (!strcmp(what, "launch"))
            launch(n, (struct bound){0});
        else if (!strcmp(what, "bounded")) {
            working = 1;
            launch(n, (struct bound){(uint64_t)k, 0});
            working = 0;
        } else if (!strcmp(what, "done"))
            streams[current][n].done += (uint64_t)k;
        else if (!strcmp(what, "wait"))
            wait(n);
        else if (!strcmp(what, "await"))
            queue_waited(NO, NULL, false, queue_mark());
        else if (!strcmp(what, "look"))
            answer = queue_look();
        else if (!strcmp(what, "destroy")) {
            queue_lose_stream((void *)(16 + n), false);
            gone(&streams[current][n]);
        } else if (!strcmp(what, "capture") || !strcmp(what, "uncapture")) {
            streams[current][n].capturing = what[0] == 'c';
            queue_capture(what[0] == 'c');
        } else if (!strcmp(what, "context")) {
            current = (word)n + 1;
            lost &= n == 0;
            member_here();
        } else if (!strcmp(what, "lose")) {
            memset(streams[current], 0, sizeof streams[current]);
            current = 1;
            lost = 1;
            queue_lose_context(2);
        } else if (!strcmp(what, "fork")) {
            queue_forget();
            memset(streams, 0, sizeof streams);
            attend = 0;
            pasts = 0;
        }
        if (wrong)
            printf("%s\n", wrong);
        else if (answer >= 0)
            printf("%d\n", answer);
        else
            printf("ok\n");
    }
    return 0;
}
