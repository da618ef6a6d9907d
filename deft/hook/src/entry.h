/*
 * The wrappers, and where programs find them.
 */
#ifndef DEFT_ENTRY_H
#define DEFT_ENTRY_H

#include "member.h"

/* The function that a wrapper calls; resolves it where no lookup came before,
   which means that the program was linked to the driver. NULL without one. */
HIDDEN void *entry_resolve(enum entry_id id);
static inline void *entry_next(enum entry_id id) {
    void *f = acquire(&entries[id].next);
    return likely(f != NULL) ? f : entry_resolve(id);
}

/* Puts the wrapper in place of what the driver's own lookup gave. */
HIDDEN void lookup_wrap(const char *name, void **f, int version, uint64_t flags, uint32_t path);

#endif
