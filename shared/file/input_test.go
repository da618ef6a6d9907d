package file_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/foretime/foretime/shared/file"
)

func TestOpenReadsWhatItIsGiven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("some text"), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("0123456789", 50_000) // more than one buffer
	go func() { _ = os.WriteFile(fifo, []byte(large), 0) }()
	for path, want := range map[string]string{path: "some text", fifo: large, "/dev/null": ""} {
		got, err := file.ReadAll(path)
		if err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v, want %d", path, len(got), err, len(want))
		}
	}
	if _, err := file.ReadAll(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
}

func TestLimited(t *testing.T) {
	for _, c := range []struct {
		most int64
		want string
		err  error
	}{{4, "0123", file.ErrTooLarge}, {0, "", file.ErrTooLarge}, {9, "012345678", file.ErrTooLarge}, {10, "0123456789", nil}, {99, "0123456789", nil}} {
		got, err := io.ReadAll(file.LimitReader(strings.NewReader("0123456789"), "digits", c.most))
		if string(got) != c.want || !errors.Is(err, c.err) || err != nil && !strings.HasPrefix(err.Error(), "digits: ") {
			t.Errorf("at most %d: %q, %v", c.most, got, err)
		}
	}
}

// waits returns, by name, calls that end only because the process is interrupted.
func waits(dir string) map[string]func() error {
	fifo := filepath.Join(dir, "fifo")
	return map[string]func() error{
		"open a FIFO to read": func() error { _, err := file.Open(fifo); return err },
		"open a FIFO to write": func() error {
			return file.Write(fifo, func(io.Writer) error { return nil })
		},
		"read an idle pipe": func() error {
			r, _, err := os.Pipe()
			if err != nil {
				return err
			}
			_, err = file.Interruptible(r).Read(make([]byte, 1))
			return err
		},
		"read a device without end": func() error {
			in, err := file.Open("/dev/zero")
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, in)
			return err
		},
		"read a regular file after the interrupt": func() error {
			in, err := file.Open(os.Args[0])
			for err == nil {
				if _, err = in.Read(make([]byte, 1)); err == nil {
					_, err = in.Seek(0, io.SeekStart)
				}
			}
			return err
		},
	}
}

// TestInterrupt runs each case in a process of its own, because Interrupt concerns
// the whole process.
func TestInterrupt(t *testing.T) {
	if name := os.Getenv("WAIT"); name != "" {
		interruptDuring(name, os.Getenv("DIR"))
		return
	}
	for name := range waits("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInterrupt$")
			c.Env = append(os.Environ(), "WAIT="+name, "DIR="+dir)
			out, err := c.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "interrupted\n") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func interruptDuring(name, dir string) {
	ended := make(chan error)
	go func() { ended <- waits(dir)[name]() }()
	file.Interrupt()
	file.Interrupt() // a second one changes nothing
	if err := <-ended; errors.Is(err, file.ErrInterrupted) {
		fmt.Println("interrupted")
	} else {
		fmt.Println(err)
	}
}

// A notice says once that a FIFO has no writer yet.
func TestNoticeWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("skipped: no FIFO: %v", err)
	}
	noticed := make(chan string, 2)
	file.NoticeWaits(func(path string) { noticed <- path })
	defer file.NoticeWaits(func(string) {})
	read := make(chan error, 1)
	go func() {
		text, err := file.ReadAll(path)
		if string(text) != "late" {
			err = errors.Join(err, fmt.Errorf("read %q", text))
		}
		read <- err
	}()
	if got := <-noticed; got != path {
		t.Errorf("noticed %s, want %s", got, path)
	}
	if err := os.WriteFile(path, []byte("late"), 0); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil || len(noticed) > 0 {
		t.Errorf("%v, and %d notices", err, len(noticed))
	}
}
