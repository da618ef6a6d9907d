package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/shared/cli"
)

// newTopCommand returns top, which shows the clients of a session live.
func newTopCommand(env *cli.Env) *cobra.Command {
	var every time.Duration
	var count int
	var dir string
	var answer cli.Output
	c := &cobra.Command{
		Use:     "top [SESSION]",
		Short:   "Show the programs that share the device, live",
		Example: "  deft top sim --count 1",
		Long: `Show the programs that share the device, live: the table of deft ctl list with each
client's work since the last update. SESSION is a name, as in deft exec --session, or
the path of a session. Without it, the only session of this user is shown; if there
are several, their names are listed.

Rates are per second of wall-clock time. GPU is the fraction of time in which the
client had work queued; stall is the fraction in which it waited at
synchronization points or the closed gate.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if every <= 0 || count < 0 {
				return cli.Usagef("--every %v --count %d: want a duration above 0 and a count of 0 or more", every, count)
			}
			at, err := findSession(sessionDir(dir), args)
			if err != nil {
				return err
			}
			return showUpdates(cmd.Context(), at.Status, every, count, newScreen(env, &answer))
		},
	}
	sessionDirFlag(c, &dir)
	c.Flags().DurationVar(&every, "every", time.Second, "time between two updates")
	c.Flags().IntVar(&count, "count", 0, "number of updates (0: until interrupted, or until the session ends)")
	answer.Flags(c)
	return c
}

// Errors returned if no session can be shown.
var (
	errNoSession     = errors.New("no session found: start one with deft exec or deft daemon, as the same user")
	errManySessions  = errors.New("several sessions: give one of them")
	errSessionClosed = errors.New("the session's owner has ended")
)

// findSession returns the session given by the user, or the only one in the directory.
func findSession(dir string, args []string) (daemon.Place, error) {
	if len(args) == 0 {
		found := namedSessions(dir)
		if len(found) != 1 {
			err := errNoSession
			if len(found) > 1 {
				err = fmt.Errorf("%w: %s", errManySessions, strings.Join(found, " "))
			}
			return daemon.Place{}, fmt.Errorf("top: %w", err)
		}
		args = found
	}
	path := args[0]
	if !strings.Contains(path, "/") {
		path = filepath.Join(dir, path+".session")
	}
	name, session := strings.CutSuffix(filepath.Base(path), ".session")
	if _, err := os.Stat(path); err != nil {
		return daemon.Place{}, fmt.Errorf("top: %w", err)
	} else if !session {
		return daemon.Place{}, fmt.Errorf("top: %s: not the path of a session, which ends in .session", path)
	}
	return daemon.NewPlace(filepath.Dir(path), name)
}

// showUpdates shows the session until it ends, count updates are shown, or ctx ends.
func showUpdates(ctx context.Context, status func() (daemon.Status, error), every time.Duration, count int, show func(sessionView) error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	before, err := status()
	for n := 0; err == nil && (count == 0 || n < count); n++ {
		select {
		case <-ctx.Done():
			return nil // stopping the viewer is no error
		case <-tick.C:
		}
		var now daemon.Status
		if now, err = status(); errors.Is(err, daemon.ErrNoDaemon) {
			return fmt.Errorf("top: %w", errSessionClosed)
		} else if err == nil {
			err = show(viewSession(&before, now))
			before = now
		}
	}
	return err
}

// newScreen returns the function that shows one update: a JSON line, or a page, which
// replaces the last one on a terminal.
func newScreen(env *cli.Env, answer *cli.Output) func(sessionView) error {
	if answer.JSON() {
		return func(v sessionView) error { return env.WriteJSONLine(v) }
	}
	clearScreen := ""
	if cli.IsTerminal(env.Stdout) {
		clearScreen = "\x1b[H\x1b[2J"
	}
	return func(v sessionView) error {
		if _, err := io.WriteString(env.Stdout, clearScreen); err != nil {
			return err
		}
		return answer.Print(env, v, func(p *cli.Page) { showSession(p, v) })
	}
}
