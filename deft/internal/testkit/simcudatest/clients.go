package simcudatest

import (
	"context"
	"embed"
	"io/fs"
	"path/filepath"

	"github.com/foretime/foretime/deft/internal/cc"
	"github.com/foretime/foretime/deft/simcuda"
)

//go:embed testdata
var embedded embed.FS

// Sources returns the C files of the driver and of the programs.
func Sources() []fs.FS {
	own, err := fs.Sub(embedded, "testdata")
	if err != nil {
		panic(err) // the name is a constant of this file
	}
	return []fs.FS{simcuda.Sources(), own}
}

// Clients holds the absolute paths of the programs.
type Clients struct {
	Client string // deft-client: its usage text is in testdata/client.c
	Direct string // linked to the driver
	Plugin string // a library linked to the driver, which Client opens
}

// BuildClients compiles the clients of a built driver.
func BuildClients(ctx context.Context, cache string, b simcuda.Built, extra ...string) (Clients, error) {
	var out Clients
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
		path, err := cc.Build(ctx, cache, cc.Product{Name: t.name, Sources: Sources(), Args: append(args, t.args...)})
		if err != nil {
			return out, err
		}
		*t.path = path
	}
	return out, nil
}
