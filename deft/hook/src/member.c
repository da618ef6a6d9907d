/*
 * Membership: finding the session, claiming a slot in it, leaving it, joining
 * again after fork, and checking that its owner is alive.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "member.h"

/* The slot without a session: always active, without directives. Launches are
   counted here. */
struct deft_slot no_slot __attribute__((aligned(64))) = {.state = DEFT_ACTIVE};

struct member members[DEVICES] = {[0 ... DEVICES - 1] = {.slot = &no_slot}};
uint32_t slow_reasons = SLOW_JOIN;
__thread struct member *this_member FAST = members;
__thread word context FAST;

static struct deft_session *session;
static int session_fd = -1;
static deft_identity self;
static uint64_t pidns;
static uint64_t slo_ns, quota_bytes, gang;
static uint32_t joining; /* 1 while a thread joins; the others do not wait for it */

/* The last check of the owner's process. */
static deft_identity seen_owner;
static uint64_t seen_ns;
static uint32_t seen_alive;

static void warn(const char *where, const char *why) {
    dprintf(2, "libdeft: session %s: %s; going on without\n", where, why);
}

/* -- processes -- */

/* Reads the start time of a process; returns 0 if it has ended, -1 if that is
   unknown. */
static int start_ticks(pid_t pid, uint32_t *start) {
    char path[32], stat[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT && access("/proc/self/stat", F_OK) == 0 ? 0 : -1;
    ssize_t got = read(fd, stat, sizeof stat - 1);
    close(fd);
    if (got <= 0)
        return got < 0 && errno == ESRCH ? 0 : -1;
    stat[got] = 0;
    char *p = strrchr(stat, ')'); /* the name before it may hold anything */
    if (!p || p[1] != ' ' || !p[2])
        return -1;
    if (strchr("ZXx", p[2]))
        return 0;
    p += 2;
    for (int field = 3; field < 22; field++) {
        p = strchr(p, ' ');
        if (!p)
            return -1;
        p++;
    }
    *start = (uint32_t)strtoull(p, NULL, 10);
    return 1;
}

static deft_identity identity(pid_t pid, uint32_t start) {
    return (uint64_t)(uint32_t)pid << 32 | start;
}

/* Whether a process may be alive. */
static bool is_alive(deft_identity who) {
    pid_t pid = (pid_t)(who >> 32);
    uint32_t start;
    if (pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH))
        return false;
    switch (start_ticks(pid, &start)) {
    case 0:
        return false;
    case 1:
        return identity(pid, start) == who;
    default:
        return true;
    }
}

/* -- the session -- */

/* Returns NULL, or the reason why the file cannot be mapped as a session. */
static const char *check_file(int fd) {
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return "not a regular file";
    if (st.st_size < (off_t)sizeof(struct deft_session))
        return "too short";
    if (st.st_uid != geteuid() || (st.st_mode & 077))
        return "other users could change it";
    return NULL;
}

static const char *check_header(const struct deft_header *h) {
    if (acquire(&h->magic) != DEFT_MAGIC)
        return "not a deft session";
    if (load(&h->version) != DEFT_VERSION || load(&h->header_size) != sizeof(struct deft_header) ||
        load(&h->slot_size) != sizeof(struct deft_slot) || load(&h->slot_count) != DEFT_SLOTS ||
        load(&h->size) != sizeof(struct deft_session))
        return "of another version";
    return NULL;
}

static const char *map_session(int fd) {
    const char *why = check_file(fd);
    if (why)
        return why;
    /* Touching a page that a full file system has no room for would be a SIGBUS. */
    int err;
    do
        err = fallocate(fd, 0, 0, sizeof(struct deft_session)) < 0 ? errno : 0;
    while (err == EINTR);
    if (err == ENOSPC)
        return "has no room: its file system is full";
    void *p = mmap(NULL, sizeof(struct deft_session), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return "cannot be mapped";
    why = check_header(p);
    if (why) {
        munmap(p, sizeof(struct deft_session));
        return why;
    }
    session = p;
    return NULL;
}

/* Maps the session at the path DEFT_SESSION. */
static void find_session(void) {
    const char *path = secure_getenv("DEFT_SESSION");
    if (!path || !*path)
        return;
    session_fd = open(path, O_RDWR | O_CLOEXEC);
    const char *why = session_fd < 0 ? "cannot be opened" : map_session(session_fd);
    if (!why)
        return;
    if (session_fd >= 0)
        close(session_fd);
    session_fd = -1;
    warn(path, why);
}

/* -- the slot -- */

static uint64_t read_number(const char *name, uint64_t otherwise) {
    const char *text = secure_getenv(name);
    char *end;
    if (!text || !*text)
        return otherwise;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    return errno || *end ? otherwise : (uint64_t)v;
}

static void fill_slot(struct deft_slot *s, uint64_t device) {
    char name[DEFT_NAME] = {0};
    const char *given = secure_getenv("DEFT_NAME");
    if (given && *given) {
        if (snprintf(name, sizeof name, "%s", given) >= (int)sizeof name)
            dprintf(2, "libdeft: DEFT_NAME is longer than %u bytes: the rest is left out\n", DEFT_NAME - 1);
    } else {
        int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            ssize_t n = read(fd, name, sizeof name - 1);
            close(fd);
            if (n > 0 && name[n - 1] == '\n')
                name[n - 1] = 0;
        }
    }
    int64_t priority = (int64_t)read_number("DEFT_PRIORITY", 0);
    uint64_t weight = read_number("DEFT_WEIGHT", 1);
    store(&s->priority, (int32_t)(priority > INT32_MAX   ? INT32_MAX
                                  : priority < INT32_MIN ? INT32_MIN
                                                         : priority));
    store(&s->weight, weight < 1 || weight > UINT32_MAX ? 1 : (uint32_t)weight);
    store(&s->epoch, load(&s->epoch) + 1);
    store(&s->pidns, pidns);
    uint64_t words[DEFT_NAME / 8];
    memcpy(words, name, sizeof words);
    for (size_t i = 0; i < DEFT_NAME / 8; i++)
        store((uint64_t *)(void *)s->name + i, words[i]);
    uint64_t *from = &s->launches, *to = (uint64_t *)(void *)&s->gate;
    while (from < to)
        store(from++, 0);
    store(&s->device, device);
    store(&s->gang, gang);
    if (load(&session->header.arrivals) == DEFT_GATE_CLOSED)
        store(&s->gate, DEFT_GATE_CLOSED);
}

/* FNV-1a; 0 of nothing. */
static uint64_t hash(const char *text) {
    uint64_t h = 0xcbf29ce484222325u;
    for (const char *p = text; p && *p; p++)
        h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    return text && *text ? h : 0;
}

/* Takes a free slot or, if there is none, that of a dead client. */
static struct deft_slot *claim_slot(void) {
    for (int steal = 0; steal < 2; steal++)
        for (uint32_t i = 0; i < DEFT_SLOTS; i++) {
            struct deft_slot *s = &session->slots[i];
            deft_identity who = acquire(&s->claim);
            if (who != 0 && !(steal && ((who & DEFT_HAS_LEFT) || (load(&s->pidns) == pidns && !is_alive(who)))))
                continue;
            if (swap_if(&s->claim, &who, self))
                return s;
        }
    return NULL;
}

void member_leave(void) {
    for (int i = 0; i < DEVICES && (pid_t)(self >> 32) == getpid(); i++) {
        struct deft_slot *s = members[i].slot;
        if (s == &no_slot)
            continue;
        release(&members[i].slot, &no_slot);
        store(&s->locked, 0);
        release(&s->state, DEFT_LEFT);
        deft_identity me = self;
        swap_if(&s->claim, &me, self | DEFT_HAS_LEFT);
        member_ring();
    }
}

/* Opens a file again, for a lock that ends with this process; -1 on failure. */
static int reopen(int fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fd < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
}

void member_forked(void) {
    for (int i = 0; i < DEVICES; i++)
        members[i] = (struct member){.slot = &no_slot};
    this_member = members;
    context = 0;
    joining = 0;
    seen_ns = 0;
    int parents = session_fd;
    session_fd = reopen(parents);
    if (parents >= 0)
        close(parents);
    release(&slow_reasons, SLOW_JOIN);
}

/* Takes a slot for the process on a device. */
static void join_device(struct member *m, uint64_t device) {
    struct deft_slot *s = claim_slot();
    if (!s) {
        warn("of this program", "all slots are taken");
        return;
    }
    release(&s->state, DEFT_CLAIMED);
    fill_slot(s, device);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = s - session->slots, .l_len = 1};
    store(&s->locked, session_fd >= 0 && fcntl(session_fd, F_OFD_SETLK, &lock) == 0);
    release(&s->state, DEFT_IDLE);
    release(&m->slot, s);
    member_ring();
}

/* Returns an id that distinguishes a device in every process, whatever its ordinal. */
static uint64_t device_id(int ordinal) {
    static uint64_t known[64];
    bool keep = ordinal >= 0 && ordinal < 64;
    uint64_t id = keep ? load(&known[ordinal]) : 0;
    if (id)
        return id;
    uint64_t uuid[2] = {0};
    bool named = CALL2("cuDeviceGetUuid_v2", uuid, (word)ordinal) == CU_SUCCESS || CALL2("cuDeviceGetUuid", uuid, (word)ordinal) == CU_SUCCESS;
    id = named && (uuid[0] ^ uuid[1]) ? uuid[0] ^ uuid[1] : (uint64_t)ordinal + 1;
    if (keep)
        store(&known[ordinal], id);
    return id;
}

/* Returns the process's member on a device: the one without a device yet, or a new
   one. */
static struct member *member_of(uint64_t device) {
    for (int i = 0; i < DEVICES; i++) {
        uint64_t has = acquire(&members[i].device);
        if (has == 0 && swap_if(&members[i].device, &has, device)) {
            struct deft_slot *s = acquire(&members[i].slot);
            if (s != &no_slot) { /* it joined before it named a device */
                store(&s->device, device);
                if (load(&session->header.arrivals) == DEFT_GATE_CLOSED)
                    store(&s->gate, DEFT_GATE_CLOSED);
                member_ring();
            } else if (session && self)
                join_device(&members[i], device);
            return &members[i];
        }
        if (has == device)
            return &members[i];
    }
    return members;
}

COLD void member_update(void) {
    word now = 0;
    int ordinal;
    if (CALL1("cuCtxGetCurrent", &now) == CU_SUCCESS && now != context && now && CALL1("cuCtxGetDevice", &ordinal) == CU_SUCCESS)
        this_member = member_of(device_id(ordinal));
    context = now;
}

/* Frees the slots of the program that this process ran before, and replaced by exec, which
   has dropped its locks. Another copy of this library in the process holds its own. */
static void leave_replaced(void) {
    deft_identity me = self;
    for (uint32_t i = 0; i < DEFT_SLOTS; i++, me = self) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1};
        bool held = load(&session->slots[i].locked) && session_fd >= 0 && fcntl(session_fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
        if (!held && swap_if(&session->slots[i].claim, &me, self | DEFT_HAS_LEFT))
            release(&session->slots[i].state, DEFT_LEFT);
    }
}

/* Joins once. Other threads wait for up to 20 ms, and their launches are counted. */
COLD void member_join(void) {
    uint32_t no = 0;
    if (!swap_if(&joining, &no, 1)) {
        struct timespec nap = {0, 50000};
        for (int i = 0; i < 400 && (acquire(&slow_reasons) & SLOW_JOIN); i++)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
        return;
    }
    int saved = errno;
    static int prepared;
    if (!prepared) {
        prepared = 1;
        slo_ns = read_number("DEFT_SLO_MS", 0) * 1000000;
        quota_bytes = read_number("DEFT_MEMORY_QUOTA", 0);
        gang = hash(secure_getenv("DEFT_GANG"));
        find_session();
    }
    uint32_t start = 0;
    struct stat st;
    pidns = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
    if (session && start_ticks(getpid(), &start) >= 0) {
        self = identity(getpid(), start);
        leave_replaced();
        join_device(members, members[0].device);
    }
    __atomic_fetch_and(&slow_reasons, ~(uint32_t)SLOW_JOIN, __ATOMIC_RELEASE);
    errno = saved;
}

/* Notes how the program reached the driver. */
void member_path(uint32_t path) {
    member_ensure();
    struct deft_slot *s = acquire(&this_member->slot);
    if ((load(&s->paths) & path) != path)
        __atomic_fetch_or(&s->paths, path, __ATOMIC_RELAXED);
}

void member_ring(void) {
    if (!session)
        return;
    struct deft_header *h = &session->header;
    __atomic_fetch_add(&h->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&h->listening, __ATOMIC_SEQ_CST)) {
        int saved = errno;
        syscall(SYS_futex, &h->doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        errno = saved;
    }
}

uint64_t member_slo_ns(void) { return slo_ns; }

uint64_t member_quota_bytes(void) { return quota_bytes; }

/* Whether the slot still belongs to this process: any process that can write the
   session may have changed it. A client without its slot continues without one. */
static bool is_claimed(void) {
    struct deft_slot *s = acquire(&this_member->slot);
    if (s == &no_slot || load(&s->claim) == self)
        return true;
    if (swap_if(&this_member->slot, &s, &no_slot))
        warn("of this program", "its place in it is another's now");
    return false;
}

/* A client obeys an owner that is active and has a recent heartbeat and, if its
   process is visible from here, runs. */
bool member_obeys(void) {
    if (!session || !is_claimed())
        return false;
    struct deft_header *h = &session->header;
    if (acquire(&h->owner_state) != DEFT_OWNER_ACTIVE)
        return false;
    uint64_t now = now_ns(), patience = load(&h->owner_timeout_ns);
    if (patience > 10000000000u)
        patience = 10000000000u;
    int64_t silent = (int64_t)(now - load(&h->owner_heartbeat_ns));
    if (silent > (int64_t)patience || silent < -1000000000)
        return false;
    if (load(&h->owner_pidns) != pidns)
        return true;
    deft_identity owner = load(&h->owner);
    if (owner == load(&seen_owner) && now - load(&seen_ns) < DEFT_TRUST_NS)
        return load(&seen_alive);
    int saved = errno;
    bool lives = is_alive(owner);
    errno = saved;
    store(&seen_alive, lives);
    store(&seen_owner, owner);
    store(&seen_ns, now);
    return lives;
}
