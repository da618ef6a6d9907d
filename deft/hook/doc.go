// Package hook builds libdeft.so, the library between a program and the CUDA driver, from
// its embedded C sources.
//
// [Build] builds the library for LD_PRELOAD. [BuildShim] builds a libcuda.so.1 that replaces
// the driver's, for programs that a preloaded library does not reach, such as those that
// open the driver with RTLD_DEEPBIND. The library is linked to libc only, so a program that
// never uses a GPU starts under it too.
//
// The C files in src document what the library does inside the program, package session the
// memory that it shares with the owner of a policy.
package hook
