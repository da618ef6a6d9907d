package hook

import (
	"context"
	"embed"
	"io/fs"
	"slices"
	"strings"

	"github.com/foretime/foretime/deft/internal/cc"
)

//go:embed src made
var embedded embed.FS

//go:generate make --silent made

// Python holds deft.py, with which a Python program marks its jobs. It has no effect if
// libdeft.so is not loaded.
//
//go:embed deft.py
var Python []byte

// Sources returns the C files of the library, session.h among them.
func Sources() fs.FS {
	src, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant of this file
	}
	return src
}

// Files returns the names of the library's C files.
func Files() []string {
	return []string{"driver.c", "table.c", "member.c", "graph.c", "queue.c", "gate.c", "memory.c", "lookup.c", "entry.c"}
}

// compilerFlags returns the flags of every build, as in the Makefile.
func compilerFlags() []string {
	return []string{
		"-std=gnu11", "-Os", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden",
		"-fno-strict-aliasing", "-fno-plt", "-pthread",
	}
}

// linkerFlags makes a library that the loader resolves at once and never unloads.
func linkerFlags(soname string) []string {
	return []string{
		"-shared", "-s", "-Wl,-soname," + soname, "-Wl,-z,now", "-Wl,-z,nodelete",
		"-Wl,-z,noseparate-code", "-Wl,--hash-style=gnu",
	}
}

// Build returns the absolute path of libdeft.so in the directory cache: it unpacks that of a
// release, or compiles it, unless the cache has it. Extra arguments of the compiler make a
// product of their own, which is always compiled.
func Build(ctx context.Context, cache string, extra ...string) (string, error) {
	return build(ctx, cache, "libdeft.so", len(extra) == 0, slices.Concat(extra, Files()))
}

// BuildTrace builds libdeft-trace.so, which also records what a program launches into the
// files DEFT_TRACE.PID (trace.h).
func BuildTrace(ctx context.Context, cache string) (string, error) {
	return build(ctx, cache, "libdeft-trace.so", true, append([]string{"-DDEFT_TRACE", "trace.c"}, Files()...))
}

func build(ctx context.Context, cache, name string, released bool, args []string) (string, error) {
	flags := append(compilerFlags(), linkerFlags(name)...)
	p := cc.Product{Name: name, Sources: []fs.FS{Sources()}, Args: append(append(flags, "-Wl,--version-script=libdeft.map"), args...)}
	if released {
		p.Prebuilt = cc.Prebuilt(embedded, name)
	}
	return cc.Build(ctx, cache, p)
}

// Prepend returns an environment in which path comes before the earlier value of the
// variable name.
func Prepend(environ []string, name, path string) []string {
	for _, e := range slices.Backward(environ) {
		if held, ok := strings.CutPrefix(e, name+"="); ok && held != "" {
			path += ":" + held
			break
		}
	}
	return append(slices.Clip(environ), name+"="+path)
}

// Preload returns an environment in which lib is loaded before other libraries.
func Preload(environ []string, lib string) []string { return Prepend(environ, "LD_PRELOAD", lib) }
