// The host, and what else a test makes it do in its first iterations, by variables of the environment:
// HOST_REFUSE=EVENT, HOST_CHDIR=DIRECTORY, HOST_FORK=1, HOST_DEATH=HOW and HOST_AWAIT=FILE.
static int is_refused(int event);
static void begin_iteration(int iteration);
static void end_iteration(int iteration);

#define REFUSES(event) is_refused(event)
#define BEGUN(iteration) begin_iteration(iteration)
#define RAN(iteration) end_iteration(iteration)
#include "host.c"

#include <signal.h>
#include <sys/wait.h>

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static int is_refused(int event) { return event == atoi(variable("HOST_REFUSE")); }

// in_child uses the tool where it cannot work: it must neither hang nor crash.
static void in_child(void) {
    pid_t child = fork();
    if (child < 0) die("fork", "failed");
    if (child == 0) {
        host_task t;
        fill(&t, 1);
        create(&t, 0);
        run(&t, NULL, 0, 0);
        if (host.on && host.tool->finalize) host.tool->finalize(&host.tool->data);
        _exit(7);
    }
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) die("fork", "the child did not end well");
}

static void begin_iteration(int iteration) {
    const char *directory = variable("HOST_CHDIR");
    if (iteration > 0) return;
    if (*variable("HOST_FORK")) in_child();
    if (*directory && chdir(directory)) die("HOST_CHDIR", "cannot");
}

// lines_of counts the lines of a file; one that is not there has none.
static int lines_of(const char *path) {
    FILE *f = *path ? fopen(path, "r") : NULL;
    int n = 0;
    if (!f) return 0;
    for (int c; (c = getc(f)) != EOF;) n += c == '\n';
    fclose(f);
    return n;
}

// end_iteration ends the second one once the tool has written the log of the tasks of the first one.
static void end_iteration(int iteration) {
    const char *how = variable("HOST_DEATH");
    if (iteration != 1 || !*how) return;
    for (int tries = 0; lines_of(variable("HOST_AWAIT")) <= option.tasks; tries++) {
        if (tries == 600 * 100) die("HOST_AWAIT", "the file does not grow");
        usleep(10000); // until the tool has flushed
    }
    if (!strcmp(how, "term")) raise(SIGTERM);
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "exit")) _exit(0);
    if (!strcmp(how, "segv")) raise(SIGSEGV);
}
