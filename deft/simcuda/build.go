package simcuda

import (
	"context"
	"embed"
	"io/fs"

	"github.com/foretime/foretime/deft/cc"
)

//go:embed src
var embedded embed.FS

// Sources returns the C files of the driver and its programs.
func Sources() fs.FS {
	src, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant of this file
	}
	return src
}

// driver are the C files of libcuda.so.1.
var driver = []string{"process.c", "context.c", "ask.c", "stream.c", "work.c", "event.c", "memory.c", "lookup.c", "entries.c", "device.c", "clock.c"}

// Built are the absolute paths of what an experiment needs.
type Built struct {
	Driver   string // libcuda.so.1, alone in its folder
	Workload string // deft-workload: its usage text is in src/workload.c
}

// Build compiles the driver and the workload program, or finds them in the
// compiler's cache. Extra compiler arguments, such as -fsanitize=thread, make
// products of their own.
func Build(ctx context.Context, c cc.Compiler, extra ...string) (Built, error) {
	var b Built
	err := makeAll(ctx, c, extra, []target{
		{&b.Driver, "libcuda.so.1", append([]string{"-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-soname,libcuda.so.1", "-pthread"}, driver...)},
		{&b.Workload, "deft-workload", []string{"workload.c", "reach.c", "-ldl"}},
	})
	return b, err
}

type target struct {
	path *string
	name string
	args []string
}

func makeAll(ctx context.Context, c cc.Compiler, extra []string, targets []target) error {
	for _, t := range targets {
		args := append([]string{"-O2", "-g", "-std=gnu11"}, extra...)
		path, err := c.Build(ctx, cc.Product{Name: t.name, Sources: Sources(), Args: append(args, t.args...)})
		if err != nil {
			return err
		}
		*t.path = path
	}
	return nil
}
