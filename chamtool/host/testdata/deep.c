// deep N nests N tasks in each other, on a thread with room for them.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int reached;

static void nest(int n) {
    if (n == 0) return;
    reached++;
#pragma omp task
    nest(n - 1);
#pragma omp taskwait
}

static void *run(void *n) {
#pragma omp parallel num_threads(1)
    nest(*(int *)n);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    pthread_attr_t room;
    pthread_t thread;
    pthread_attr_init(&room);
    pthread_attr_setstacksize(&room, 1ul << 30);
    if (pthread_create(&thread, &room, run, &n)) return 2;
    pthread_join(thread, NULL);
    printf("%d\n", reached);
    return 0;
}
