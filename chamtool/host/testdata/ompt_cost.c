/* What the tool's OMPT callbacks cost a thread: drives them as a runtime does, a
 * thousand tasks in a burst, and prints the medians of 41 bursts in ns of CPU time.
 *
 *   cc -O2 -o ompt_cost chamtool/host/testdata/ompt_cost.c -ldl
 *   CHAMTOOL_LOG_FORMAT=none ./ompt_cost ./libchamtool.so
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TASKS = 1000, BURSTS = 41 };

typedef union { uint64_t value; void *ptr; } data;
typedef void (*function)(void);
struct tool { int (*initialize)(function (*)(const char *), int, data *); void (*finalize)(data *); data data; };

static function heard[64];
static uint64_t block[10];

static int hear(int event, function f) { heard[event] = f; return 5; }

static int memory(void **at, size_t *size, int number) {
	(void)number;
	*at = (char *)block + 4, *size = sizeof block - 4;
	return 1;
}

static function look(const char *name) {
	if (!strcmp(name, "ompt_set_callback"))
		return (function)hear;
	return strcmp(name, "ompt_get_task_memory") ? NULL : (function)memory;
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * t.tv_sec + t.tv_nsec;
}

static int ascending(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static double middle(double *x) {
	qsort(x, BURSTS, sizeof *x, ascending);
	return x[BURSTS / 2] / TASKS;
}

int main(int n, char **path) {
	void *library = n == 2 ? dlopen(path[1], RTLD_LAZY) : NULL;
	struct tool *(*start)(unsigned, const char *) = library ? (struct tool * (*)(unsigned, const char *)) dlsym(library, "ompt_start_tool") : NULL;
	struct tool *tool = start ? start(201611, "none") : NULL;
	if (!tool || !tool->initialize(look, 0, &tool->data))
		return 1;
	void (*create)(data *, void *, data *, int, int, void *) = (void (*)(data *, void *, data *, int, int, void *))heard[5];
	void (*schedule)(data *, int, data *) = (void (*)(data *, int, data *))heard[6];
	void (*sync)(int, int, data *, data *, void *) = (void (*)(int, int, data *, data *, void *))heard[23];
	static data task[TASKS];
	data main_task = {0};
	double created[BURSTS], ran[BURSTS], waited[BURSTS];
	for (int b = 0; b < BURSTS; b++) {
		struct timespec nap = {0, 3000000};
		memset(task, 0, sizeof task);
		double t0 = now();
		for (int i = 0; i < TASKS; i++)
			create(&main_task, NULL, task + i, 4, 0, (void *)qsort); // which is not in the file of the function that stands for the runtime
		double t1 = now();
		for (int i = 0; i < TASKS; i++) {
			block[5] = i % 7, block[6] = 100 + i % 3;
			schedule(&main_task, 7, task + i);
			schedule(task + i, 1, &main_task);
		}
		double t2 = now();
		for (int i = 0; i < TASKS; i++) {
			sync(5, 1, NULL, &main_task, NULL);
			sync(5, 2, NULL, &main_task, NULL);
		}
		created[b] = t1 - t0, ran[b] = t2 - t1, waited[b] = (now() - t2) / 2;
		nanosleep(&nap, NULL);
	}
	printf("{\"create_ns\": %.1f, \"start_and_end_ns\": %.1f, \"sync_ns\": %.1f}\n", middle(created), middle(ran), middle(waited));
	tool->finalize(&tool->data);
	return 0;
}
