/*
 * Where programs find the driver's functions: dlsym and dlopen, exported here
 * in place of libc's, and what cuGetProcAddress gives.
 *
 * Both exported functions end in a jump, not a call: libc sees the
 * caller's return address, so RTLD_NEXT, RTLD_DEEPBIND's scope and $ORIGIN mean
 * what they meant. A name is compared with the table of wrapped names, whole.
 * A wrapper is handed out only where the caller's own handle leads to the
 * driver: what another library defines under the same name stays its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "member.h"

/* Finds the function that a wrapper calls, if no lookup has found it yet. */
static void *resolve(enum entry_id id) {
    void *raw = entry_raw(id), *f = raw;
    ensure_prepared();
    if (raw && next_dlsym != libc_dlsym) { /* another library may want to be between */
        inside++;
        f = next_dlsym(driver_handle(), entry_name(id));
        inside--;
    }
    if (!raw) /* a driver under another name */
        f = libc_dlsym(RTLD_NEXT, entry_name(id));
    if (!f || ours(f))
        f = raw;
    if (f)
        release(&entries[id].next, f);
    return f;
}

COLD void *entry_resolve(enum entry_id id) {
#ifdef DEFT_SHIM
    member_path(DEFT_PATH_SHIM);
#else
    member_path(DEFT_PATH_LINKED);
#endif
    return resolve(id);
}

/* Records what a wrapper is to call, and returns the wrapper. What a program
   found through another library's lookup goes before the driver's own. */
static void *hand_out(int id, void *found) {
    if (ours(found)) {
        if (!acquire(&entries[id].next))
            resolve((enum entry_id)id);
    } else if (found != entry_raw((enum entry_id)id) || !acquire(&entries[id].next)) {
        release(&entries[id].next, found);
    }
    return wrappers[id];
}

/* -- dlsym -- */

static void *lookup(void *handle, const char *name) {
    int id = entry_find(name);
    void *found = next_dlsym(handle, name);
    if (id < 0 || !found)
        return found;
    void *raw = entry_raw((enum entry_id)id), *plain = libc_dlsym(handle, name);
    if (!raw)
        return ours(found) ? NULL : found;
    if (plain != raw && !ours(plain))
        return found;
    member_path(DEFT_PATH_DLSYM);
    return hand_out(id, found);
}

/* What the exported dlsym jumps to. */
__attribute__((used)) HIDDEN void *deft_dlsym_target(void *handle, const char *name) {
    ensure_prepared();
    if (likely(entry_find(name) < 0) || inside || handle == RTLD_NEXT)
        return (void *)next_dlsym;
    return (void *)lookup;
}

/* The mode with which the exported dlopen jumps to the next one. */
__attribute__((used)) HIDDEN int deft_dlopen_mode(const char *file, int mode) {
    ensure_prepared();
    if (inside)
        return mode;
    if (file && strstr(file, "libcuda.so"))
        member_path(DEFT_PATH_DLOPEN);
    if (mode & RTLD_DEEPBIND) {
        const char *ask = secure_getenv("DEFT_DEEPBIND");
        bool strip = ask && strcmp(ask, "strip") == 0;
        member_path(strip ? DEFT_PATH_STRIPPED : DEFT_PATH_DEEPBIND);
        if (strip)
            mode &= ~RTLD_DEEPBIND;
    }
    return mode;
}

#ifndef DEFT_SHIM

/* Compilers end it in a jump. */
EXPORT void *dlmopen(Lmid_t space, const char *file, int mode) {
    ensure_prepared();
    void *(*next)(Lmid_t, const char *, int) = (void *(*)(Lmid_t, const char *, int))libc_dlsym(RTLD_NEXT, "dlmopen");
    if (space != LM_ID_BASE && !inside)
        member_path(DEFT_PATH_NAMESPACE);
    return next(space, file, mode);
}

#if defined __x86_64__
__asm__(".text\n"
        ".globl deft_dlsym\n.hidden deft_dlsym\n.type deft_dlsym,@function\n"
        "deft_dlsym:\n"
        ".cfi_startproc\n"
        "  push %rdi\n.cfi_adjust_cfa_offset 8\n"
        "  push %rsi\n.cfi_adjust_cfa_offset 8\n"
        "  sub $8,%rsp\n.cfi_adjust_cfa_offset 8\n"
        "  call deft_dlsym_target\n"
        "  add $8,%rsp\n.cfi_adjust_cfa_offset -8\n"
        "  pop %rsi\n.cfi_adjust_cfa_offset -8\n"
        "  pop %rdi\n.cfi_adjust_cfa_offset -8\n"
        "  jmp *%rax\n"
        ".cfi_endproc\n.size deft_dlsym,.-deft_dlsym\n"
        ".globl deft_dlopen\n.hidden deft_dlopen\n.type deft_dlopen,@function\n"
        "deft_dlopen:\n"
        ".cfi_startproc\n"
        "  push %rdi\n.cfi_adjust_cfa_offset 8\n"
        "  call deft_dlopen_mode\n"
        "  pop %rdi\n.cfi_adjust_cfa_offset -8\n"
        "  mov %eax,%esi\n"
        "  jmp *deft_next_dlopen(%rip)\n"
        ".cfi_endproc\n.size deft_dlopen,.-deft_dlopen\n");
#elif defined __aarch64__
__asm__(".text\n"
        ".globl deft_dlsym\n.hidden deft_dlsym\n.type deft_dlsym,%function\n"
        "deft_dlsym:\n"
        ".cfi_startproc\n"
        "  stp x29,x30,[sp,#-32]!\n.cfi_adjust_cfa_offset 32\n"
        "  stp x0,x1,[sp,#16]\n"
        "  bl deft_dlsym_target\n"
        "  mov x16,x0\n"
        "  ldp x0,x1,[sp,#16]\n"
        "  ldp x29,x30,[sp],#32\n.cfi_adjust_cfa_offset -32\n"
        "  br x16\n"
        ".cfi_endproc\n.size deft_dlsym,.-deft_dlsym\n"
        ".globl deft_dlopen\n.hidden deft_dlopen\n.type deft_dlopen,%function\n"
        "deft_dlopen:\n"
        ".cfi_startproc\n"
        "  stp x29,x30,[sp,#-32]!\n.cfi_adjust_cfa_offset 32\n"
        "  str x0,[sp,#16]\n"
        "  bl deft_dlopen_mode\n"
        "  mov w1,w0\n"
        "  ldr x0,[sp,#16]\n"
        "  ldp x29,x30,[sp],#32\n.cfi_adjust_cfa_offset -32\n"
        "  adrp x16,deft_next_dlopen\n"
        "  ldr x16,[x16,#:lo12:deft_next_dlopen]\n"
        "  br x16\n"
        ".cfi_endproc\n.size deft_dlopen,.-deft_dlopen\n");
#else
#error "no jumping dlsym for this processor: x86-64 and arm64 are known"
#endif

/* Both versions that programs ask for: other libraries look for the next dlsym by
   version. */
#ifdef DEFT_UNVERSIONED
__asm__(".globl dlsym\n.set dlsym,deft_dlsym\n.globl dlopen\n.set dlopen,deft_dlopen\n");
#else
#if defined __x86_64__
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif
__asm__(".globl deft_dlsym_old\n.set deft_dlsym_old,deft_dlsym\n.symver deft_dlsym_old,dlsym@" OLDEST "\n"
        ".globl deft_dlsym_new\n.set deft_dlsym_new,deft_dlsym\n.symver deft_dlsym_new,dlsym@@GLIBC_2.34\n"
        ".globl deft_dlopen_old\n.set deft_dlopen_old,deft_dlopen\n.symver deft_dlopen_old,dlopen@" OLDEST "\n"
        ".globl deft_dlopen_new\n.set deft_dlopen_new,deft_dlopen\n.symver deft_dlopen_new,dlopen@@GLIBC_2.34\n");
#endif

#endif /* DEFT_SHIM */

/* -- cuGetProcAddress -- */

static bool is_variant(const char *entry, const char *name) {
    static const char suffixes[][10] = {"", "_v2", "_ptsz", "_ptds", "_v2_ptsz", "_v2_ptds"};
    size_t n = strlen(name);
    if (strncmp(entry, name, n) != 0)
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(entry + n, suffixes[i]) == 0)
            return true;
    return false;
}

/* The CUDA version in which a plain name began to mean its second variant. */
static int second_since(const char *name) {
    static const struct { char name[28]; int since; } known[] = {
        {"cuGetProcAddress", 12000}, {"cuLaunchHostFunc", 13010}, {"cuMemcpyBatchAsync", 13000},
        {"cuMemcpy3DBatchAsync", 13000}, {"cuMemPrefetchAsync", 12020}, {"cuStreamBeginCapture", 10010}, {"cuCtxSynchronize", 13000},
        {"cuGraphInstantiate", 11000}, {"cuGraphExecUpdate", 12000}, {"cuCtxDestroy", 4000}, {"cuStreamDestroy", 4000},
        {"cuCtxPushCurrent", 4000}, {"cuCtxPopCurrent", 4000}, {"cuDevicePrimaryCtxRelease", 11000}, {"cuDevicePrimaryCtxReset", 11000},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].since;
    return 3020;
}

/* Returns the driver's own function for a name, or NULL. */
static void *driver_entry(const char *name, int version, uint64_t flags) {
    int (*get)(const char *, void **, int, uint64_t, int *) =
        (int (*)(const char *, void **, int, uint64_t, int *))entry_raw(E_cuGetProcAddress_v2);
    void *f = NULL;
    int status = 0;
    if (!get)
        return NULL;
    inside++;
    int r = get(name, &f, version, flags, &status);
    inside--;
    return r == CU_SUCCESS ? f : NULL;
}

/* Whether this library knows the signature of a name in this version. */
static bool is_known(const char *name, int version, uint64_t flags) {
    return version <= CU_KNOWN || driver_entry(name, version, flags) == driver_entry(name, CU_KNOWN, flags);
}

/* Which wrapped function the driver gave: the one with its address or, for an
   address that it does not export, the one that its rules name. -1 for one that
   this library does not know: it is none of its business. */
static int identify(const char *name, const void *f, int version, uint64_t flags) {
    int best = -1, score = -1;
    for (int i = 0; i < ENTRIES; i++)
        if (strncmp(entry_name(i), name, strlen(name)) == 0 && (entry_raw((enum entry_id)i) == f || load(&entries[i].next) == f))
            return i;
    if (!is_known(name, version, flags))
        return -1;
    for (int i = 0; i < ENTRIES; i++) {
        if (!is_variant(entry_name(i), name))
            continue;
        const char *rest = entry_name(i) + strlen(name);
        bool second = strncmp(rest, "_v2", 3) == 0, own = strstr(rest, "_pt") != NULL;
        if ((second && version < second_since(name)) || (own && !(flags & CU_GETPROC_PER_THREAD)))
            continue;
        if (second * 2 + own > score) {
            score = second * 2 + own;
            best = i;
        }
    }
    return best;
}

void lookup_wrap(const char *name, void **f, int version, uint64_t flags, uint32_t path) {
    if (!name || !f || !*f)
        return;
    int id = wrapper_find(*f); /* a driver that looks itself up may find this library */
    if (id < 0)
        id = identify(name, *f, version, flags);
    if (id < 0)
        return;
    member_path(path | (flags & CU_GETPROC_PER_THREAD ? DEFT_PATH_PER_THREAD : 0));
    *f = hand_out(id, *f);
}
