// A program that does to its process what the tool has to bear: see the names of main.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double sink;

static void work(void) {
    double x = 0;
    for (int i = 0; i < 2000; i++) x += sqrt(i);
    sink = x;
}

static void tasks(int n) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task
        work();
    }
}

static void nest(int depth) {
    work();
    if (depth == 1) return;
#pragma omp task
    nest(depth - 1);
#pragma omp taskwait
}

static long begun; // tasks of fibonacci

// fibonacci creates untied tasks that leave their threads.
static long fibonacci(int n) {
    long a, b;
    if (n < 2) return n;
#pragma omp task untied shared(a) firstprivate(n)
    {
#pragma omp atomic
        begun++;
#pragma omp taskyield
        a = fibonacci(n - 1);
    }
#pragma omp task untied shared(b) firstprivate(n)
    {
#pragma omp atomic
        begun++;
#pragma omp taskyield
        b = fibonacci(n - 2);
    }
#pragma omp taskwait
    return a + b;
}

static int fail(const char *what) {
    fprintf(stdout, "%s\n", what);
    return 1;
}

// close_all closes all descriptors from the first on, as a daemon does, and uses their
// numbers for files of its own. It returns an error if these then hold anything else.
static int close_all(int first) {
    char name[32], text[64];
    tasks(300);
    for (int fd = first; fd < 1024; fd++) close(fd);
    for (int k = 0; k < 64; k++) {
        snprintf(name, sizeof name, "own-%d.txt", k);
        int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
        if (fd < 0 || write(fd, "own\n", 4) != 4) return fail("write");
    }
    tasks(3000);
    usleep(700000); // the tool reads, flushes and writes
    tasks(100);
    for (int k = 0; k < 64; k++) {
        snprintf(name, sizeof name, "own-%d.txt", k);
        int fd = open(name, O_RDONLY);
        if (read(fd, text, sizeof text) != 4 || memcmp(text, "own\n", 4)) return fail(name);
        close(fd);
    }
    return 0;
}

// held_pipe expects the end of a pipe once it has closed the writing end, which existed when the
// tool started.
static int held_pipe(void) {
    int ends[2];
    char c;
    if (pipe(ends)) return fail("pipe");
    tasks(100);
    close(ends[1]);
    struct pollfd p = {ends[0], POLLIN, 0};
    if (poll(&p, 1, 10000) != 1 || read(ends[0], &c, 1) != 0) return fail("no end of the pipe");
    tasks(100);
    return 0;
}

// descriptors expects the tool to use none of the program's.
static int descriptors(void) {
    int before = open("/dev/null", O_RDONLY), after;
    close(before);
    tasks(100);
    after = open("/dev/null", O_RDONLY);
    return after == before ? 0 : fail("the tool opened a descriptor here");
}

static int forks(void) {
    tasks(100);
    pid_t child = fork();
    if (child == 0) {
        tasks(50);
        exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status) return fail("the child failed");
    tasks(100);
    return 0;
}

// await_rows waits until the tool has written a number of rows of its log.
static void await_rows(int rows) {
    for (int lines = 0; rows > 0 && lines <= rows; usleep(10000)) {
        FILE *log = fopen("logs/chamtool_rank_0.csv", "r");
        lines = 0;
        if (!log) continue;
        for (int c; (c = getc(log)) != EOF;) lines += c == '\n';
        fclose(log);
    }
}

// plugins loads and unloads two libraries in turn. Each runs 50 tasks a time.
static int plugins(int n, char **libraries) {
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < n; i++) {
            void *library = dlopen(libraries[i], RTLD_NOW);
            if (!library) return fail(dlerror());
            void (*run)(void) = (void (*)(void))dlsym(library, "run");
            run();
            dlclose(library);
        }
    return 0;
}

int main(int argc, char **argv) {
    const char *how = argv[1];
    if (!strcmp(how, "close")) return close_all(3);
    if (!strcmp(how, "close-standard")) return close_all(0);
    if (!strcmp(how, "pipe")) return held_pipe();
    if (!strcmp(how, "descriptors")) return descriptors();
    if (!strcmp(how, "fork")) return forks();
    if (!strcmp(how, "plugins")) return plugins(argc - 2, argv + 2);
    if (!strcmp(how, "nest")) {
#pragma omp parallel
#pragma omp single
        {
#pragma omp task
            nest(1000);
        }
    }
    if (!strcmp(how, "flood")) tasks(200000);
    if (!strcmp(how, "untied")) {
#pragma omp parallel
#pragma omp single
        fibonacci(14);
        printf("%ld\n", begun);
    }
    if (!strcmp(how, "_exit") || !strcmp(how, "exec")) {
        tasks(1000);
        await_rows(atoi(argv[2]));
        tasks(1000);
        if (!strcmp(how, "_exit")) _exit(0);
        execl("/bin/true", "true", (char *)0);
    }
    return 0;
}
