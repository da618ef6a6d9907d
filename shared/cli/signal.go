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
// because a shell that exits sends one in addition to the terminal's.
func signalContext(env *Env) context.Context {
	ctx, stop := signal.NotifyContext(hangupContext(env), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop()
		file.Interrupt()
		endBlocked(env, os.Stdout)
	})
	return ctx
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

// hangupContext returns a context that ends at a hang-up, except under nohup.
func hangupContext(env *Env) context.Context {
	if signal.Ignored(syscall.SIGHUP) {
		return context.Background()
	}
	ctx, cancel := context.WithCancel(context.Background())
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	crash.Go(func() {
		for range hangups {
			if !env.hangups.Load() {
				cancel()
			}
		}
	})
	return ctx
}

// Hangups returns the process's hang-ups (SIGHUP), which from then on no longer end
// the command. A server uses it to read its files again.
func Hangups(env *Env) <-chan os.Signal {
	env.hangups.Store(true)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}
