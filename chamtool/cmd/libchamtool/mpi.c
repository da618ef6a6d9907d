// Time in MPI. Where the library is preloaded, these functions stand before those of MPI. They
// pass their arguments on as words, which holds for every MPI on 64-bit systems, since none is a
// floating-point number, so no header of MPI is needed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "ring.h"

#define WORDS long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m
#define GIVEN a, b, c, d, e, f, g, h, i, j, k, l, m
typedef long (*mpi_function)(WORDS);

enum { MPI_ERROR = 16 }; // any but 0

struct wanted {
    const char *name, *library;
    void *found;
};

// find_in looks for a function in a loaded library.
static int find_in(struct dl_phdr_info *info, size_t size, void *p) {
    (void)size;
    struct wanted *w = p;
    if (!info->dlpi_name || !strstr(info->dlpi_name, w->library)) return 0;
    void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return 0;
    w->found = dlsym(library, w->name);
    dlclose(library);
    return w->found != NULL;
}

// find_next returns the function that this library stands before. A program such as an interpreter
// may have loaded it where the search that begins behind this library does not see it.
void *find_next(const char *name, const char *library) {
    struct wanted w = {name, library, dlsym(RTLD_NEXT, name)};
    if (!w.found) dl_iterate_phdr(find_in, &w);
    if (!w.found) fprintf(stderr, "chamtool: %s was called, but no library that has it is loaded\n", name);
    return w.found;
}

static __thread int in_mpi; // calls that contain the present one: MPI's Fortran functions may call those of C

// call_early makes a call that is no work of the program: MPI_Init, or one before the first use of
// OpenMP. r is NULL there.
static long call_early(struct ring *r, mpi_function next, WORDS) {
    struct place_time *before = r ? r->state : NULL;
    if (before) change_state(r, NULL, ticks());
    uint64_t begin = nanoseconds(CLOCK_MONOTONIC), cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    in_mpi++;
    long result = next(GIVEN);
    in_mpi--;
    atomic_fetch_add(&early.calls, 1);
    atomic_fetch_sub(&early.ns, nanoseconds(CLOCK_MONOTONIC) - begin);
    atomic_fetch_sub(&early.cpu, nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    if (before) change_state(r, before, ticks());
    return result;
}

// POLL_TICKS is the time between two polls in which the program does little else, some microseconds.
enum { POLL_TICKS = 10000 };

static __thread uint64_t polled; // tick at which the thread's last call of MPI returned that nothing is done yet, or 0

// call_mpi makes a call of MPI. is_done points to the answer of a poll, NULL for other calls. A short
// time between a poll that finds nothing and the next call counts as that of the call.
static long call_mpi(mpi_function *next, const char *name, void *place, const int *is_done, WORDS) {
    if (!*next && !(*next = (mpi_function)find_next(name, "libmpi"))) return MPI_ERROR;
    static _Atomic int initialized; // the first call is MPI_Init
    if (in_mpi) return (*next)(GIVEN);
    struct ring *r = on() ? my_ring() : NULL;
    if (!atomic_exchange(&initialized, 1) || !r) return call_early(r, *next, GIVEN);
    struct place_time *before = r->state;
    uint64_t at = ticks();
    if (r->since == polled && at - polled < POLL_TICKS) at = polled;
    wait_in(r, !r->computing || r->computing == other_time(r, TIME_SERIAL) ? TIME_MPI_ALONE : TIME_MPI, place_of(r, (uint64_t)(uintptr_t)place), at);
    in_mpi++;
    long result = (*next)(GIVEN);
    in_mpi--;
    at = ticks();
    polled = is_done && !*is_done ? at : 0;
    change_state(r, before, at);
    return result;
}

#define PASS(function, is_done) \
    EXPORT long function(WORDS) { \
        static mpi_function next; \
        return call_mpi(&next, #function, __builtin_return_address(0), (const int *)(is_done), GIVEN); \
    }

// LAST is a function that ends the program: what is pending is written before it.
#define LAST(function) PASS(function, (write_pending(), NULL))

// Of each function the names for C, for Fortran, and for Fortran's module mpi_f08.
#define POLL(C, fortran, is_done) PASS(MPI_##C, is_done) PASS(mpi_##fortran##_, is_done) PASS(mpi_##fortran##_f08_, is_done)
#define MPI(C, fortran) POLL(C, fortran, NULL)

LAST(MPI_Abort)
LAST(mpi_abort_)
LAST(mpi_abort_f08_)
MPI(Init, init)
MPI(Init_thread, init_thread)
MPI(Finalize, finalize)
MPI(Barrier, barrier)
MPI(Bcast, bcast)
MPI(Gather, gather)
MPI(Gatherv, gatherv)
MPI(Scatter, scatter)
MPI(Scatterv, scatterv)
MPI(Allgather, allgather)
MPI(Allgatherv, allgatherv)
MPI(Alltoall, alltoall)
MPI(Alltoallv, alltoallv)
MPI(Alltoallw, alltoallw)
MPI(Reduce, reduce)
MPI(Allreduce, allreduce)
MPI(Reduce_scatter, reduce_scatter)
MPI(Reduce_scatter_block, reduce_scatter_block)
MPI(Scan, scan)
MPI(Exscan, exscan)
MPI(Neighbor_allgather, neighbor_allgather)
MPI(Neighbor_allgatherv, neighbor_allgatherv)
MPI(Neighbor_alltoall, neighbor_alltoall)
MPI(Neighbor_alltoallv, neighbor_alltoallv)
MPI(Neighbor_alltoallw, neighbor_alltoallw)
MPI(Send, send)
MPI(Ssend, ssend)
MPI(Rsend, rsend)
MPI(Bsend, bsend)
MPI(Recv, recv)
MPI(Mrecv, mrecv)
MPI(Sendrecv, sendrecv)
MPI(Sendrecv_replace, sendrecv_replace)
MPI(Probe, probe)
MPI(Mprobe, mprobe)
POLL(Iprobe, iprobe, d)
MPI(Wait, wait)
MPI(Waitall, waitall)
MPI(Waitany, waitany)
MPI(Waitsome, waitsome)
POLL(Test, test, b)
POLL(Testall, testall, c)
POLL(Testany, testany, d)
POLL(Testsome, testsome, c)
MPI(Comm_dup, comm_dup)
MPI(Comm_split, comm_split)
MPI(Comm_create, comm_create)
MPI(Comm_free, comm_free)
MPI(Win_fence, win_fence)
MPI(Win_start, win_start)
MPI(Win_complete, win_complete)
MPI(Win_wait, win_wait)
MPI(Win_lock, win_lock)
MPI(Win_lock_all, win_lock_all)
MPI(Win_unlock, win_unlock)
MPI(Win_unlock_all, win_unlock_all)
MPI(Win_flush, win_flush)
MPI(Win_flush_all, win_flush_all)
MPI(File_open, file_open)
MPI(File_close, file_close)
MPI(File_read_all, file_read_all)
MPI(File_write_all, file_write_all)
MPI(File_read_at_all, file_read_at_all)
MPI(File_write_at_all, file_write_at_all)
