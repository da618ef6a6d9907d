/*
 * The number of kernels of a CUDA graph.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "queue.h"
#include "table.h"

enum { DEEPEST = 8 }; /* of graphs in graphs */

static struct table graphs = TABLE; /* by executable graph */
static uint64_t changes;            /* of the table: a thread forgets its last row when this changes */

static __thread struct {
    void *exec;
    uint64_t as_of, kernels;
} last FAST;

/* The kernels of a graph, those of its child graphs among them. If the driver
   does not know a node's type, the node counts; copies and waits do not. A
   conditional node runs an unknown number of times: it counts once. */
static uint64_t count_kernels(void *graph, int depth) {
    size_t n = 0;
    uint64_t sum = 0;
    if (CALL3("cuGraphGetNodes", graph, NULL, &n) != CU_SUCCESS)
        return 1;
    void **nodes = n ? calloc(n, sizeof *nodes) : NULL;
    if (!nodes || CALL3("cuGraphGetNodes", graph, nodes, &n) != CU_SUCCESS) {
        free(nodes);
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        int type = CU_NODE_KERNEL;
        void *inner;
        if (CALL2("cuGraphNodeGetType", nodes[i], &type) == CU_SUCCESS && type == CU_NODE_GRAPH && depth < DEEPEST &&
            CALL2("cuGraphChildGraphNodeGetGraph", nodes[i], &inner) == CU_SUCCESS)
            sum += count_kernels(inner, depth + 1);
        else
            sum += type == CU_NODE_KERNEL || type == CU_NODE_GRAPH || type == CU_NODE_CONDITIONAL;
    }
    free(nodes);
    return sum;
}

void graph_update(void *exec, void *graph) {
    uint64_t n = count_kernels(graph, 0);
    table_put(&graphs, (uint64_t)exec, (struct deft_row){.kernels = n ? n : 1});
    struct deft_slot *s = acquire(&this_member->slot);
    for (uint64_t most = load(&s->most_kernels); n > most && !swap_if(&s->most_kernels, &most, n);)
        ;
    add(&changes, 1);
}

void graph_remove(void *exec) {
    struct deft_row row;
    table_remove(&graphs, (uint64_t)exec, &row);
    add(&changes, 1);
}

uint64_t graph_kernels(void *exec) {
    uint64_t now = load(&changes);
    if (likely(last.exec == exec && last.as_of == now))
        return last.kernels;
    struct deft_row row = {.kernels = 1};
    table_get(&graphs, (uint64_t)exec, &row);
    last.exec = exec;
    last.as_of = now;
    last.kernels = row.kernels;
    return row.kernels;
}

void graphs_forget(void) {
    table_forget(&graphs);
    add(&changes, 1);
}
