// The tools interface as the host offers it: both dialects, from their
// documented binary layout. It is written apart from the tool's own header: a
// mistake in one of the two shows.
#ifndef HOST_INTERFACE_H
#define HOST_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct host_task host_task;
typedef union { uint64_t value; void *ptr; } data_t;
typedef void (*function_t)(void);

typedef struct {
    int (*initialize)(function_t (*lookup)(const char *), data_t *);
    void (*finalize)(data_t *);
    data_t data;
} start_result_t;

typedef struct { int32_t comm_rank, comm_size; } rank_info_t;
typedef struct { int32_t num_args; int64_t *arg_sizes; int64_t *arg_types; void **arg_pointers; } param_info_t;
typedef struct { intptr_t entry_ptr; int32_t idx_image; ptrdiff_t entry_image_offset; } meta_info_t;
typedef struct { int32_t task_id, rank_id; } tuple_t;

// Upstream's callbacks, and those that the patched library shares with it.
typedef void (*thread_fn)(data_t *);
typedef void (*create_fn)(host_task *, data_t *, const void *);
typedef void *(*encode_fn)(host_task *, data_t *, int32_t *);
typedef void (*decode_fn)(host_task *, data_t *, void *, int32_t);
typedef void (*schedule_fn)(host_task *, int, data_t *, int, host_task *, int, data_t *);
typedef void (*sync_fn)(int, int, data_t *, const void *);
typedef int32_t (*load_fn)(int32_t *, int32_t, int32_t *, int32_t, int32_t *, int32_t, int32_t *, int32_t);
typedef tuple_t *(*select_fn)(const int32_t *, int32_t *, int32_t, int32_t, int32_t *);

// The patched library's own.
typedef void (*iteration_load_fn)(int32_t, int32_t, double);
typedef void (*task_time_fn)(int32_t, int32_t, int, double);
typedef bool (*train_fn)(int32_t, int);
typedef int (*tasks_per_rank_fn)(int32_t);

// In patched.cpp: callbacks 3 and 16 pass a std::vector by value.
void patched_create(function_t f, host_task *t, const int64_t *sizes, int32_t n, double queued, intptr_t entry, int iteration);
int32_t patched_predict(function_t f, int32_t iteration, int mode, double *values, int32_t room);

#ifdef __cplusplus
}
#endif
#endif
