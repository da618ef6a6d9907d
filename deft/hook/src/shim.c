/*
 * libdeft in the place of libcuda.so.1: what the driver exports and libdeft
 * does not wrap. Each name is a jump through a table that is filled in when
 * the library is loaded. rest.h, which lists the names, is made from the
 * driver at hand.
 */
#include <stddef.h>

#include "driver.h"
#include "rest.h"

enum {
#define ROW(name, at) REST_##name,
    DEFT_REST(ROW)
#undef ROW
    RESTS
};

/* A function that the driver has lost since: every one may return an int. */
static int missing(void) { return CU_STUB_LIBRARY; }

__attribute__((used)) HIDDEN void *deft_rest[RESTS + 1];

__attribute__((constructor)) static void fill(void) {
    static const char *const names[] = {
#define ROW(name, at) #name,
        DEFT_REST(ROW) NULL
#undef ROW
    };
    for (size_t i = 0; i < RESTS; i++) {
        void *f = driver_symbol(names[i]);
        deft_rest[i] = f ? f : (void *)missing;
    }
}

#if defined __x86_64__
#define ROW(name, at) \
    __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n  jmp *deft_rest+8*" #at "(%rip)\n");
#else
#define ROW(name, at) \
    __asm__(".text\n.globl " #name "\n.type " #name ",%function\n" #name ":\n" \
            "  adrp x16,deft_rest+8*" #at "\n  ldr x16,[x16,#:lo12:deft_rest+8*" #at "]\n  br x16\n");
#endif
DEFT_REST(ROW)
