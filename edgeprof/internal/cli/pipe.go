package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/file"
)

// maxSpooledBytes is the limit of a model read from a pipe: protobuf's limit, since ONNX
// files are protobuf messages. Larger models keep their tensors in separate files.
const maxSpooledBytes = 2 << 30

// endQuietly wraps a command on a model file that may be a pipe. Models are read more than
// once and not from first to last byte, so the command gets a copy of the pipe's data.
func endQuietly(run func(cmd *cobra.Command, args []string) error) func(cmd *cobra.Command, args []string) error {
	return func(cmd *cobra.Command, args []string) error {
		info, err := os.Stat(args[0])
		if err != nil || info.Mode().IsRegular() || info.IsDir() {
			return run(cmd, args) // which reports the error
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
			_, err = io.Copy(w, file.LimitReader(f, args[0], maxSpooledBytes))
			return err
		}); err != nil {
			return err
		}
		if err := run(cmd, append([]string{path}, args[1:]...)); err != nil {
			return copyError{err, path, args[0]}
		}
		return nil
	}
}

// copyError is an error about a copy, which names the original.
type copyError struct {
	error
	path, original string
}

func (e copyError) Error() string { return strings.ReplaceAll(e.error.Error(), e.path, e.original) }

func (e copyError) Unwrap() error { return e.error }
