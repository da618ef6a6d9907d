/*
 * Membership in a session: this process on each device it uses.
 */
#ifndef DEFT_MEMBER_H
#define DEFT_MEMBER_H

#include "driver.h"
#include "session.h"

#define DEFT_TRUST_NS 10000000ull /* a look at the owner's process holds so long; set by hand */

enum { DEVICES = 16 };

/* The process on one device. */
struct member {
    struct deft_slot *slot; /* never NULL: without a session, one that nobody reads */
    uint64_t device;        /* as in its slot; 0: none yet */
    uint64_t epoch;         /* of its queue; see gate_reasons */
};

/* Why a launch must take the long way; 0 in the ordinary case. */
enum {
    SLOW_JOIN = 1,   /* not yet tried to join a session */
    SLOW_CAPTURE = 2 /* times the number of open captures */
};
HIDDEN extern uint32_t slow_reasons;

/* The calling thread's: of the device of its current context. */
HIDDEN extern struct member members[DEVICES]; /* by first use */
HIDDEN extern __thread struct member *this_member FAST;
HIDDEN extern __thread word context FAST;
HIDDEN void member_update(void); /* the current context may be another one now */
HIDDEN extern struct deft_slot no_slot; /* the slot outside of any session */

HIDDEN void member_join(void);
static inline void member_ensure(void) {
    if (unlikely(load(&slow_reasons) & SLOW_JOIN))
        member_join();
}
HIDDEN void member_path(uint32_t path);
HIDDEN bool member_obeys(void); /* is there an owner whose directives count? */
HIDDEN uint32_t member_job_mode(void);
HIDDEN void member_ring(void);
HIDDEN uint64_t member_slo_ns(void);
HIDDEN uint64_t member_quota_bytes(void);
HIDDEN void member_leave(void);  /* the program ends */
HIDDEN void member_forked(void); /* in a forked child */

#endif
