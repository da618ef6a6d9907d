package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
)

// newBuildHookCommand returns build-hook, which builds libdeft.so into a directory.
func newBuildHookCommand(env *cli.Env) *cobra.Command {
	var out, driver string
	var shim bool
	var answer cli.Output
	c := &cobra.Command{
		Use:     "build-hook",
		Short:   "Build libdeft.so, the library for LD_PRELOAD, and deft.py",
		Example: "  deft build-hook --out-dir lib",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			product, cache, err := library(cmd.Context())
			if err == nil && shim {
				product, err = shimFor(cmd.Context(), env, cache, driver)
			}
			if err != nil {
				return err
			}
			path, err := filepath.Abs(filepath.Join(out, filepath.Base(product)))
			if err != nil {
				return err
			}
			if err := env.Output(path); err != nil {
				return err
			}
			body, err := os.ReadFile(product)
			if err == nil {
				err = writeProduct(path, body)
			}
			if err == nil && !shim {
				err = writeProduct(filepath.Join(filepath.Dir(path), "deft.py"), hook.Python)
			}
			if err != nil {
				return err
			}
			return answer.Print(env, built{path}, func(p *cli.Page) { p.Line("%s", path) })
		},
	}
	c.Flags().StringVar(&out, "out-dir", ".", "`directory` for the library; created if missing")
	c.Flags().BoolVar(&shim, "shim", false, "build a libcuda.so.1 that replaces the driver's, instead of libdeft.so")
	c.Flags().StringVar(&driver, "driver", "", "with --shim: the real driver's libcuda.so.1 (default: the one that the loader finds)")
	answer.Flags(c, built{})
	return c
}

// built is the answer of build-hook.
type built struct {
	Path string `json:"path"`
}

// shimFor builds the replacement for a driver's libcuda.so.1: the one given, or the one
// that the loader finds.
func shimFor(ctx context.Context, env *cli.Env, cache, driver string) (string, error) {
	if driver == "" {
		var err error
		if driver, err = hook.FindDriver(filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...); err != nil {
			return "", err
		}
	}
	if err := env.Input(driver); err != nil {
		return "", err
	}
	return hook.BuildShim(ctx, cache, driver)
}

// writeProduct writes a file and creates its directory if it is missing.
func writeProduct(path string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return file.Write(path, func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	})
}
