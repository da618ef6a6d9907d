// Package hook is libdeft.so, the library that stands between a program and
// the CUDA driver: its sources in C, embedded, and how they are built.
//
// It decides what is compiled and with which flags: [Build] gives the library
// for LD_PRELOAD, [BuildShim] a libcuda.so.1 that stands in the driver's place,
// for programs that a preload cannot reach, such as those that open the driver
// with RTLD_DEEPBIND. It refuses to link the library to anything but libc: a
// program that never touches a GPU must start under it.
//
// Whether it sees what a program does on the GPU, [Watch] and [Diagnose] tell from
// the clients of a session.
//
// What the library does in the program stands in src/deft.h; what it shares
// with the owner of a policy, in package session.
//
//	lib, err := hook.Build(ctx, cc.Compiler{Cache: cache})
//	if err != nil {
//		return err
//	}
//	cmd := exec.Command("python3", "train.py")
//	cmd.Env = hook.Preloaded(os.Environ(), lib)
//	err = cmd.Run()
package hook
