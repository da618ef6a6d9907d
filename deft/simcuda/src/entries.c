/* The table of entry points. Their parameters are of no interest here. */
#include "entries.h"

#include <string.h>

/* Declares them. */
#define ONE(base, since, f) void f(void);
#define TWO(base, since, f, second) void f(void), second(void);
#include "table.h"
#undef ONE
#undef TWO

static const struct entry entries[] = {
#define ONE(base, since, f) {#base, since, f, NULL},
#define TWO(base, since, f, second) {#base, since, f, second},
#include "table.h"
};

const struct entry *entry_find(const char *name, int version, int *known) {
    const struct entry *best = NULL;
    *known = 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].name, name)) continue;
        *known = 1;
        if (entries[i].since <= version && (!best || entries[i].since > best->since)) best = &entries[i];
    }
    return best;
}

const char *entry_name(size_t i) { return i < sizeof entries / sizeof *entries ? entries[i].name : NULL; }
