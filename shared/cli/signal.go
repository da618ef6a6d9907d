package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/file"
)

// signalContext returns the context of the process's command. Ctrl-C, SIGTERM and a
// hang-up end it. A second Ctrl-C or SIGTERM kills; a second hang-up does not,
// because a shell that exits sends one in addition to the terminal's. Under nohup a
// hang-up ends nothing.
func signalContext(env *Env) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	file.NoticeWaits(func(path string) { env.Log.Warnf("%s: waiting for a program that writes to it", path) })
	stop := endBySignal(env, cancel, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		endBySignal(env, cancel, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, func() {
		stop()
		file.Interrupt()
		endBlocked(env, os.Stdout)
	})
	return ctx
}

// endBySignal cancels a context at signals that the command has not taken, until stop
// is called.
func endBySignal(env *Env, cancel func(), signals ...os.Signal) (stop func()) {
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	crash.Go(func() {
		for s := range received {
			if env.taken.Load()&signalBit(s) == 0 {
				cancel()
			}
		}
	})
	return func() { signal.Stop(received) }
}

// endBlocked ends an interrupted process that has been blocked for a second on a
// full output pipe, such as a pager's.
func endBlocked(env *Env, out *os.File) {
	info, err := out.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	for full := 0; full < 10; time.Sleep(100 * time.Millisecond) {
		poll := []unix.PollFd{{Fd: int32(out.Fd()), Events: unix.POLLOUT}}
		if n, err := unix.Poll(poll, 0); err == nil && n == 0 {
			full++
		} else {
			full = 0
		}
	}
	fmt.Fprintf(env.Stderr, "%s: interrupted\n", filepath.Base(os.Args[0]))
	os.Exit(ExitFailed)
}

// Signals returns the process's signals of the given kinds, which from then on do not
// end the command: a server reads its files again, a launcher passes them on.
func Signals(env *Env, kinds ...os.Signal) <-chan os.Signal {
	received := make(chan os.Signal, 16)
	for _, s := range kinds {
		env.taken.Or(signalBit(s))
	}
	signal.Notify(received, kinds...)
	return received
}

func signalBit(s os.Signal) uint64 {
	number, _ := s.(syscall.Signal)
	return 1 << (number % 64)
}
