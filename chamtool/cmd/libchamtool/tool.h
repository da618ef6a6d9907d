// The C side of the tool: what the host program's threads run, and what it
// shares with Go. No function here that a worker thread calls allocates, locks,
// or enters the kernel, except once per thread and once per half ring.
#ifndef CHAMTOOL_TOOL_H
#define CHAMTOOL_TOOL_H

#include <stdatomic.h>
#include <stdint.h>

// Kinds of events, as in package event.
enum {
    EVENT_THREAD_START = 1,
    EVENT_CREATE,
    EVENT_RUN,
    EVENT_LOST,
    EVENT_WAIT_START,
    EVENT_WAIT_END,
    EVENT_LOAD,
    EVENT_ARRIVE,
    EVENT_ANNOUNCE,
    EVENT_CLAIM,
    EVENT_OPEN,
    EVENT_BEGIN,
    EVENT_PART,
    EVENT_RUNTIMES,
    EVENT_CANCEL,
    EVENT_GIVE,
};

enum {
    FLAG_COUNTED = 16, // of a wait: its end reports how many iterations have ended
    SLOT_WORDS = 4,
    MAX_SIZES = 15 * SLOT_WORDS,
    MOST_NESTED = 65535,
    ELSEWHERE = MOST_NESTED, // in place of the depth of a run: another thread than the ring's ran it
    CONSTRUCTS = 256, // that are counted separately; those beyond share number 0
    ITERATIONS = 8,   // the same of iterations that follow one another
    PLACES = 128,     // of which a thread's times are kept separately
    DEPTHS = 32,      // of tasks that are counted separately; deeper ones count to the last
    REGIONS = 64,     // parallel regions that a thread forked last
    PARTS = 10,       // of a path: outside of tasks, the first constructs, all others
    UNLOADS = 48, // a place holds the number of unloads above its address: what is loaded later may have the same address
};

// Kinds of time, as in package event. Every other time of a thread is outside of regions.
enum { TIME_COMPUTING = 1, TIME_BARRIER, TIME_MPI, TIME_MPI_ALONE, TIME_SERIAL, TIME_LOCK, TIME_ENDED, TIME_UNKNOWN, TIME_KINDS = TIME_UNKNOWN };

// place_time sums up the time of one kind that a thread spent at a place: computing in the regions
// forked there, waiting for other threads or a lock, in calls of MPI within regions and outside, or
// alone before a region. The time after the thread's end counts too, and time in which it is unknown
// whether it computed. The first TIME_KINDS of a ring sum up the places beyond PLACES, by kind.
struct place_time {
    _Atomic uint64_t kind, place, count, ticks;
    _Atomic uint64_t measured, cpu; // of computing: ticks of which the CPU time is known, and that time in ns
    _Atomic uint64_t work;          // bits of the work-sharing constructs in it, by ompt_work_t
};

// path is a chain of work in which each part waits for the one before.
struct path {
    _Atomic uint64_t ticks;
    uint64_t parts[PARTS]; // by construct
};

// cell is the beginning of what a thread keeps of the graph of tasks.
struct cell {
    struct ring *owner;
    struct cell *next;
};

enum { TASK_CELL, SMALL_CELL, CELLS };

// graph is the graph of all tasks.
struct graph {
    uint64_t work, span;     // ticks
    uint64_t parts[PARTS];   // of a path as long as the span
    uint64_t places[PARTS];  // of their constructs
    uint64_t lost;           // dependences without memory: the span is at least as long
};

// region is a parallel region. The thread that forks it keeps its last ones.
struct region {
    struct ring *root; // of the outermost region
    uint64_t place;
    _Atomic uint64_t number; // of the regions of its thread
    _Atomic uint64_t ended;  // tick; 0 while it runs
    int inner;               // within another region or a task
    struct path start;       // of the task that forked it
    struct path barriers[2]; // up to the barriers of its team, in turn
};

// ring is one thread's events: that thread writes, the Go reader reads.
// Package ring has the same layout up to started.
struct ring {
    _Atomic uint64_t tail;
    uint64_t gap[7];
    _Atomic uint64_t head;
    uint64_t seen;
    _Atomic uint64_t dropped;
    uint64_t mask;
    uint64_t lane;
    uint64_t (*slots)[SLOT_WORDS];
    struct ring *next;
    _Atomic uint64_t taken;
    _Atomic uint64_t named; // tasks named by this ring's threads
    uint64_t quarter; // of the slots: how often the writer looks for the reader
    _Atomic uint64_t started; // tasks begun that have no event before they end
    struct unread *unread;    // by construct and iteration
    struct place_time *times; // by place
    struct { _Atomic uint64_t tasks, ticks; } *depths; // OpenMP: ended tasks, without what runs within them
    _Atomic uint64_t changed; // how often one of them changed
    _Atomic uint64_t used;    // constructs, from 0, that may have counts
    _Atomic uint64_t calls;   // ticks in callbacks, from a sample of them
    uint64_t place; // of the last task created
    uint64_t depth; // tasks under way, the outermost first
    struct under_way {
        _Atomic uint64_t token;
        uint64_t start;
        uint64_t loop;              // OpenMP: the number of its taskloop, RUNTIMES and CONTINUED
        uint64_t construct;         // OpenMP: its construct, and COUNTED
        uint64_t inner, unreported;     // ticks of the runs and waits within it; of them, those without an event
        uint64_t from, before[2];   // of its wait: the tick of its beginning, inner and unreported then
        uint64_t only_counted;            // the beginning of its wait has no event
        struct place_time *waiting; // of the thread, when it began; NULL if it did not wait
        uint64_t level;             // OpenMP: tasks that created it one by the other, and itself
        struct task *task;          // OpenMP: in the graph
    } under_way[MOST_NESTED], implicit; // implicit: outside of tasks
    uint64_t shown; // of the tasks under way, those whose run an event will tell
    // OpenMP: the ring of the thread that forked the outermost region; NULL for this one. Threads of
    // the program that run regions at the same time have iterations of their own.
    _Atomic(struct ring *) root;
    _Atomic uint64_t foreign;   // of named, the tasks of earlier roots
    _Atomic uint64_t earlier;   // of a root: tasks named by threads that have another root now
    _Atomic uint64_t closed;    // of a root: tasks created before its last iteration ended
    _Atomic uint64_t iteration; // of a root: iterations that ended
    struct region regions[REGIONS];
    uint64_t forks;               // regions
    struct place_time *computing; // in times: what the thread computes for; NULL before its first region
    struct place_time *state;     // in times: what its time counts to; NULL outside of regions
    _Atomic uint64_t since;       // tick since which it does; 0 while it changes
    uint64_t cpu_since;           // its CPU time then, in ns; 0 if it was not read, or it does not compute
    int cpu_clock;                // of its CPU time
    struct {
        struct place_time *state;
        struct region *region;
        uint64_t number;
    } last_barrier; // of its region: the state that lasts until the region ends
    uint64_t lock_at, lock_place; // tick since which it tries to take a lock, and where; 0 outside of that
    uint64_t lock_cpu;            // its CPU time then, in ns; 0 if it was not read
    uint64_t lock_last;           // tick of its last attempt to take a lock
    uint64_t called;              // callbacks
    uint64_t recent_ticks;        // of its last intervals of computing, the mean
    _Atomic uint64_t work;        // ticks in tasks, and in regions outside of waits
    struct task *initial;         // outside of teams; NULL before it is needed
    struct cell *free[CELLS];     // of the graph
    _Atomic(struct cell *) returned[CELLS]; // by other threads
    uint64_t mapped[CELLS];       // cells that it owns
} __attribute__((aligned(64)));

// unread counts the tasks of a construct of which a ring had no room for an event.
struct unread {
    _Atomic uint64_t place, iteration;      // of the construct; the last one that was counted
    _Atomic uint64_t created, begun, ended; // without those that have an event
    _Atomic uint64_t ticks, longest;        // of the ended ones, without runs and waits within
    _Atomic uint64_t half_reported;                  // whose creation or beginning has an event, but not the end
    _Atomic uint64_t waits, waited;         // without an event, and their ticks without runs within
    _Atomic uint64_t begun_reported;               // of the begun ones, those whose creation has an event
    _Atomic uint64_t cancelled;             // of the created ones, those that never began
};

// Dialects, as in package event.
enum { DIALECT_UPSTREAM = 1, DIALECT_PATCHED, DIALECT_OMPT };

// process describes this process to Go.
struct process {
    int32_t rank;
    int32_t ranks;
    int32_t dialect; // one of those below
    int32_t tsc;     // ticks are the processor's time stamp counter, not ns
};

// settings come from the environment, which Go reads.
struct settings {
    uint64_t ring_slots; // a power of two
    int32_t balance;     // whether the tool moves tasks
};

// Functions of C that Go calls.
struct ring *chamtool_rings(void);               // newest first, linked by next
void chamtool_clock(uint64_t *ticks, uint64_t *ns); // one moment on both clocks
void chamtool_early(uint64_t *ns, uint64_t *cpu, uint64_t *calls, uint64_t *began); // before the first use of OpenMP: outside of MPI, less MPI_Init after it; calls of MPI; when the tool began to start
uint64_t chamtool_thread_cpu(void);              // ns of the calling thread
void chamtool_times(void *ring, void *times);    // copies PLACES times, up to the program's end
void chamtool_say(const char *line);             // kept until a thread of the program prints it
void chamtool_wake(void);                        // the reader
void chamtool_sleep(uint64_t ns);                // the reader, until it is woken or the time is over
void chamtool_disable(void);                     // no callback does anything from now on
int chamtool_symbol(uint64_t place, char **file, uint64_t *offset);
int chamtool_ending(void);                       // the program is about to be ended from outside
void chamtool_ended(void);                       // what was to be written then is
uint64_t chamtool_unplaced(void);                // events lost for want of a ring
int chamtool_graph(struct graph *g);             // 0 without tasks

// question is one of the Chameleon library for Go. The answer, n or seconds, holds before what the
// library can live with if there is none.
struct question {
    enum { ASK_LOAD, ASK_MOVES, ASK_SECONDS, ASK_TRAIN, ASK_PREDICT, ASK_TASKS_PER_RANK } what;
    uint64_t *words, token;
    const int32_t *loads;
    int32_t local, stolen, *chosen, *ranks, mode, room, n;
    double *values, seconds;
};

// Functions of Go that the service thread calls.
void chamtool_go_wait(void); // returns when Go has started
int chamtool_go_start(struct process *p, struct settings *s); // 0 declines
void chamtool_go_stop(void);
void chamtool_go_answer(void *question);

#endif
