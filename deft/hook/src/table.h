/*
 * A growing table of the handles and addresses of this process.
 */
#ifndef DEFT_TABLE_H
#define DEFT_TABLE_H

#include <pthread.h>

#include "base.h"

struct deft_row {
    uint64_t kernels;     /* of a graph */
    uint64_t bytes;       /* of an allocation */
    void *member;         /* ... the member that holds it */
    uint64_t holders;     /* ... handles and mappings; or a mapping's handle */
};
struct table {
    pthread_mutex_t lock;
    struct place *places;
    uint64_t size, used, rows; /* used: rows and removed rows */
};
#define TABLE {.lock = PTHREAD_MUTEX_INITIALIZER}
HIDDEN bool table_put(struct table *t, uint64_t key, struct deft_row row); /* false: no memory */
HIDDEN bool table_get(struct table *t, uint64_t key, struct deft_row *row);
HIDDEN bool table_remove(struct table *t, uint64_t key, struct deft_row *row);
/* Adds to the holders; true: none is left, and the row is removed. */
HIDDEN bool table_count(struct table *t, uint64_t key, int more, struct deft_row *row);
HIDDEN void table_forget(struct table *t); /* in a forked child */

#endif
