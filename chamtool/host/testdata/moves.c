// Drives the graph of tasks of the C side: reads a move on each line, and prints work, span and the
// parts of the span, all in ticks. Lane 0, which joins first, forks a team; lanes are threads.
//
//   cc -I chamtool/cmd/libchamtool -o moves chamtool/host/testdata/moves.c chamtool/cmd/libchamtool/graph.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { LANES = 8, TASKS = 1 << 10, NESTED = 64 };

struct tool tool;

static struct ring *rings[LANES];
static struct task *tasks[TASKS], *stacks[LANES][NESTED];
static int depths[LANES]; // of the stacks, the implicit task at the bottom

static struct task *top(int lane) { return stacks[lane][depths[lane] - 1]; }

// leave takes a task off the stack that it is on, if any.
static int leave(struct task *t, int lane) {
    for (int l = 0; l < LANES; l++)
        if (depths[l] > 1 && top(l) == t) {
            depths[l]--;
            return l;
        }
    return lane;
}

int main(void) {
    char move[16];
    int lane;
    unsigned long n, at, a, b;
    for (int i = 1; i < CONSTRUCTS; i++) tool.constructs[i] = (uint64_t)i;
    while (scanf("%15s %d %lu %lu %lu %lu", move, &lane, &n, &at, &a, &b) == 6) {
        struct ring *r = rings[lane];
        struct task **t = &tasks[n];
        if (!strcmp(move, "join")) {
            r = rings[lane] = calloc(1, sizeof *r);
            r->next = tool.rings, tool.rings = r;
            if (lane == 0) fork_team(r, NULL, r->regions, 0);
            stacks[lane][depths[lane]++] = create_implicit(r, rings[0]->regions, at);
        } else if (!strcmp(move, "create")) {
            *t = create_task(r, top(lane), a, at);
            (*t)->undeferred = b & 1;
        } else if (!strcmp(move, "depend")) {
            depend_on(r, *t, a, (int)b);
        } else if (!strcmp(move, "await")) {
            await_address(top(lane), a, (int)b);
        } else if (!strcmp(move, "begin")) {
            pause_task(r, top(lane), at);
            begin_task(r, *t, at);
            (*t)->begun = 1;
            stacks[lane][depths[lane]++] = *t;
        } else if (!strcmp(move, "part")) {
            pause_task(r, *t, at);
            resume_task(top(leave(*t, lane)), at);
        } else if (!strcmp(move, "end")) {
            int on = leave(*t, lane);
            end_task(rings[on], *t, at);
            resume_task(top(on), at);
        } else if (!strcmp(move, "fulfill")) {
            fulfill_task(r, *t, top(lane), at);
        } else if (!strcmp(move, "group")) {
            enter_group(r, top(lane));
        } else if (!strcmp(move, "wait")) {
            begin_wait(r, top(lane), (int)a, at);
        } else if (!strcmp(move, "go")) {
            end_wait(r, top(lane), (int)a, at);
        } else {
            return 1;
        }
        if (r && top(lane) == stacks[lane][0] && !strcmp(move, "go") && a != WAIT_OTHER) keep_graph(r, top(lane), at);
    }
    struct graph g;
    int known = chamtool_graph(&g);
    printf("%d %lu %lu", known, g.work, g.span);
    for (int i = 0; i < PARTS; i++) printf(" %lu", g.parts[i]);
    size_t cells = 0, kept = 0;
    for (int l = 0; l < LANES; l++)
        for (int kind = 0; rings[l] && kind < CELLS; kind++) {
            for (struct cell *c = rings[l]->free[kind]; c; c = c->next) cells++;
            for (struct cell *c = rings[l]->returned[kind]; c; c = c->next) cells++;
            kept += rings[l]->mapped[kind];
        }
    printf(" %zu\n", kept - cells);
    return 0;
}
