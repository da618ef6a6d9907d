/* Libraries that ask for the next definition of a function, and a program:
 * -DFIRST and -DSECOND make the libraries, -DWITNESS one whose dlsym writes
 * down from where it was called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int which(void);
int next_which(void);

#if defined FIRST
int which(void) { return 1; }
int next_which(void) {
    int (*f)(void) = (int (*)(void))dlsym(RTLD_NEXT, "which");
    return f ? f() : -1;
}
#elif defined SECOND
int which(void) { return 2; }
#elif defined OPENER
/* Finds the library by its own run path, as only its own call of dlopen can. */
int open_second(void) {
    void *p = dlopen("libsecond.so", RTLD_NOW);
    int (*f)(void) = p ? (int (*)(void))dlsym(p, "which") : NULL;
    return f ? f() : -1;
}
#elif defined OPEN
int open_second(void);
int main(void) {
    printf("opened %d\n", open_second());
    return 0;
}
#elif defined WITNESS
char witness_caller[256];
void *witness_dlsym(void *handle, const char *name) {
    static void *(*real)(void *, const char *);
    Dl_info info;
    if (!real)
        real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (strcmp(name, "witness_caller") == 0 && dladdr(__builtin_return_address(0), &info))
        strncpy(witness_caller, info.dli_fname, sizeof witness_caller - 1);
    return real(handle, name);
}
__asm__(".symver witness_dlsym,dlsym@@GLIBC_2.34");
#else
int main(int argc, char **argv) {
    char *caller = dlsym(RTLD_DEFAULT, "witness_caller");
    (void)argc;
    printf("next %d caller %s\n", next_which(),
           !caller ? "none" : strcmp(caller, argv[0]) == 0 ? "program" : caller);
    return 0;
}
#endif
