/*
 * The driver itself: its handle, its functions by name, wrapped or not, and the
 * names of those that libdeft wraps.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

__thread int inside FAST;

struct entry entries[ENTRIES];

/* Their names, one after another: pointers would have to be relocated in every
   process. */
static const struct text {
#define ROOM(kind, name, arg) char name[sizeof #name];
    DEFT_ENTRIES(ROOM)
} text = {
#define TEXT(kind, name, arg) #name,
    DEFT_ENTRIES(TEXT)
};

static const unsigned short begins[ENTRIES] = {
#define BEGIN(kind, name, arg) offsetof(struct text, name),
    DEFT_ENTRIES(BEGIN)
};

const char *entry_name(int id) { return (const char *)&text + begins[id]; }

int entry_find(const char *name) {
    if (!name || name[0] != 'c' || name[1] != 'u')
        return -1;
    for (int i = 0; i < ENTRIES; i++)
        if (strcmp(entry_name(i), name) == 0)
            return i;
    return -1;
}

bool entry_per_thread(enum entry_id id) {
    size_t n = strlen(entry_name(id));
    return memcmp(entry_name(id) + n - 5, "_pts", 4) == 0 || memcmp(entry_name(id) + n - 5, "_ptd", 4) == 0;
}

/* The entry whose wrapper is f, or -1. */
int wrapper_find(const void *f) {
    for (int i = 0; i < ENTRIES; i++)
        if (wrappers[i] == f)
            return i;
    return -1;
}

bool ours(const void *f) { return wrapper_find(f) >= 0; }

/* -- libc's functions -- */

dlsym_fn libc_dlsym, next_dlsym;
dlopen_fn deft_next_dlopen;

static void *find_version(void *handle, const char *name) {
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        void *f = dlvsym(handle, name, versions[i]);
        if (f)
            return f;
    }
    return NULL;
}

/* Libraries' constructors may call dlsym before ours has run. */
COLD static void prepare(void) {
    dlopen_fn first_dlopen = (dlopen_fn)find_version(RTLD_NEXT, "dlopen");
    void *libc = first_dlopen ? first_dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    dlsym_fn own = libc ? (dlsym_fn)find_version(libc, "dlsym") : NULL;
    if (!own)
        own = (dlsym_fn)find_version(RTLD_NEXT, "dlsym");
    if (!own)
        abort(); /* no libc that this library was made for */
    dlsym_fn next = (dlsym_fn)own(RTLD_NEXT, "dlsym");
    dlopen_fn open = (dlopen_fn)own(RTLD_NEXT, "dlopen");
    release(&deft_next_dlopen, open ? open : first_dlopen);
    release(&libc_dlsym, own);
    release(&next_dlsym, next ? next : own);
}

void ensure_prepared(void) {
    if (unlikely(!acquire(&next_dlsym)))
        prepare();
}

/* -- the driver -- */

void *driver_handle(void) {
    static void *handle;
    void *h = acquire(&handle);
    if (h)
        return h;
    ensure_prepared();
    inside++;
#ifdef DEFT_SHIM
    const char *path = secure_getenv("DEFT_DRIVER");
    h = deft_next_dlopen(path && *path ? path : DEFT_SHIM, RTLD_LAZY | RTLD_LOCAL);
#else
    h = deft_next_dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
#endif
    inside--;
    if (h)
        release(&handle, h);
    return h;
}

void *driver_symbol(const char *name) {
    void *h = driver_handle();
    if (!h)
        return NULL;
    inside++;
    void *f = libc_dlsym(h, name);
    inside--;
    return f;
}

void *entry_raw(enum entry_id id) {
    void *f = acquire(&entries[id].raw);
    if (!f) {
        f = driver_symbol(entry_name(id));
        if (!f || ours(f))
            return NULL;
        release(&entries[id].raw, f);
    }
    return f;
}
