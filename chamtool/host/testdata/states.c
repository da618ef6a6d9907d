// Three threads, of which two wait, sleep or compute for half a second; then the process ends.
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int MPI_Init(int *, char ***), MPI_Recv(void), MPI_Test(void *, int *, void *), MPI_Abort(void *, int);

static const char *how, *end, *file;

static void compute(double seconds) {
    for (double until = omp_get_wtime() + seconds; omp_get_wtime() < until;) {}
}

static double seconds_used(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// is_recorded reports whether the tool has written its summary after a time.
static int is_recorded(time_t after) {
    struct stat s;
    return stat(file, &s) == 0 && s.st_mtime > after;
}

static void end_process(void) {
    compute(0.5);
    if (!strcmp(end, "exit")) exit(0);
    if (!strcmp(end, "abort")) abort();
    if (!strcmp(end, "MPI_Abort")) MPI_Abort(NULL, 3);
    if (!strcmp(end, "fault")) raise(SIGSEGV);
    if (!strcmp(end, "terminate")) kill(getpid(), SIGTERM);
    for (time_t now = time(NULL); !is_recorded(now);) usleep(1000);
    raise(SIGKILL);
}

static void region(void) {
    int ready = 0;
    #pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() > 0) {
            #pragma omp atomic
            ready++;
            if (!strcmp(how, "waiting")) {
                #pragma omp barrier
            }
            if (!strcmp(how, "lock")) {
                while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 3) {}
                #pragma omp critical
                ready++;
            }
            if (!strcmp(how, "stopped")) sleep(100);
            if (!strcmp(how, "MPI")) MPI_Recv();
            if (!strcmp(how, "computing")) compute(1000);
        } else if (!strcmp(how, "lock")) {
            while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2) {}
            #pragma omp critical
            {
                __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
                end_process();
            }
        } else {
            while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2) {}
            end_process();
        }
    }
}

static void *short_region(void *unused) {
    #pragma omp parallel num_threads(1)
    compute(0.1);
    return unused;
}

int main(int argc, char **argv) {
    how = argv[1], end = argv[2], file = argv[3];
    pthread_t thread;
    int flag = 0;
    if (strcmp(how, "late")) MPI_Init(&argc, &argv);
    #pragma omp parallel num_threads(3)
    compute(0.1);
    if (!strcmp(how, "late")) MPI_Init(&argc, &argv);
    if (!strcmp(how, "pthread")) {
        pthread_create(&thread, NULL, short_region, NULL);
        pthread_join(thread, NULL);
        compute(0.5);
        return 0;
    }
    if (!strcmp(how, "poll")) {
        #pragma omp parallel num_threads(1)
        for (double until = seconds_used() + 0.3; seconds_used() < until;) MPI_Test(NULL, &flag, NULL);
        return 0;
    }
    if (!strcmp(how, "early") || !strcmp(how, "late")) return 0;
    if (!strcmp(how, "serial")) end_process();
    region();
}
