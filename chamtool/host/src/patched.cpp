// The two callbacks of the patched library that only C++ can call.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "interface.h"

typedef void (*create_with_vector)(host_task *, std::vector<int64_t>, double, intptr_t, int);
typedef std::vector<double> (*predict_vector)(int32_t, int);

void patched_create(function_t f, host_task *t, const int64_t *sizes, int32_t n, double queued, intptr_t entry, int iteration) {
    reinterpret_cast<create_with_vector>(f)(t, std::vector<int64_t>(sizes, sizes + n), queued, entry, iteration);
}

int32_t patched_predict(function_t f, int32_t iteration, int mode, double *values, int32_t room) {
    std::vector<double> v = reinterpret_cast<predict_vector>(f)(iteration, mode);
    int32_t n = std::min<int32_t>(room, static_cast<int32_t>(v.size()));
    std::copy(v.begin(), v.begin() + n, values);
    return n;
}
