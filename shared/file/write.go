package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// Write writes a whole file: a reader sees the old bytes or the new ones and never
// a part, and a failure leaves the old ones. For a symbolic link, the file it names
// is written. An existing file keeps its mode; a new one gets 0666 less the umask.
// A device, a pipe or a socket is written to directly, in parts. The error is the
// write function's or wraps that of the file.
func Write(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, write)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	target, err := follow(path)
	if err != nil {
		return err
	}
	return replace(target, write)
}

// TryWrite returns the error that [Write] would return for a new file, before there is anything to
// write.
func TryWrite(path string) error {
	target, err := follow(path)
	if err != nil {
		return err
	}
	probe, err := os.CreateTemp(filepath.Dir(target), ".foretime-*")
	if err != nil {
		return renameError(err, target)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// writeThrough writes to a file that cannot be replaced.
func writeThrough(path string, write func(io.Writer) error) error {
	f, err := wait(func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }, (*os.File).Close)
	if err != nil {
		return pathError("open", path, err)
	}
	return errors.Join(write(&through{f}), f.Close())
}

// through is a file whose writes may block on a reader.
type through struct{ file *os.File }

// Write copies the bytes: after [Interrupt] the write under way continues in the
// background.
func (t *through) Write(p []byte) (int, error) {
	p = bytes.Clone(p)
	return wait(func() (int, error) { return t.file.Write(p) }, nil)
}

// maxLinks is the number of symbolic links that Linux follows in a row.
const maxLinks = 40

// follow returns the name at the end of a chain of symbolic links, whether a file
// of that name exists or not.
func follow(path string) (string, error) {
	for at, links := path, 0; links <= maxLinks; links++ {
		next, err := os.Readlink(at)
		if err != nil {
			return at, nil // not a link, or it does not exist yet
		}
		if !filepath.IsAbs(next) {
			// The path is not cleaned: ".." is resolved after the directory's
			// links.
			next = filepath.Dir(at) + string(filepath.Separator) + next
		}
		at = next
	}
	return "", &os.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
}

func replace(path string, write func(io.Writer) error) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
		renameio.WithPermissions(0o666), renameio.WithExistingPermissions())
	if err != nil {
		return renameError(err, path)
	}
	defer f.Cleanup() // nothing is left to clean up after a success
	if err := write(f); err != nil {
		return renameError(err, path)
	}
	return renameError(f.CloseAtomicallyReplace(), path)
}

// renameError replaces the temporary file's name in an error by the file's own.
func renameError(err error, path string) error {
	if failed, ok := errors.AsType[*os.PathError](err); ok && filepath.Dir(failed.Path) == filepath.Dir(path) {
		failed.Path = path
	}
	return err
}

// WriteJSON writes a value to a file, as [EncodeJSON] does.
func WriteJSON(path string, v any) error {
	return Write(path, func(w io.Writer) error {
		if err := EncodeJSON(w, v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
}

// EncodeJSON writes a value as JSON for people: indented by two spaces, with <, >
// and & unescaped, and a line feed at the end.
func EncodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
