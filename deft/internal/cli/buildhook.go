package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// newBuildHookCommand builds libdeft.so and puts it in a folder.
func newBuildHookCommand(env *cli.Env) *cobra.Command {
	var out, driver string
	var shim bool
	var answer cli.Output
	c := &cobra.Command{
		Use:   "build-hook",
		Short: "Build libdeft.so, the library for LD_PRELOAD, with deft.py beside it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cc, err := compiler()
			if err != nil {
				return err
			}
			var product string
			if !shim {
				product, err = hook.Build(cmd.Context(), cc)
			} else if driver, err = driverPath(driver); err == nil {
				product, err = hook.BuildShim(cmd.Context(), cc, driver)
			}
			if err != nil {
				return err
			}
			path, err := install(product, out)
			if err != nil {
				return err
			}
			if !shim {
				if err := beside(path, "deft.py", hook.Python); err != nil {
					return err
				}
			}
			return answer.Print(env, map[string]string{"path": path}, func(p *cli.Page) { p.Line("%s", path) })
		},
	}
	c.Flags().StringVar(&out, "out", ".", "folder to put the library in; made where absent")
	c.Flags().BoolVar(&shim, "shim", false, "build a libcuda.so.1 that stands in the driver's place instead")
	c.Flags().StringVar(&driver, "driver", "", "with --shim: the driver's libcuda.so.1 (default: the one that the loader finds)")
	answer.Flags(c)
	return c
}

// beside writes a file into the folder of another.
func beside(path, name string, text []byte) error {
	return file.Write(filepath.Join(filepath.Dir(path), name), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// driverPath is the driver that the loader would find, or the one named.
func driverPath(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	return hook.FindDriver(filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
}

// install copies a product into dir under its own name and returns where.
func install(product, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	in, err := os.Open(product)
	if err != nil {
		return "", err
	}
	defer in.Close()
	path := filepath.Join(dir, filepath.Base(product))
	return path, file.Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
