/*
 * A table that grows: what is known of a handle or an address of this process.
 * Its lock is this process's own, held for tens of instructions, never across
 * a call of the driver.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "table.h"

enum { FREE = 0, GONE = 1, SMALLEST = 256 };

struct place {
    uint64_t key;
    struct deft_row row;
};

static uint64_t spread(uint64_t key) { return (key >> 4) * 0x9E3779B97F4A7C15ull >> 20; }

/* The place of a key or, where there is none, NULL. */
static struct place *find(struct table *t, uint64_t key) {
    for (uint64_t i = spread(key), n = 0; n < t->size; i++, n++) {
        struct place *p = &t->places[i % t->size];
        if (p->key == key)
            return p;
        if (p->key == FREE)
            return NULL;
    }
    return NULL;
}

static void insert(struct table *t, uint64_t key, struct deft_row row) {
    uint64_t i = spread(key);
    while (t->places[i % t->size].key > GONE)
        i++;
    struct place *p = &t->places[i % t->size];
    t->used += p->key == FREE;
    t->rows++;
    *p = (struct place){key, row};
}

/* Makes room for one more; places that rows have left are free again. */
static bool grow(struct table *t) {
    if (2 * (t->used + 1) <= t->size)
        return true;
    struct table bigger = {.size = SMALLEST};
    while (bigger.size < 4 * (t->rows + 1))
        bigger.size *= 2;
    bigger.places = calloc(bigger.size, sizeof *bigger.places);
    if (!bigger.places)
        return false;
    for (uint64_t i = 0; i < t->size; i++)
        if (t->places[i].key > GONE)
            insert(&bigger, t->places[i].key, t->places[i].row);
    free(t->places);
    t->places = bigger.places;
    t->size = bigger.size;
    t->used = bigger.used;
    return true;
}

bool table_put(struct table *t, uint64_t key, struct deft_row row) {
    if (key <= GONE)
        return false;
    pthread_mutex_lock(&t->lock);
    struct place *p = find(t, key);
    bool room = p || grow(t);
    if (p)
        p->row = row;
    else if (room)
        insert(t, key, row);
    pthread_mutex_unlock(&t->lock);
    return room;
}

bool table_get(struct table *t, uint64_t key, struct deft_row *row) {
    pthread_mutex_lock(&t->lock);
    struct place *p = key > GONE ? find(t, key) : NULL;
    if (p)
        *row = p->row;
    pthread_mutex_unlock(&t->lock);
    return p != NULL;
}

bool table_remove(struct table *t, uint64_t key, struct deft_row *row) {
    pthread_mutex_lock(&t->lock);
    struct place *p = key > GONE ? find(t, key) : NULL;
    if (p) {
        *row = p->row;
        p->key = GONE;
        t->rows--;
    }
    pthread_mutex_unlock(&t->lock);
    return p != NULL;
}

bool table_count(struct table *t, uint64_t key, int more, struct deft_row *row) {
    pthread_mutex_lock(&t->lock);
    struct place *p = key > GONE ? find(t, key) : NULL;
    bool last = p && (p->row.holders += more) == 0;
    if (last) {
        *row = p->row;
        p->key = GONE;
        t->rows--;
    }
    pthread_mutex_unlock(&t->lock);
    return last;
}

void table_forget(struct table *t) {
    static const struct table empty = TABLE;
    *t = empty;
}
