package launch

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/foretime/foretime/shared/crash"
)

// A relay is a process that reads what the user's job prints and passes it on: to the user, and
// to the Job as long as it lives. A pipe whose only reader was killed would end the job, so its
// reader is another process than the one that people kill.

// Descriptors of the relay: what the job prints on each stream, and the pipes to its Job.
const (
	relayInput = 3
	relayTap   = 5
)

// tapPatience bounds the time that the job may be held up by a Job that was stopped.
const tapPatience = 2 * time.Second

// startRelay starts the program of Settings.Relay, which reads both inputs, and returns
// the ends of the pipes on which it passes them on; none if it cannot be started.
func startRelay(argv, env []string, user *os.File, inputs [2]*os.File) (taps [2]*os.File, err error) {
	if len(argv) == 0 {
		return taps, os.ErrNotExist
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return taps, err
	}
	defer null.Close()
	files := []uintptr{null.Fd(), user.Fd(), user.Fd(), descriptor(inputs[0]), descriptor(inputs[1]), 0, 0}
	for i := range taps {
		r, w, err := os.Pipe()
		if err != nil {
			return taps, err
		}
		defer w.Close()
		taps[i], files[relayTap+i] = r, descriptor(w)
	}
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Dir: "/", Env: env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return taps, err
	}
	crash.Go(func() { _, _ = syscall.Wait4(pid, nil, 0, nil) })
	return taps, nil
}

// descriptor returns the number of an open file, and leaves the file non-blocking, which Fd
// does not.
func descriptor(f *os.File) (number uintptr) {
	raw, err := f.SyscallConn()
	if err != nil {
		return f.Fd()
	}
	_ = raw.Control(func(fd uintptr) { number = fd })
	return number
}

// Relay passes on to the user what the job prints, in the process of [Settings.Relay]. It
// returns when no process holds the job's streams any more. What cannot be written, as on a
// full disk, is dropped: the job goes on.
func Relay(user io.Writer) {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	var streams crash.Group
	for i := range 2 {
		input, tap := os.NewFile(uintptr(relayInput+i), "job"), os.NewFile(uintptr(relayTap+i), "tap")
		streams.Go(func() error {
			_, err := io.Copy(lossy{user}, io.TeeReader(input, &patient{tap: tap}))
			tap.Close()
			return err
		})
	}
	_ = streams.Wait() // there is nobody to tell
}

// lossy is a writer whose failures nobody hears of.
type lossy struct{ io.Writer }

func (w lossy) Write(b []byte) (int, error) {
	_, _ = w.Writer.Write(b)
	return len(b), nil
}

// patient writes to a tap until its reader is gone or reads no more.
type patient struct {
	tap  *os.File
	gone bool
}

func (p *patient) Write(b []byte) (int, error) {
	if !p.gone {
		_ = p.tap.SetWriteDeadline(time.Now().Add(tapPatience))
		if _, err := p.tap.Write(b); err != nil {
			p.gone = true
			p.tap.Close()
		}
	}
	return len(b), nil
}
