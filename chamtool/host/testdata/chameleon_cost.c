/* What the tool's callbacks for the Chameleon library cost a thread: calls them as the library
 * does, a thousand times in a burst that a ring holds, and prints the medians of 41 bursts in ns
 * of CPU time, on one thread and on two at once. As in the library, whose tasks have just been
 * written when they are created, the tasks are few enough to stay in the cache. Each burst begins
 * with calls that are not counted: between bursts the caches hold other programs' data.
 *
 *   cc -O2 -o chameleon_cost chamtool/host/testdata/chameleon_cost.c -ldl -lpthread
 *   CHAMTOOL_LOG_FORMAT=none ./chameleon_cost ./libchamtool.so
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../src/interface.h"

enum { ROUNDS = 41, BURST = 1000, UNCOUNTED = 64, TASKS = 16, LOCAL = 1, START = 1, END = 3 };

struct host_task { data_t data; };

static function_t heard[18];
static int64_t sizes[3] = {8000, 8000, 8000}, types[3] = {1, 1, 1};
static rank_info_t rank = {0, 1};

static int hear(int event, function_t f) { heard[event] = f; return 5; }
static rank_info_t *info(void) { return &rank; }
static param_info_t params(host_task *t) { (void)t; return (param_info_t){3, sizes, types, NULL}; }
static meta_info_t meta(host_task *t) { (void)t; return (meta_info_t){(intptr_t)meta, 0, 0}; }

static function_t look(const char *name) {
	if (!strcmp(name, "cham_t_set_callback")) return (function_t)hear;
	if (!strcmp(name, "cham_t_get_rank_info")) return (function_t)info;
	if (!strcmp(name, "cham_t_get_task_param_info")) return (function_t)params;
	return strcmp(name, "cham_t_get_task_meta_info") ? NULL : (function_t)meta;
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * t.tv_sec + t.tv_nsec;
}

static int ascending(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static double middle(double *x) {
	qsort(x, ROUNDS, sizeof *x, ascending);
	return x[ROUNDS / 2] / BURST;
}

typedef struct { double create, schedule, sync; } costs;

static void *measure(void *into) {
	create_fn create = (create_fn)heard[3];
	schedule_fn schedule = (schedule_fn)heard[6];
	sync_fn sync = (sync_fn)heard[7];
	static __thread data_t thread;
	double created[ROUNDS], ran[ROUNDS], waited[ROUNDS], from = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct timespec nap = {0, 120000000};
		host_task task[TASKS] = {0};
		for (int i = -UNCOUNTED; i < BURST; i++) {
			if (i == 0) from = now();
			create(task + (i & (TASKS - 1)), &task[i & (TASKS - 1)].data, NULL);
		}
		created[round] = now() - from;
		for (int i = -UNCOUNTED; i < BURST; i++) {
			host_task *t = task + (i & (TASKS - 1));
			if (i == 0) from = now();
			schedule(t, LOCAL, &t->data, START, NULL, LOCAL, NULL);
			schedule(t, LOCAL, &t->data, END, NULL, LOCAL, NULL);
		}
		ran[round] = (now() - from) / 2;
		for (int i = -UNCOUNTED; i < BURST; i++) {
			if (i == 0) from = now();
			sync(1, 1, &thread, NULL);
		}
		waited[round] = now() - from;
		nanosleep(&nap, NULL);
	}
	*(costs *)into = (costs){middle(created), middle(ran), middle(waited)};
	return NULL;
}

static void print(const char *name, costs c) {
	printf("\"%s\": {\"create_ns\": %.1f, \"schedule_ns\": %.1f, \"sync_ns\": %.1f}", name, c.create, c.schedule, c.sync);
}

int main(int n, char **path) {
	void *library = n == 2 ? dlopen(path[1], RTLD_LAZY) : NULL;
	start_result_t *(*start)(unsigned) = library ? (start_result_t * (*)(unsigned)) dlsym(library, "cham_t_start_tool") : NULL;
	start_result_t *tool = start ? start(10) : NULL;
	if (!tool || !tool->initialize(look, &tool->data))
		return 1;
	costs alone, two[2];
	pthread_t id[2];
	pthread_create(id, NULL, measure, &alone);
	pthread_join(id[0], NULL);
	for (int i = 0; i < 2; i++) pthread_create(id + i, NULL, measure, two + i);
	for (int i = 0; i < 2; i++) pthread_join(id[i], NULL);
	printf("{"), print("alone", alone), printf(", "), print("first of two", two[0]), printf(", "), print("second of two", two[1]), printf("}\n");
	tool->finalize(&tool->data);
	return 0;
}
