package simcuda

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/foretime/foretime/deft/internal/cc"
)

//go:embed src made
var embedded embed.FS

//go:generate make --silent made

// Sources returns the C files of the driver and its programs.
func Sources() fs.FS {
	src, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant of this file
	}
	return src
}

// driver lists the C files of libcuda.so.1.
var driver = []string{"process.c", "context.c", "ask.c", "compilers.c", "stream.c", "work.c", "event.c", "memory.c", "lookup.c", "device.c", "clock.c"}

// Built holds the absolute paths of the files that an experiment needs.
type Built struct {
	Driver   string // libcuda.so.1, in a directory with its other name, libcuda.so
	Workload string // deft-workload: its usage text is in src/workload.c
}

// Build returns the driver and the workload program in the directory cache: it unpacks those
// of a release, or compiles them, unless the cache has them. Extra compiler arguments, such
// as -fsanitize=thread, make products of their own, which are always compiled.
func Build(ctx context.Context, cache string, extra ...string) (Built, error) {
	var b Built
	shared := []string{"-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-soname,libcuda.so.1", "-pthread"}
	for _, target := range []struct {
		path *string
		name string
		args []string
	}{
		{&b.Driver, "libcuda.so.1", append(shared, driver...)},
		{&b.Workload, "deft-workload", []string{"workload.c", "-ldl", "-pthread"}},
	} {
		var err error
		args := slices.Concat([]string{"-O2", "-g", "-std=gnu11"}, extra, target.args)
		p := cc.Product{Name: target.name, Sources: []fs.FS{Sources()}, Args: args}
		if len(extra) == 0 {
			p.Prebuilt = cc.Prebuilt(embedded, p.Name)
		}
		if *target.path, err = cc.Build(ctx, cache, p); err != nil {
			return b, err
		}
	}
	return b, addAlias(b.Driver)
}

// addAlias gives the driver its other name, by which some programs open it: libcuda.so. A
// directory that cannot be written does without.
func addAlias(driver string) error {
	err := os.Symlink(filepath.Base(driver), filepath.Join(filepath.Dir(driver), "libcuda.so"))
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil
	}
	return err
}
