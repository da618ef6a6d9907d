/* An OMPT tool whose callbacks do nothing: the part of a tool's cost that is the runtime's own.
 *
 *   cc -O2 -shared -fPIC -o ompt_empty.so chamtool/host/testdata/ompt_empty.c
 *   ./ompt_cost ./ompt_empty.so
 */
#include <stddef.h>
#include <stdint.h>

typedef union { uint64_t value; void *ptr; } data;
typedef void (*function)(void);

static void create(data *parent, void *frame, data *task, int flags, int dependences, void *place) {}
static void schedule(data *prior, int status, data *next) {}
static void sync_region(int kind, int endpoint, data *region, data *task, void *place) {}

static int initialize(function (*look)(const char *), int device, data *tool) {
	int (*hear)(int, function) = (int (*)(int, function))look("ompt_set_callback");
	hear(5, (function)create);
	hear(6, (function)schedule);
	hear(23, (function)sync_region);
	return 1;
}

static void finalize(data *tool) {}

void *ompt_start_tool(unsigned version, const char *runtime) {
	static struct { int (*initialize)(function (*)(const char *), int, data *); void (*finalize)(data *); data data; } tool = {initialize, finalize};
	return &tool;
}
