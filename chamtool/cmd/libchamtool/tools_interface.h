// The tools interface of the Chameleon library, as far as the tool uses it,
// written from its documented binary layout.
#ifndef CHAMTOOL_TOOLS_INTERFACE_H
#define CHAMTOOL_TOOLS_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

typedef union { uint64_t value; void *ptr; } tool_data;
typedef void (*any_function)(void);
typedef any_function (*lookup_function)(const char *name);

struct start_tool_result {
    int (*initialize)(lookup_function lookup, tool_data *data);
    void (*finalize)(tool_data *data);
    tool_data data;
};

struct rank_info { int32_t rank, size; };
struct task_params { int32_t n; int64_t *sizes; int64_t *types; void **pointers; };
struct task_meta { intptr_t entry; int32_t image; ptrdiff_t offset; };
struct migration { int32_t task; int32_t rank; };

enum {
    ARG_LITERAL = 0x100,
    TASK_LOCAL = 1, TASK_REMOTE = 2, TASK_REPLICATED = 4,
    SCHEDULE_START = 1, SCHEDULE_YIELD = 2, SCHEDULE_END = 3, SCHEDULE_CANCEL = 4,
    SYNC_START = 1, SYNC_END = 2,
    SET_ERROR = 0, SET_NEVER = 1, SET_IMPOSSIBLE = 2,
};

enum {
    CALLBACK_THREAD_INIT = 1,
    CALLBACK_TASK_CREATE = 3,
    CALLBACK_ENCODE = 4,
    CALLBACK_DECODE = 5,
    CALLBACK_TASK_SCHEDULE = 6,
    CALLBACK_SYNC_REGION = 7,
    CALLBACK_LOCAL_LOAD = 8,
    CALLBACK_MIGRATION = 10,
    CALLBACK_ITERATION_LOAD = 13, // patched, as all below
    CALLBACK_TRAIN = 15,
    CALLBACK_PREDICT = 16,
    CALLBACK_TASKS_PER_RANK = 17,
};

#endif
