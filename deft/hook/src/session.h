/*
 * The deft session: one page-aligned region of shared memory through which a
 * policy owner (deft run, deft daemon, deft doctor) and the clients on the GPUs (processes
 * under libdeft.so) talk.
 *
 * Who writes what:
 *   header         the creator, once; the owner words by the owner
 *   slot           the client that claims it, but for state, which the owner
 *                  may take from active to idle (DEFT_IDLE), priority and
 *                  weight, which it may change, and the last line: the owner's
 *                  directives (a new client closes its own gate where the
 *                  header's arrivals say so)
 *
 * Nobody holds a lock. A word is changed by one atomic store, add or
 * compare-and-swap, so a process may die between any two instructions and
 * leave a session that the others can read.
 *
 * All integers are little-endian and naturally aligned. Times are nanoseconds
 * of CLOCK_MONOTONIC. The Go package deft/internal/session maps the same bytes; its
 * test compares every offset with this file.
 */
#ifndef DEFT_SESSION_H
#define DEFT_SESSION_H

#include <stdint.h>

#define DEFT_MAGIC 0x0053455354464544ull /* "DEFTSES\0" in memory */
#define DEFT_VERSION 4u
#define DEFT_SLOTS 256u
#define DEFT_NAME 32u

/*
 * A process as one word: its id in the upper half, the low 32 bits of its
 * start time in clock ticks (field 22 of /proc/PID/stat) in the lower. One
 * word can be claimed by one compare-and-swap, and a reused process id does
 * not match. 0 is none.
 *
 * The claim of a slot has DEFT_HAS_LEFT set once its client has ended in good
 * order: from then on anyone may take the slot.
 */
typedef uint64_t deft_identity;
#define DEFT_HAS_LEFT (1ull << 63)

/* deft_header.owner_state */
enum {
    DEFT_OWNER_NONE = 0,   /* no owner yet: directives do not count */
    DEFT_OWNER_ACTIVE = 1, /* directives count while the owner is alive */
    DEFT_OWNER_GONE = 2    /* the owner has ended in good order */
};

/* deft_slot.state */
enum {
    DEFT_FREE = 0,
    DEFT_CLAIMED = 1, /* the claim is set, the other words are being filled in */
    DEFT_IDLE = 2,    /* registered, no job; the owner may set this where it
                         was DEFT_ACTIVE, after idle_ns without a launch */
    DEFT_ACTIVE = 3,  /* a job is running */
    DEFT_LEFT = 4     /* the client has ended; its counters stay to be read */
};

/* deft_slot.paths: how the program reached the driver, one bit each */
enum {
    DEFT_PATH_DLSYM = 1 << 0,      /* dlsym gave a wrapped entry point */
    DEFT_PATH_GETPROC = 1 << 1,    /* cuGetProcAddress did */
    DEFT_PATH_GETPROC_V2 = 1 << 2, /* cuGetProcAddress_v2 did */
    DEFT_PATH_PER_THREAD = 1 << 3, /* ... a per-thread default stream variant */
    DEFT_PATH_LINKED = 1 << 4,     /* a call bound at link time came through */
    DEFT_PATH_SHIM = 1 << 5,       /* libdeft replaces libcuda.so.1 */
    DEFT_PATH_DLOPEN = 1 << 6,     /* libcuda was opened with dlopen */
    DEFT_PATH_DEEPBIND = 1 << 7,   /* RTLD_DEEPBIND was seen and left alone */
    DEFT_PATH_STRIPPED = 1 << 8,   /* RTLD_DEEPBIND was seen and taken out */
    DEFT_PATH_EXPORT_TABLE = 1 << 9, /* cuGetExportTable gave a private table */
    DEFT_PATH_LOADED = 1 << 10,      /* the driver was loaded when the program ended */
    DEFT_PATH_NAMESPACE = 1 << 11    /* dlmopen opened a namespace, which has no hook */
};

/* Directive: the gate word, on which a stopped client sleeps (futex). */
enum {
    DEFT_GATE_OPEN = 0,
    DEFT_GATE_CLOSED = 1,
    DEFT_GATE_WATCHED = 2 /* open; the next launch or copy makes it DEFT_GATE_OPEN and
                             rings: others use the device meanwhile */
};

struct deft_slot {
    /* line 0: who, written while state is DEFT_CLAIMED */
    deft_identity claim;   /* 0 = free; taken by compare-and-swap */
    uint32_t state;        /* DEFT_FREE ... DEFT_LEFT */
    int32_t priority;      /* larger is more urgent; 0 is the default */
    uint32_t weight;       /* share of the device, at least 1 */
    uint32_t epoch;        /* how many clients have held this slot */
    uint64_t pidns;        /* inode of the client's pid namespace, 0 unknown */
    char name[DEFT_NAME];  /* zero-terminated */

    /* line 1: counters of every launch */
    uint64_t launches;  /* kernels and graphs given to the driver */
    uint64_t syncs;     /* synchronization points that the hook added */
    uint64_t stall_ns;  /* time in those and in waits for the in-flight bound */
    uint64_t gate_ns;   /* time at the closed gate, drain included */
    uint64_t gpu_ns;    /* estimate: time with work queued, gate time excluded,
                           counted at each synchronization */
    uint64_t captured;  /* launches recorded by a stream capture, not run */
    uint64_t emptied;   /* value of launches when the queue was last known to
                           be empty: launches - emptied bounds what is queued */
    uint32_t waiting;   /* threads asleep at the gate */
    uint32_t stops;     /* times a launch found the gate closed */

    /* line 2: jobs */
    uint64_t job;          /* sequence number of the last job begun, from 1 */
    uint64_t job_begin_ns; /* of that job */
    uint64_t deadline_ns;  /* absolute, of job; 0 = none */
    uint64_t job_launches; /* value of launches at the begin of job */
    uint32_t job_marked;   /* 1: the program calls deft_job_begin, so only that
                              and deft_job_end begin and end jobs */
    uint32_t drained;      /* directive_epoch for which the client stands at
                              the closed gate with an empty queue */
    uint64_t drained_ns;   /* when that came true */
    uint64_t jobs_ended;
    uint64_t reserved1;

    /* lines 3 and 4: what the hook saw */
    uint32_t paths;             /* DEFT_PATH_... */
    uint32_t in_wait;           /* threads that wait for the device: in a call of the
                                   program's own or for a directive */
    uint64_t most_kernels;      /* of one launch: the largest graph made */
    uint64_t own_syncs;         /* the program's own completion calls */
    uint64_t graph_launches;    /* part of launches */
    uint64_t memory_bytes;      /* device memory held, where seen */
    uint64_t memory_peak_bytes;
    uint64_t memory_refused;    /* allocations refused by the quota */
    uint64_t failed_open;       /* times a wait was given up: no live owner */
    uint64_t copies;            /* memcpy and memset calls */
    uint64_t graph_kernels;     /* kernels of graphs beyond one a launch: launches
                                   and these are the kernels given to the driver */
    uint64_t emptied_kernels;   /* value of graph_kernels when emptied was set */
    uint64_t job_kernels;       /* value of graph_kernels at the begin of job */
    uint64_t device;            /* which one: the first half of its UUID; 0 unknown */
    uint64_t gang;              /* of ranks that wait for one another: hash of
                                   DEFT_GANG; 0 none */
    uint64_t locked;            /* 1: the client holds a lock (F_OFD_SETLK) on the
                                   byte of the session's file that has the slot's
                                   number, by which other pid namespaces tell
                                   whether it lives */
    uint64_t reserved2;

    /* line 5: directives, written by the owner */
    uint32_t gate;               /* DEFT_GATE_...; futex */
    uint32_t directive_epoch;    /* changes with every change of directive */
    uint32_t sync_every;         /* synchronize after this many kernels; 0 never */
    uint32_t timed;              /* 1: some kernels are timed, for gpu_ns */
    uint64_t in_flight_ns;       /* at most so much device time queued, by what a
                                    kernel was seen to take; 0 any */
    uint64_t until_job;          /* a closed gate lets jobs up to this one go on */
    uint64_t paused_epoch;       /* epoch of the client, if its user paused it: for
                                    the owner after one that is killed; 0 not */
    uint64_t reserved3[3];
};

struct deft_header {
    /* line 0: what, written once */
    uint64_t magic;
    uint32_t version;
    uint32_t header_size;
    uint32_t slot_size;
    uint32_t slot_count;
    uint64_t size;       /* of the whole session in bytes */
    uint64_t idle_ns;    /* a job without a launch for so long has ended; the
                            owner decides it */
    uint64_t reserved0[3];

    /* line 1: the owner */
    deft_identity owner;
    uint32_t owner_state;        /* DEFT_OWNER_... */
    uint32_t reserved1;
    uint64_t owner_heartbeat_ns; /* last sign of life */
    uint64_t owner_timeout_ns;   /* without one for so long, it counts as dead */
    uint64_t owner_pidns;        /* inode of its pid namespace, 0 unknown */
    uint64_t reserved2[3];

    /* line 2: the doorbell; a client adds 1 and wakes the owner (futex) at
       registration, job begin, job end, drained, launch at a watched gate, leave */
    uint32_t doorbell;
    uint32_t listening; /* 1 while the owner sleeps on the doorbell */
    uint32_t arrivals;  /* gate of a client that the owner has not met yet:
                           DEFT_GATE_CLOSED where it is to wait for a word */
    uint32_t reserved3;
    uint64_t reserved4[6];

    /* line 3 */
    char policy[DEFT_NAME]; /* name of the owner's policy, zero-terminated */
    double slack;           /* of the policy; 0 its default */
    uint64_t reserved5[3];
};

struct deft_session {
    struct deft_header header;
    struct deft_slot slots[DEFT_SLOTS];
};

_Static_assert(sizeof(struct deft_header) == 256, "header is four lines");
_Static_assert(sizeof(struct deft_slot) == 384, "slot is six lines");
_Static_assert(sizeof(struct deft_session) == 256 + 256 * 384, "session");

/*
 * C interface for programs that mark their jobs. All return 0, or -1 where no
 * session is joined (the program goes on as if they were absent).
 *
 * deft_job_begin begins a job and ends one still open; slo_ns is the time the
 * job may take, 0 for the client's default (DEFT_SLO_MS) or none.
 */
int deft_job_begin(uint64_t slo_ns);
int deft_job_end(void);

#endif
