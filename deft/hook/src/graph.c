/*
 * What a launch of a CUDA graph costs: as much as its kernels, by their number
 * and, once the graph has run by itself, by the time that took.
 */
#define _GNU_SOURCE
#include "deft.h"

static struct table graphs = TABLE; /* by executable graph */
static uint64_t changes;            /* of the table; what threads remember is of one value */

static __thread struct {
    void *exec;
    uint64_t as_of;
    struct deft_row row;
} last __attribute__((tls_model("initial-exec")));

static void graph_put(void *exec, struct deft_row row) {
    table_put(&graphs, (uint64_t)exec, row);
    add(&changes, 1);
}

void graph_made(void *exec, void *graph) {
    static int (*get_nodes)(void *, void **, size_t *);
    size_t nodes = 1;
    if (!load(&get_nodes))
        store(&get_nodes, (int (*)(void *, void **, size_t *))driver_symbol("cuGraphGetNodes"));
    inside++;
    if (!load(&get_nodes) || load(&get_nodes)(graph, NULL, &nodes) != CU_SUCCESS || nodes == 0)
        nodes = 1;
    inside--;
    graph_put(exec, (struct deft_row){.kernels = nodes});
}

void graph_lost(void *exec) {
    struct deft_row row;
    table_take(&graphs, (uint64_t)exec, &row);
    add(&changes, 1);
}

struct deft_row graph_cost(void *exec) {
    uint64_t now = load(&changes);
    if (likely(last.exec == exec && last.as_of == now))
        return last.row;
    struct deft_row row = {.kernels = 1};
    table_get(&graphs, (uint64_t)exec, &row);
    last.exec = exec;
    last.as_of = now;
    last.row = row;
    return row;
}

/* Others may have had the device meanwhile: a shorter time counts at once, a
   longer one for an eighth. */
void graph_ran(void *exec, uint64_t ns) {
    struct deft_row row;
    if (ns == 0 || !table_get(&graphs, (uint64_t)exec, &row))
        return;
    row.ns = row.ns == 0 || ns < row.ns ? ns : row.ns + (ns - row.ns) / 8;
    graph_put(exec, row);
}

uint64_t graph_weight(struct deft_row row, uint32_t launches, uint64_t bound_ns) {
    enum { MOST = 1 << 20 };
    uint64_t weight = row.kernels;
    if (row.ns && bound_ns && launches)
        weight = (uint64_t)((double)row.ns * launches / (double)bound_ns + 0.999);
    return weight < 1 ? 1 : weight > MOST ? MOST : weight;
}

void graphs_forget(void) {
    table_forget(&graphs);
    add(&changes, 1);
}
