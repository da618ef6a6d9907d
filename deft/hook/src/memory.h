/*
 * Device memory that the process holds, and the quota.
 */
#ifndef DEFT_MEMORY_H
#define DEFT_MEMORY_H

#include "member.h"

HIDDEN bool memory_reserve(uint64_t bytes, bool pooled); /* false: above the quota */
HIDDEN void memory_cancel(uint64_t bytes);              /* the driver refused */
HIDDEN void memory_add(uint64_t key, uint64_t bytes); /* the driver returned key */
HIDDEN void memory_remove(uint64_t key);
HIDDEN void memory_count(uint64_t key, int more); /* a handle by one more or less */
HIDDEN void memory_mapped(uint64_t at, uint64_t bytes, uint64_t key);
HIDDEN void memory_unmapped(uint64_t at, uint64_t bytes);
HIDDEN void memory_info(size_t *free_bytes, size_t *total_bytes);
HIDDEN void memory_forget(void);

HIDDEN void memory_pool(void *pool); /* the program allocates from it */
HIDDEN void memory_place_pool(void *pool, bool host);
HIDDEN bool memory_is_host(void *pool);

#endif
