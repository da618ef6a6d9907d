package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/foretime/foretime/shared/crash"
)

// interruptible returns the context of the process's command. Ctrl-C, SIGTERM
// and a hang-up end it. A second Ctrl-C or SIGTERM kills; a second hang-up does
// not, for a shell that goes sends its own beside the terminal's.
func interruptible(env *Env) context.Context {
	ctx, stop := signal.NotifyContext(connected(env), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

// connected returns a context that ends at a hang-up, but under nohup.
func connected(env *Env) context.Context {
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

// Hangups returns the process's hang-ups (SIGHUP), which from here on no
// longer end the command: for a server that reads its files again.
func Hangups(env *Env) <-chan os.Signal {
	env.hangups.Store(true)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}
