// The graph of an OpenMP program's tasks while it runs: its work and its span (Blumofe and Leiserson
// 1999; online as in Cilkview, He, Leiserson and Leiserson 2010). Work is the time that threads
// compute. The path of a task is the length of the longest chain of work that had to come before
// its present point: its parent's up to its creation, and those of the tasks that it depends on, up to
// their ends. A wait continues at the longest path of the tasks that it waits for. The span is
// the longest path. All times are in ticks.
#ifndef CHAMTOOL_GRAPH_H
#define CHAMTOOL_GRAPH_H

#include "ring.h"

// task is an explicit or an implicit task of an OpenMP program. Children refer to it until they end.
struct task {
    struct cell cell;
    struct task *parent;    // NULL for an implicit task
    struct path *barrier;   // the longest of its team's paths to the next barrier; NULL outside of teams
    struct set *children;   // NULL before the first one
    struct group *group;    // the innermost taskgroup that it was created in
    struct group *entered;  // the innermost taskgroup that it has entered
    struct location *locations; // that its children depend on
    struct link *links;     // sets of tasks that it follows or belongs to
    uint64_t since;         // tick up to which its path is counted while it computes; 0 while it does not
    _Atomic uint64_t holds; // references by others, and while it runs HELD less created
    uint64_t token;
    uint32_t created;       // children
    uint16_t waits;         // that it is in
    uint8_t construct, loop, level;
    uint8_t part;           // of paths that its time counts to
    uint8_t undeferred : 1; // its parent waits for it
    uint8_t counted : 1;    // its events have no room
    uint8_t begun : 1;
    uint8_t odd : 1;        // barriers that it has passed
    uint8_t final : 1;      // its children are undeferred
    struct path path;
};

// Kinds of dependences.
enum { DEPENDS_IN = 1, DEPENDS_OUT, DEPENDS_MUTEXINOUTSET, DEPENDS_INOUTSET };

// Classes of waits.
enum { WAIT_OTHER, WAIT_BARRIER, WAIT_TASKWAIT, WAIT_TASKGROUP };

struct task *create_implicit(struct ring *r, struct region *region, uint64_t at) HIDDEN; // NULL without memory, as below
struct task *create_task(struct ring *r, struct task *parent, uint64_t construct, uint64_t at) HIDDEN;
void begin_task(struct ring *r, struct task *t, uint64_t at) HIDDEN; // or continues it
void pause_task(struct ring *r, struct task *t, uint64_t at) HIDDEN;
void resume_task(struct task *t, uint64_t at) HIDDEN; // behind what ran within it
void end_task(struct ring *r, struct task *t, uint64_t at) HIDDEN; // or cancels it before it began
void fulfill_task(struct ring *r, struct task *t, struct task *by, uint64_t at) HIDDEN; // ends a detached task
void release_task(struct ring *r, struct task *t, uint64_t holds) HIDDEN;
void depend_on(struct ring *r, struct task *t, uint64_t address, int kind) HIDDEN; // the address 0 is all memory
void await_address(struct task *t, uint64_t address, int kind) HIDDEN; // a wait for what such a task depends on has ended
void enter_group(struct ring *r, struct task *t) HIDDEN;
void begin_wait(struct ring *r, struct task *t, int class, uint64_t at) HIDDEN;
void end_wait(struct ring *r, struct task *t, int class, uint64_t at) HIDDEN;
void fork_team(struct ring *r, struct task *t, struct region *region, uint64_t at) HIDDEN;
void join_teams(struct task *t, struct region *region, uint64_t at) HIDDEN;
void keep_graph(struct ring *r, struct task *t, uint64_t at) HIDDEN; // at the end of a region, an iteration or the program
void reset_graph(void) HIDDEN;

#endif
