package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/file"
)

// maxSpooledBytes is the limit of a model from a pipe: protobuf's, which ONNX files
// are written in. Larger models keep their tensors in files next to them.
const maxSpooledBytes = 2 << 30

// piped is a command on a model file that may be a pipe: models are read more
// than once, here and there, and not from the first byte to the last, so that
// the command sees a copy.
func piped(run func(cmd *cobra.Command, args []string) error) func(cmd *cobra.Command, args []string) error {
	return func(cmd *cobra.Command, args []string) error {
		info, err := os.Stat(args[0])
		if err != nil || info.Mode().IsRegular() || info.IsDir() {
			return run(cmd, args) // which says what is wrong
		}
		dir, err := file.NewScratch("", "edgeprof-")
		if err != nil {
			return err
		}
		defer file.RemoveScratch(dir)
		path := filepath.Join(dir, filepath.Base(args[0]))
		if err := file.Write(path, func(w io.Writer) error {
			f, err := file.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(w, file.Limited(f, args[0], maxSpooledBytes))
			return err
		}); err != nil {
			return err
		}
		return run(cmd, append([]string{path}, args[1:]...))
	}
}
