/* The driver's entry points by name and version. */
#ifndef SIMCUDA_ENTRIES_H
#define SIMCUDA_ENTRIES_H

#include <stddef.h>

struct entry {
    const char *name;
    int since;                           /* CUDA version: major * 1000 + minor * 10 */
    void (*plain)(void);
    void (*per_thread)(void); /* NULL: the same as plain */
};

/* The newest entry of the name that is not newer than the version: NULL for
 * none. known says whether any version has the name. */
const struct entry *entry_find(const char *name, int version, int *known);

/* The name of row i of the table; NULL past its end. */
const char *entry_name(size_t i);

#endif
