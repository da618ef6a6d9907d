package simcudatest

import (
	"context"
	"embed"
	"io/fs"
	"path/filepath"
	"testing/fstest"

	"github.com/foretime/foretime/deft/cc"
	"github.com/foretime/foretime/deft/simcuda"
)

//go:embed testdata
var embedded embed.FS

// Sources returns the C files of the driver and those of the programs.
func Sources() (fs.FS, error) {
	own, err := fs.Sub(embedded, "testdata")
	if err != nil {
		return nil, err
	}
	all := fstest.MapFS{}
	for _, from := range []fs.FS{simcuda.Sources(), own} {
		names, err := fs.Glob(from, "*.[ch]")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			body, err := fs.ReadFile(from, name)
			if err != nil {
				return nil, err
			}
			all[name] = &fstest.MapFile{Data: body}
		}
	}
	return all, nil
}

// Clients are the absolute paths of the programs.
type Clients struct {
	Client string // deft-client: its usage text is in testdata/client.c
	Direct string // linked to the driver
	Plugin string // a library linked to the driver, which Client opens
}

// BuildClients compiles the clients of a built driver.
func BuildClients(ctx context.Context, c cc.Compiler, b simcuda.Built, extra ...string) (Clients, error) {
	var out Clients
	sources, err := Sources()
	if err != nil {
		return out, err
	}
	link := []string{"-L" + filepath.Dir(b.Driver), "-l:libcuda.so.1", "-ldl"}
	for _, t := range []struct {
		path *string
		name string
		args []string
	}{
		{&out.Client, "deft-client", []string{"client.c", "reach.c", "-ldl", "-pthread"}},
		{&out.Direct, "deft-direct", append([]string{"direct.c"}, link...)},
		{&out.Plugin, "plugin.so", append([]string{"-shared", "-fPIC", "-fvisibility=hidden", "plugin.c"}, link...)},
	} {
		args := append([]string{"-O2", "-g", "-std=gnu11"}, extra...)
		path, err := c.Build(ctx, cc.Product{Name: t.name, Sources: sources, Args: append(args, t.args...)})
		if err != nil {
			return out, err
		}
		*t.path = path
	}
	return out, nil
}
