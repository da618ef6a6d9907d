#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "graph.h"

static struct {
    _Atomic int has_tasks;
    _Atomic uint64_t lost; // dependences, tasks and taskgroups without memory
    struct path span;      // up to the end of the last region, or iteration
} graph;

// ---- memory -------------------------------------------------------------------

// A cell is a task or one of the small structures below. Each thread has its own; one that another
// thread frees comes back by a list that only its owner takes from.
enum { CHUNK = 1 << 16, MOST_SMALL = 1 << 19 }; // bytes mapped at once; small cells of a thread

static const size_t cell_bytes[] = {[TASK_CELL] = 224, [SMALL_CELL] = 128};

// link lists sets of tasks. The lowest bit of a word says that the task belongs to the set.
struct link {
    struct cell cell; // next is the rest of the list
    uint64_t n;
    uintptr_t sets[13];
};

// set is tasks between which there are no dependences: the longest path of those that ended.
struct set {
    struct cell cell;
    _Atomic uint64_t holds;
    struct path path;
};

// group is a taskgroup: the longest path of its tasks that ended.
struct group {
    struct cell cell; // next is the taskgroup around it
    struct path path;
};

// location holds what a later task with the same address depends on. A task of a set depends on
// all tasks of the set before.
struct location {
    struct cell cell;
    uint64_t address;
    uint64_t kind;
    struct set *last, *before; // NULL without tasks
    struct location *below[8]; // by three bits of the hash of their addresses at a time
};

_Static_assert(sizeof(struct task) <= 224 && sizeof(struct link) <= 128 && sizeof(struct set) <= 128 && sizeof(struct location) <= 128, "a cell is too small");

// map_chunk returns a list of new cells, NULL without memory.
static struct cell *map_chunk(struct ring *r, int kind) {
    if (kind == SMALL_CELL && r->mapped[kind] >= MOST_SMALL) return NULL;
    char *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct cell *list = NULL;
    if (chunk == MAP_FAILED) return NULL;
    for (size_t n = CHUNK / cell_bytes[kind]; n > 0; n--) {
        struct cell *c = (struct cell *)(chunk + (n - 1) * cell_bytes[kind]);
        c->owner = r;
        c->next = list;
        list = c;
        r->mapped[kind]++;
    }
    return list;
}

static inline void *take_cell(struct ring *r, int kind) {
    struct cell *c = r->free[kind];
    if (!c && atomic_load_explicit(&r->returned[kind], memory_order_relaxed)) c = atomic_exchange(&r->returned[kind], NULL);
    if (__builtin_expect(!c, 0) && !(c = map_chunk(r, kind))) return NULL;
    r->free[kind] = c->next;
    c->next = NULL;
    return c;
}

static inline void free_cell(struct ring *r, struct cell *c, int kind) {
    if (c->owner == r) {
        c->next = r->free[kind];
        r->free[kind] = c;
        return;
    }
    _Atomic(struct cell *) *list = &c->owner->returned[kind];
    c->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &c->next, c)) {}
}

// ---- paths --------------------------------------------------------------------

static inline uint64_t length(const struct path *p) { return atomic_load_explicit(&p->ticks, memory_order_relaxed); }

// copy_parts copies word by word: wider reads would wait for the last write of a word.
static inline void copy_parts(struct path *p, const struct path *from) {
    for (int i = 0; i < PARTS; i++) __atomic_store_n(&p->parts[i], __atomic_load_n(&from->parts[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

// copy_path makes a path equal to another one. Nobody else changes them meanwhile.
static inline void copy_path(struct path *p, const struct path *from) {
    atomic_store_explicit(&p->ticks, length(from), memory_order_relaxed);
    copy_parts(p, from);
}

static inline void clear_path(struct path *p) {
    atomic_store_explicit(&p->ticks, 0, memory_order_relaxed);
}

// lengthen replaces a path by a longer one.
static inline void lengthen(struct path *p, const struct path *by) {
    if (length(by) > length(p)) copy_path(p, by);
}

// lengthen_shared does so where other threads may do the same. If two come at once, the parts may
// be mixed.
static inline void lengthen_shared(struct path *p, const struct path *by) {
    uint64_t before = length(p), ticks = length(by);
    do
        if (ticks <= before) return;
    while (!atomic_compare_exchange_weak(&p->ticks, &before, ticks));
    copy_parts(p, by);
}

// advance counts what a task computed up to a tick.
static inline void advance(struct ring *r, struct task *t, uint64_t at) {
    if (!t->since || at <= t->since) return;
    uint64_t computed = at - t->since;
    atomic_store_explicit(&t->path.ticks, length(&t->path) + computed, memory_order_relaxed);
    t->path.parts[t->part] += computed;
    add(&r->work, computed);
    t->since = at;
}

// ---- dependences --------------------------------------------------------------

// make_set returns a set without tasks, NULL without memory.
static struct set *make_set(struct ring *r) {
    struct set *s = take_cell(r, SMALL_CELL);
    if (!s) {
        atomic_fetch_add(&graph.lost, 1);
        return NULL;
    }
    clear_path(&s->path);
    atomic_store_explicit(&s->holds, 1, memory_order_relaxed);
    return s;
}

static void drop_set(struct ring *r, struct set *s) {
    if (s && atomic_fetch_sub(&s->holds, 1) == 1) free_cell(r, &s->cell, SMALL_CELL);
}

static struct set *hold_set(struct set *s) {
    if (s) atomic_fetch_add_explicit(&s->holds, 1, memory_order_relaxed);
    return s;
}

// link_set notes that a task follows a set or belongs to it.
static void link_set(struct ring *r, struct task *t, struct set *s, int belongs) {
    struct link *l = t->links;
    if (!s) return;
    if (!l || l->n == sizeof l->sets / sizeof *l->sets) {
        if (!(l = take_cell(r, SMALL_CELL))) {
            atomic_fetch_add(&graph.lost, 1);
            return;
        }
        l->n = 0;
        l->cell.next = (struct cell *)t->links;
        t->links = l;
    }
    l->sets[l->n++] = (uintptr_t)hold_set(s) | (uintptr_t)belongs;
}

// find_location returns where a location is, or where it would be.
static struct location **find_location(struct task *parent, uint64_t address) {
    struct location **at = &parent->locations;
    for (uint64_t hash = address * 0x9e3779b97f4a7c15ull; *at && (*at)->address != address; hash <<= 3) at = &(*at)->below[hash >> 61];
    return at;
}

static struct location *add_location(struct ring *r, struct location **at, uint64_t address, const struct location *all) {
    struct location *l = take_cell(r, SMALL_CELL);
    if (!l) return NULL;
    *l = (struct location){.cell = l->cell, .address = address};
    if (all) {
        l->kind = all->kind;
        l->last = hold_set(all->last);
        l->before = hold_set(all->before);
    }
    return *at = l;
}

// depend_at adds a task to the tasks at a location. Of a set of mutexinoutset one task runs at a
// time, so it also follows those of its own set that have ended.
static void depend_at(struct ring *r, struct task *t, struct location *l, int kind) {
    if (kind == DEPENDS_OUT || (uint64_t)kind != l->kind || !l->last) {
        struct set *s = make_set(r);
        if (!s) return;
        drop_set(r, l->before);
        l->before = l->last, l->last = s;
        l->kind = (uint64_t)kind;
    }
    link_set(r, t, l->before, 0);
    if (kind == DEPENDS_MUTEXINOUTSET) link_set(r, t, l->last, 0);
    link_set(r, t, l->last, 1);
}

static void depend_on_all(struct ring *r, struct task *t, struct location *l, int kind) {
    if (!l) return;
    if (l->address) depend_at(r, t, l, kind);
    for (int i = 0; i < 8; i++) depend_on_all(r, t, l->below[i], kind);
}

void depend_on(struct ring *r, struct task *t, uint64_t address, int kind) {
    if (!t->parent) return;
    struct location **at = find_location(t->parent, address), *l = *at;
    if (!address) depend_on_all(r, t, t->parent->locations, kind);
    if (!l && !(l = add_location(r, at, address, *find_location(t->parent, 0)))) atomic_fetch_add(&graph.lost, 1);
    if (l) depend_at(r, t, l, kind);
}

void await_address(struct task *t, uint64_t address, int kind) {
    struct location *l = *find_location(t, address);
    if (!l) l = *find_location(t, 0);
    if (!l) return;
    struct set *s = kind == DEPENDS_OUT || (uint64_t)kind != l->kind ? l->last : l->before;
    if (s) lengthen(&t->path, &s->path);
}

static void free_locations(struct ring *r, struct location *l) {
    if (!l) return;
    for (int i = 0; i < 8; i++) free_locations(r, l->below[i]);
    drop_set(r, l->last);
    drop_set(r, l->before);
    free_cell(r, &l->cell, SMALL_CELL);
}

// ---- tasks --------------------------------------------------------------------

#define HELD (1ull << 32) // more than any number of children

typedef uint64_t __attribute__((may_alias)) word;

static struct task *make_task(struct ring *r) {
    struct task *t = take_cell(r, TASK_CELL);
    if (!t) {
        atomic_fetch_add(&graph.lost, 1);
        return NULL;
    }
    for (word *w = (word *)&t->parent; w < (word *)&t->path; w++) __atomic_store_n(w, 0, __ATOMIC_RELAXED);
    atomic_store_explicit(&t->holds, HELD, memory_order_relaxed);
    return t;
}

struct task *create_implicit(struct ring *r, struct region *region, uint64_t at) {
    struct task *t = make_task(r);
    if (!t) return NULL;
    copy_path(&t->path, region ? &region->start : &graph.span);
    if (region) t->barrier = region->barriers;
    t->since = at;
    return t;
}

struct task *create_task(struct ring *r, struct task *parent, uint64_t construct, uint64_t at) {
    struct task *t = make_task(r);
    if (!t) return NULL;
    t->construct = (uint8_t)construct;
    t->part = construct > 0 && construct < PARTS ? (uint8_t)construct : PARTS - 1;
    if (__builtin_expect(!atomic_load_explicit(&graph.has_tasks, memory_order_relaxed), 0)) atomic_store(&graph.has_tasks, 1);
    if (!parent) {
        copy_path(&t->path, &graph.span);
        return t;
    }
    advance(r, parent, at);
    copy_path(&t->path, &parent->path);
    t->parent = parent;
    t->barrier = parent->barrier;
    t->group = parent->entered ? parent->entered : parent->group;
    if (!parent->created++) parent->children = make_set(r);
    return t;
}

void begin_task(struct ring *r, struct task *t, uint64_t at) {
    (void)r;
    for (struct link *l = t->links; l; l = (struct link *)l->cell.next)
        for (uint64_t i = 0; i < l->n; i++)
            if (!(l->sets[i] & 1)) lengthen(&t->path, &((struct set *)l->sets[i])->path);
    t->since = at;
}

void pause_task(struct ring *r, struct task *t, uint64_t at) {
    if (!t) return;
    advance(r, t, at);
    t->since = 0;
}

void resume_task(struct task *t, uint64_t at) {
    if (t && !t->waits) t->since = at;
}

// leave_sets lengthens the paths of the sets that a task belongs to, and leaves all its sets.
static void leave_sets(struct ring *r, struct task *t) {
    for (struct link *l = t->links, *next; l; l = next) {
        next = (struct link *)l->cell.next;
        for (uint64_t i = 0; i < l->n; i++) {
            struct set *s = (struct set *)(l->sets[i] & ~(uintptr_t)1);
            if (l->sets[i] & 1) lengthen_shared(&s->path, &t->path);
            drop_set(r, s);
        }
        free_cell(r, &l->cell, SMALL_CELL);
    }
    t->links = NULL;
}

void release_task(struct ring *r, struct task *t, uint64_t holds) {
    while (t && (atomic_load_explicit(&t->holds, memory_order_acquire) == holds || atomic_fetch_sub(&t->holds, holds) == holds)) {
        struct task *parent = t->parent;
        free_locations(r, t->locations);
        if (t->children) free_cell(r, &t->children->cell, SMALL_CELL);
        free_cell(r, &t->cell, TASK_CELL);
        t = parent;
        holds = 1;
    }
}

void end_task(struct ring *r, struct task *t, uint64_t at) {
    pause_task(r, t, at);
    if (!t->begun) begin_task(r, t, 0);
    if (t->links) leave_sets(r, t);
    if (t->parent && t->parent->children) lengthen_shared(&t->parent->children->path, &t->path);
    if (t->undeferred && t->parent) lengthen(&t->parent->path, &t->path);
    if (t->group) lengthen_shared(&t->group->path, &t->path);
    if (t->barrier) lengthen_shared(t->barrier, &t->path);
    release_task(r, t, HELD - t->created);
}

void fulfill_task(struct ring *r, struct task *t, struct task *by, uint64_t at) {
    if (by) {
        advance(r, by, at);
        lengthen(&t->path, &by->path);
    }
    end_task(r, t, at);
}

// ---- waits --------------------------------------------------------------------

void enter_group(struct ring *r, struct task *t) {
    if (!t) return;
    struct group *g = take_cell(r, SMALL_CELL);
    if (!g) {
        atomic_fetch_add(&graph.lost, 1);
        return;
    }
    clear_path(&g->path);
    g->cell.next = (struct cell *)t->entered;
    t->entered = g;
}

void begin_wait(struct ring *r, struct task *t, int class, uint64_t at) {
    if (!t) return;
    pause_task(r, t, at);
    t->waits++;
    if (class == WAIT_BARRIER && !t->parent && t->barrier) lengthen_shared(t->barrier, &t->path);
}

// end_wait continues a task behind a wait. A thread of a team may be at the next barrier when another
// one has not left this one yet, so two paths take turns.
void end_wait(struct ring *r, struct task *t, int class, uint64_t at) {
    if (!t || !t->waits) return;
    t->waits--;
    if (class == WAIT_TASKWAIT && t->children) lengthen(&t->path, &t->children->path);
    if (class == WAIT_TASKGROUP && t->entered) {
        struct group *g = t->entered;
        lengthen(&t->path, &g->path);
        t->entered = (struct group *)g->cell.next;
        free_cell(r, &g->cell, SMALL_CELL);
    }
    if (class == WAIT_BARRIER && !t->parent && t->barrier) {
        lengthen(&t->path, t->barrier);
        t->barrier += t->odd ? -1 : 1;
        t->odd = !t->odd;
    }
    if (class == WAIT_TASKWAIT || class == WAIT_BARRIER) {
        free_locations(r, t->locations);
        t->locations = NULL;
    }
    resume_task(t, at);
}

void fork_team(struct ring *r, struct task *t, struct region *region, uint64_t at) {
    pause_task(r, t, at);
    copy_path(&region->start, t ? &t->path : &graph.span);
    clear_path(&region->barriers[0]);
    clear_path(&region->barriers[1]);
}

void join_teams(struct task *t, struct region *region, uint64_t at) {
    if (!t) return;
    lengthen(&t->path, &region->barriers[0]);
    lengthen(&t->path, &region->barriers[1]);
    resume_task(t, at);
}

void keep_graph(struct ring *r, struct task *t, uint64_t at) {
    if (!t) return;
    advance(r, t, at);
    lengthen_shared(&graph.span, &t->path);
}

void reset_graph(void) {
    memset(&graph, 0, sizeof graph);
}

// chamtool_graph includes what ended in the regions under way: the program may end there.
int chamtool_graph(struct graph *g) {
    const struct path *span = &graph.span;
    *g = (struct graph){.lost = atomic_load(&graph.lost)};
    for (struct ring *r = atomic_load(&tool.rings); r; r = r->next) {
        g->work += atomic_load_explicit(&r->work, memory_order_relaxed);
        for (int i = 0; i < 2 * REGIONS; i++) {
            const struct path *barrier = &r->regions[i / 2].barriers[i % 2];
            if (length(barrier) > length(span)) span = barrier;
        }
    }
    g->span = length(span);
    for (int i = 0; i < PARTS; i++) {
        g->parts[i] = __atomic_load_n(&span->parts[i], __ATOMIC_RELAXED);
        g->places[i] = i > 0 && i + 1 < PARTS ? atomic_load(&tool.constructs[i]) : 0;
    }
    return atomic_load(&graph.has_tasks) && g->work > 0;
}
