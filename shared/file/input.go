package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/foretime/foretime/shared/crash"
)

// Errors returned while a file is read or written.
var (
	// ErrInterrupted is returned once Interrupt was called; it wraps context.Canceled.
	ErrInterrupted = fmt.Errorf("interrupted: %w", context.Canceled)
	// ErrNotRegular is returned for a device, a FIFO or a directory where a file is wanted.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is returned for an input above its reader's limit.
	ErrTooLarge = errors.New("too large")
)

// interrupted is closed by Interrupt. Like signals it is global to the process:
// every wait for a file ends.
var interrupted, interrupt = func() (chan struct{}, func()) {
	c := make(chan struct{})
	return c, sync.OnceFunc(func() { close(c) })
}()

// Interrupt ends every wait for a file: opening a FIFO, reading what [Open] and
// [Interruptible] return, and writing to a FIFO or a device fail with
// [ErrInterrupted] from then on. A program calls it at its first signal.
func Interrupt() { interrupt() }

// Input is a file opened for reading. Its methods are those of os.File.
type Input struct {
	io.Reader
	file *os.File
}

// noticeWait is called with the path of a FIFO that has no writer yet.
var noticeWait atomic.Pointer[func(path string)]

// NoticeWaits has notice called once an [Open] has waited a second for a FIFO's writer.
func NoticeWaits(notice func(path string)) { noticeWait.Store(&notice) }

// Open opens the file at path, which may be a FIFO or a device, for reading.
// [Interrupt] ends the wait for a FIFO's writer and each later read.
func Open(path string) (*Input, error) {
	if notice := noticeWait.Load(); notice != nil {
		late := time.AfterFunc(time.Second, func() { (*notice)(path) })
		defer late.Stop()
	}
	f, err := wait(func() (*os.File, error) { return os.Open(path) }, (*os.File).Close)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	in := &Input{file: f, Reader: Interruptible(f)}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		in.Reader = &checked{f}
	}
	return in, nil
}

// OpenRegular opens a regular file for reading: its end comes. For what may have none, as a
// device or a FIFO, the error wraps [ErrNotRegular].
func OpenRegular(path string) (*Input, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	return Open(path)
}

// checkRegular returns an error for what is no regular file, or is not there.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	return err
}

// Name returns the path that was opened.
func (in *Input) Name() string { return in.file.Name() }

// Stat describes the file.
func (in *Input) Stat() (fs.FileInfo, error) { return in.file.Stat() }

// Seek moves to an offset of a regular file.
func (in *Input) Seek(offset int64, whence int) (int64, error) { return in.file.Seek(offset, whence) }

// ReadAt reads from an offset of a regular file.
func (in *Input) ReadAt(p []byte, offset int64) (int, error) { return in.file.ReadAt(p, offset) }

// Close closes the file.
func (in *Input) Close() error { return in.file.Close() }

// maxDocumentBytes is the limit of ReadAll: documents are parsed in memory.
const maxDocumentBytes = 1 << 30

// ReadAll returns the content of the file at path, which may be a FIFO, of at most
// 1 GiB. The error wraps [ErrTooLarge] for a larger file. [Interrupt] does not end
// the reading of a regular file.
func ReadAll(path string) ([]byte, error) {
	in, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := in.Reader
	if c, regular := r.(*checked); regular { // reading a document is short; a server that drains must finish it
		r = c.file
	}
	return io.ReadAll(LimitReader(r, path, maxDocumentBytes))
}

// LimitReader returns a reader of at most most bytes of r. Beyond them it returns an
// error that names the input and wraps [ErrTooLarge].
func LimitReader(r io.Reader, name string, most int64) io.Reader {
	return &limited{r, name, most, most}
}

type limited struct {
	r          io.Reader
	name       string
	most, left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 { // one more byte shows whether there is more
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		n = int(l.left)
		err = fmt.Errorf("%s: %w: more than %d bytes", l.name, ErrTooLarge, l.most)
	}
	l.left -= int64(n)
	return n, err
}

// checked is a regular file, whose reads do not block.
type checked struct{ file *os.File }

func (c *checked) Read(p []byte) (int, error) {
	select {
	case <-interrupted:
		return 0, ErrInterrupted
	default:
		return c.file.Read(p)
	}
}

// Interruptible returns a reader of r, such as standard input, whose reads end at
// [Interrupt]. The read of r that is then under way continues in the background,
// and its data is lost.
func Interruptible(r io.Reader) io.Reader { return &interruptible{r: r} }

type interruptible struct {
	r      io.Reader
	buffer []byte // separate from the caller's, which may be used again after an interrupt
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.buffer == nil {
		i.buffer = make([]byte, 64<<10)
	}
	into := i.buffer[:min(len(p), len(i.buffer))]
	var end error // error of r, returned with bytes
	n, err := wait(func() (n int, err error) {
		n, end = i.r.Read(into)
		return n, nil
	}, nil)
	if err != nil {
		i.buffer = nil // the read under way still uses it
		return 0, err
	}
	return copy(p, into[:n]), end
}

// wait returns the results of call, or ErrInterrupted as soon as the process is
// interrupted; discard then gets the later result of call.
func wait[T any](call func() (T, error), discard func(T) error) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	crash.Go(func() {
		v, err := call()
		done <- result{v, err}
	})
	select {
	case r := <-done:
		return r.value, r.err
	case <-interrupted:
		if discard != nil {
			crash.Go(func() {
				if r := <-done; r.err == nil {
					_ = discard(r.value)
				}
			})
		}
		var none T
		return none, ErrInterrupted
	}
}

// pathError adds the path to an error that lacks it.
func pathError(op, path string, err error) error {
	if errors.Is(err, ErrInterrupted) {
		return &os.PathError{Op: op, Path: path, Err: err}
	}
	return err
}
