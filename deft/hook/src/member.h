/*
 * Membership in a session: this process on each device it uses.
 */
#ifndef DEFT_MEMBER_H
#define DEFT_MEMBER_H

#include "driver.h"
#include "session.h"

#define DEFT_TRUST_NS 10000000ull /* a check of the owner's process is valid for this time; set by hand */

enum { DEVICES = 16 };

/* The process on one device. */
struct member {
    struct deft_slot *slot; /* never NULL: no_slot without a session */
    uint64_t device;        /* as in its slot; 0: none yet */
    uint64_t epoch;         /* of its queue; see gate_reasons */
};

/* Reasons for the slow path of every launch; 0: none. */
enum {
    SLOW_JOIN = 1,   /* not yet tried to join a session */
    SLOW_CAPTURE = 2 /* times the number of open captures */
};
HIDDEN extern uint32_t slow_reasons;

/* The members, and that of the calling thread's current context. */
HIDDEN extern struct member members[DEVICES]; /* by first use */
HIDDEN extern __thread struct member *this_member FAST;
HIDDEN extern __thread word context FAST;
HIDDEN void member_update(void); /* after the current context may have changed */
HIDDEN extern struct deft_slot no_slot; /* the slot outside of any session */

HIDDEN void member_join(void);
static inline void member_ensure(void) {
    if (unlikely(load(&slow_reasons) & SLOW_JOIN))
        member_join();
}
HIDDEN void member_path(uint32_t path);
HIDDEN bool member_obeys(void); /* whether an owner's directives are in force */
HIDDEN void member_ring(void);
HIDDEN uint64_t member_slo_ns(void);
HIDDEN uint64_t member_quota_bytes(void);
HIDDEN void member_leave(void);  /* the program ends */
HIDDEN void member_forked(void); /* in a forked child */

#endif
