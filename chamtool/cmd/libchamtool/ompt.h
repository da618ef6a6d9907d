// The tools interface of OpenMP, as far as the tool uses it, written from the
// specification: OpenMP 5.2, section 19 (OMPT); names are shortened.
#ifndef CHAMTOOL_OMPT_H
#define CHAMTOOL_OMPT_H

#include <stddef.h>
#include <stdint.h>

typedef union { uint64_t value; void *ptr; } ompt_data;
typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);

struct ompt_start_tool_result {
    int (*initialize)(ompt_lookup lookup, int initial_device, ompt_data *data);
    void (*finalize)(ompt_data *data);
    ompt_data data;
};

enum { // ompt_callbacks_t
    OMPT_THREAD_BEGIN = 1,
    OMPT_THREAD_END = 2,
    OMPT_PARALLEL_BEGIN = 3,
    OMPT_PARALLEL_END = 4,
    OMPT_TASK_CREATE = 5,
    OMPT_TASK_SCHEDULE = 6,
    OMPT_IMPLICIT_TASK = 7,
    OMPT_CONTROL_TOOL = 11,
    OMPT_SYNC_REGION_WAIT = 16,
    OMPT_DEPENDENCES = 18,
    OMPT_WORK = 20,
    OMPT_SYNC_REGION = 23,
    OMPT_MUTEX_ACQUIRE = 26,
    OMPT_MUTEX_ACQUIRED = 27,
};

enum { OMPT_BEGIN = 1, OMPT_END = 2 }; // ompt_scope_endpoint_t

enum { OMPT_WORK_TASKLOOP = 7 }; // of ompt_work_t

enum { OMPT_THREAD_WORKER = 2 }; // of ompt_thread_t
enum { OMPT_TASK_IMPLICIT = 0x2, OMPT_TASK_EXPLICIT = 0x4, OMPT_TASK_UNDEFERRED = 0x8000000, OMPT_TASK_FINAL = 0x20000000 }; // of ompt_task_flag_t

enum { OMPT_BARRIER_IMPLICIT = 2, OMPT_TASKWAIT = 5, OMPT_TASKGROUP = 6, OMPT_REDUCTION = 7, OMPT_BARRIER_IMPLICIT_PARALLEL = 9 }; // of ompt_sync_region_t

enum { OMPT_TEST_LOCK = 2, OMPT_TEST_NEST_LOCK = 4 }; // of ompt_mutex_t

typedef struct { ompt_data variable; int type; } ompt_dependence;

enum { // ompt_dependence_type_t; the others write
    OMPT_DEPENDENCE_IN = 1,
    OMPT_DEPENDENCE_MUTEXINOUTSET = 4,
    OMPT_DEPENDENCE_INOUTSET = 7,
    OMPT_DEPENDENCE_OUT_ALL_MEMORY = 34,
    OMPT_DEPENDENCE_INOUT_ALL_MEMORY = 35,
};

enum { // ompt_task_status_t
    OMPT_TASK_COMPLETE = 1,
    OMPT_TASK_YIELD = 2,
    OMPT_TASK_CANCEL = 3,
    OMPT_TASK_DETACH = 4,
    OMPT_TASK_LATE_FULFILL = 6,
    OMPT_TASK_SWITCH = 7,
};

enum { OMPT_SET_SOMETIMES = 3 }; // of ompt_set_result_t; less is error, never, impossible

#endif
