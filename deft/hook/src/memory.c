/*
 * Device memory that the process holds, as far as it came through wrapped
 * calls, and the quota.
 */
#include "memory.h"
#include "table.h"

static struct table allocations = TABLE; /* by address or handle */
static struct table host_pools = TABLE;  /* by handle */
static struct table mapped = TABLE;      /* mappings of handles, by address */

/* -- pools: what was freed stays theirs, up to their threshold -- */

enum { POOLS = 8, POOL_RESERVED = 5, POOL_USED = 7 /* attributes of cuMemPoolGetAttribute */ };
static void *pools[POOLS]; /* that the program named */

void memory_pool(void *pool) {
    for (int i = 0; pool && i < POOLS; i++) {
        void *has = load(&pools[i]);
        if (has == pool || (!has && swap_if(&pools[i], &has, pool)))
            return;
    }
}

void memory_place_pool(void *pool, bool host) {
    struct deft_row row = {0};
    if (host)
        table_put(&host_pools, (uint64_t)pool, row);
    else /* its handle may be that of one that is gone */
        table_remove(&host_pools, (uint64_t)pool, &row);
}

bool memory_is_host(void *pool) {
    struct deft_row row;
    return table_get(&host_pools, (uint64_t)pool, &row);
}

/* Returns the memory that a pool has reserved and does not use. */
static uint64_t pool_unused(void *pool) {
    uint64_t reserved = 0, used = 0;
    bool known = pool && CALL3("cuMemPoolGetAttribute", pool, (word)POOL_RESERVED, &reserved) == CU_SUCCESS &&
                 CALL3("cuMemPoolGetAttribute", pool, (word)POOL_USED, &used) == CU_SUCCESS;
    return known && reserved > used ? reserved - used : 0;
}

static COLD uint64_t unused_memory(void) {
    int ordinal;
    void *pool = NULL;
    uint64_t sum = 0;
    if (CALL1("cuCtxGetDevice", &ordinal) == CU_SUCCESS && CALL2("cuDeviceGetDefaultMemPool", &pool, (word)ordinal) == CU_SUCCESS)
        memory_pool(pool);
    for (int i = 0; i < POOLS; i++)
        sum += pool_unused(load(&pools[i]));
    return sum;
}

bool memory_reserve(uint64_t bytes, bool pooled) {
    member_ensure();
    struct deft_slot *s = acquire(&this_member->slot);
    uint64_t quota = member_quota_bytes(), idle = quota && bytes ? unused_memory() : 0;
    uint64_t before = add(&s->memory_bytes, bytes);
    /* the pool first uses the memory that it keeps */
    uint64_t more = pooled ? bytes > idle ? bytes - idle : 0 : bytes;
    if (quota != 0 && bytes != 0 && (before + idle > quota || more > quota - before - idle)) {
        add(&s->memory_bytes, -bytes);
        add(&s->memory_refused, 1);
        return false;
    }
    uint64_t peak = load(&s->memory_peak_bytes);
    while (peak < before + bytes && !swap_if(&s->memory_peak_bytes, &peak, before + bytes)) {
    }
    return true;
}

void memory_cancel(uint64_t bytes) { add(&acquire(&this_member->slot)->memory_bytes, -bytes); }

void memory_add(uint64_t key, uint64_t bytes) {
    table_put(&allocations, key, (struct deft_row){.bytes = bytes, .member = this_member, .holders = 1}); /* else it stays counted */
}

void memory_remove(uint64_t key) { memory_count(key, -1); }

void memory_count(uint64_t key, int more) {
    struct deft_row row;
    if (table_count(&allocations, key, more, &row))
        add(&acquire(&((struct member *)row.member)->slot)->memory_bytes, -row.bytes);
}

void memory_mapped(uint64_t at, uint64_t bytes, uint64_t key) {
    if (table_put(&mapped, at, (struct deft_row){.bytes = bytes, .holders = key}))
        memory_count(key, 1);
}

void memory_unmapped(uint64_t at, uint64_t bytes) {
    struct deft_row row;
    for (uint64_t end = at + bytes; at < end && table_remove(&mapped, at, &row); at += row.bytes)
        memory_count(row.holders, -1);
}

void memory_info(size_t *free_bytes, size_t *total_bytes) {
    uint64_t quota = member_quota_bytes(), used = load(&acquire(&this_member->slot)->memory_bytes);
    if (quota == 0)
        return;
    uint64_t left = used < quota ? quota - used : 0;
    if (free_bytes && *free_bytes > left)
        *free_bytes = left;
    if (total_bytes && *total_bytes > quota)
        *total_bytes = quota;
}

void memory_forget(void) {
    table_forget(&allocations);
    table_forget(&mapped);
    table_forget(&host_pools);
    for (int i = 0; i < POOLS; i++)
        pools[i] = NULL;
}
