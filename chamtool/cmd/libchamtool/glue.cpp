//go:build chamtool_patched

// The two callbacks of the patched library that pass a std::vector by value,
// which only C++ can take. Everything they do is done in C.
#include <cstdint>
#include <vector>

#include "tools_interface.h"

extern "C" {
void chamtool_patched_create(void *task, uint64_t entry, int32_t iteration);
int32_t chamtool_patched_predict(int32_t iteration, int32_t mode, double *values, int32_t room);
void chamtool_patched_callbacks(any_function *create, any_function *predict);
}

static void create(void *task, std::vector<int64_t> sizes, double queued, intptr_t entry, int iteration) {
    (void)sizes, (void)queued; // the sizes are asked for when the task begins
    chamtool_patched_create(task, (uint64_t)entry, iteration);
}

static std::vector<double> predict(int32_t iteration, int mode) {
    std::vector<double> values(1 << 16);
    int32_t n = chamtool_patched_predict(iteration, mode, values.data(), (int32_t)values.size());
    values.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return values;
}

void chamtool_patched_callbacks(any_function *on_create, any_function *on_predict) {
    *on_create = (any_function)create;
    *on_predict = (any_function)predict;
}
