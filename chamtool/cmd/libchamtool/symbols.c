// The symbols of the places in the program that events name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "ring.h"

_Atomic uint64_t unloads;

// symbols are the functions of tasks, by place. They are looked up where the first task of
// a function is created: the library may be unloaded before the reader has the event.
static struct {
    _Atomic uint64_t place;
    _Atomic int ready;
    char *file;
    uint64_t offset;
} symbols[1 << 12];

static int look_up(uint64_t place, char **file, uint64_t *offset) {
    Dl_info info;
    uint64_t address = place & ((1ull << UNLOADS) - 1);
    if (!dladdr((void *)(uintptr_t)address, &info) || !info.dli_fname) return 0;
    *file = (char *)info.dli_fname;
    *offset = address - (uint64_t)(uintptr_t)info.dli_fbase;
    return 1;
}

static size_t slot_of(uint64_t place) { return (size_t)((place * 0x9e3779b97f4a7c15ull) >> 52); }

void note_place(uint64_t place) {
    size_t n = sizeof symbols / sizeof *symbols;
    for (size_t i = slot_of(place), tries = 0; tries < n; i = (i + 1) % n, tries++) {
        uint64_t there = atomic_load(&symbols[i].place);
        if (there == place) return;
        if (there || !atomic_compare_exchange_strong(&symbols[i].place, &there, place)) continue;
        char *file = NULL;
        if (look_up(place, &file, &symbols[i].offset)) symbols[i].file = strdup(file);
        atomic_store(&symbols[i].ready, 1);
        return;
    }
}

static int count_unloads(struct dl_phdr_info *info, size_t size, void *count) {
    (void)size;
    *(uint64_t *)count = info->dlpi_subs;
    return 1;
}

void notice_unloads(void) {
    static _Atomic uint64_t known;
    uint64_t now = 0, before = atomic_load(&known);
    dl_iterate_phdr(count_unloads, &now);
    if (now != before && atomic_compare_exchange_strong(&known, &before, now)) atomic_fetch_add(&unloads, 1ull << UNLOADS);
}

// chamtool_symbol finds the file that holds a place, and the place's offset in it, which is the
// same on every rank and in every run.
int chamtool_symbol(uint64_t place, char **file, uint64_t *offset) {
    size_t n = sizeof symbols / sizeof *symbols;
    for (size_t i = slot_of(place), tries = 0; tries < n && atomic_load(&symbols[i].place); i = (i + 1) % n, tries++) {
        if (atomic_load(&symbols[i].place) != place || !atomic_load(&symbols[i].ready)) continue;
        *file = symbols[i].file, *offset = symbols[i].offset;
        return symbols[i].file != NULL;
    }
    return look_up(place, file, offset);
}
