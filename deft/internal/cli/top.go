package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/session"
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
		Long: `Show the programs that share the device, live: one line per client of a session
with its work since the last update. SESSION is a name, as in deft exec --session,
or a path. Without it, the only running session is shown; if there are several,
their paths are listed.

Rates are per second of wall-clock time. GPU is the fraction of time in which the
client had work queued; stall is the fraction in which it waited at
synchronization points or the closed gate.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if every <= 0 || count < 0 {
				return cli.Usagef("--every %v --count %d: want a duration above 0 and a count of 0 or more", every, count)
			}
			s, err := watched("/proc", sessions(dir), args)
			if err != nil {
				return err
			}
			defer s.Close()
			return watch(cmd.Context(), s, every, count, screen(env, s, &answer))
		},
	}
	folderFlag(c, &dir)
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

// watched opens the session given by the user, or the only one that exists.
func watched(proc, dir string, args []string) (*session.Session, error) {
	if len(args) == 1 {
		path := args[0]
		if !strings.Contains(path, "/") {
			path = filepath.Join(dir, path+".session")
		}
		s, err := session.Open(path)
		if err != nil {
			return nil, fmt.Errorf("top: %w", err)
		}
		return s, nil
	}
	found := append(findSessions(proc), namedSessions(dir)...)
	if len(found) == 0 {
		return nil, fmt.Errorf("top: %w", errNoSession)
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("top: %w: %s", errManySessions, strings.Join(found, " "))
	}
	return watched(proc, dir, found)
}

// findSessions returns one path for each session that a process of this user has open:
// sessions in anonymous memory have no other name.
func findSessions(proc string) []string {
	seen := map[uint64]bool{}
	var paths []string
	links, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*")) // the pattern is valid
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || !strings.HasPrefix(to, "/memfd:deft-session") {
			continue
		}
		s, err := session.Open(link)
		if err != nil {
			continue // already closed, or of another version
		}
		if !seen[s.ID()] {
			seen[s.ID()] = true
			paths = append(paths, link)
		}
		s.Close()
	}
	return paths
}

// watch shows the session until it ends, count updates are shown, or ctx ends.
func watch(ctx context.Context, s *session.Session, every time.Duration, count int, show func([]clientView) error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	before, then := s.Clients(), time.Now()
	for n := 0; count == 0 || n < count; n++ {
		select {
		case <-ctx.Done():
			return nil // stopping the viewer is no error
		case <-tick.C:
		}
		after, now := s.Clients(), time.Now()
		if err := show(viewClients(before, after, now.Sub(then))); err != nil {
			return err
		}
		if !s.OwnerAlive() {
			return fmt.Errorf("top: %w", errSessionClosed)
		}
		before, then = after, now
	}
	return nil
}

// clientView is one line: a client and its work between two updates.
type clientView struct {
	PID               int     `json:"pid"`
	Name              string  `json:"name"`
	Priority          int32   `json:"priority"`
	Weight            uint32  `json:"weight"`
	State             string  `json:"state"`
	Gate              string  `json:"gate"` // open, closed, or drained: closed and nothing queued
	SyncEvery         uint32  `json:"sync_every"`
	InFlight          uint32  `json:"in_flight"`
	Queued            uint64  `json:"queued"`
	Jobs              uint64  `json:"jobs"`
	JobsPerSecond     float64 `json:"jobs_per_s"`
	LaunchesPerSecond float64 `json:"launches_per_s"`
	GPU               float64 `json:"gpu"`   // fraction of time
	Stall             float64 `json:"stall"` // fraction of time, Gated included
	Gated             float64 `json:"gated"` // fraction of time at the closed gate
	MemoryBytes       uint64  `json:"memory_bytes"`
}

// viewClients pairs the clients of two updates; a new one counts from zero.
func viewClients(before, after []session.Client, between time.Duration) []clientView {
	views := make([]clientView, 0, len(after))
	seconds := between.Seconds()
	for _, c := range after {
		var old session.Client
		same := func(o session.Client) bool {
			return o.Slot == c.Slot && o.Epoch == c.Epoch && o.Identity == c.Identity
		}
		if i := slices.IndexFunc(before, same); i >= 0 {
			old = before[i]
		}
		rate := func(now, then uint64) float64 { return float64(now-min(then, now)) / seconds }
		share := func(d time.Duration) float64 { return max(0, d.Seconds()) / seconds }
		views = append(views, clientView{
			PID: c.PID(), Name: c.Name, Priority: c.Priority, Weight: c.Weight,
			State: fmt.Sprint(c.State), Gate: gate(c),
			SyncEvery: c.Directive.SyncEvery, InFlight: c.Directive.InFlight, Queued: c.Queued,
			Jobs: c.JobsEnded, JobsPerSecond: rate(c.JobsEnded, old.JobsEnded),
			LaunchesPerSecond: rate(c.Launches, old.Launches),
			GPU:               share(c.GPU - old.GPU),
			Gated:             share(c.AtGate - old.AtGate),
			Stall:             share(c.Stall + c.AtGate - old.Stall - old.AtGate),
			MemoryBytes:       c.MemoryBytes,
		})
	}
	return views
}

// gate returns the state of a client's gate.
func gate(c session.Client) string {
	switch {
	case !c.Directive.Closed:
		return "open"
	case c.Drained:
		return "drained"
	}
	return "closed"
}

// screen returns the function that shows one update: a JSON line, or a page, which
// replaces the last one on a terminal.
func screen(env *cli.Env, s *session.Session, answer *cli.Output) func([]clientView) error {
	if answer.JSON() {
		return func(views []clientView) error {
			return env.WriteJSONLine(map[string]any{"policy": s.Policy(), "clients": views})
		}
	}
	clearScreen := ""
	if cli.IsTerminal(env.Stdout) {
		clearScreen = "\x1b[H\x1b[2J"
	}
	return func(views []clientView) error {
		if _, err := io.WriteString(env.Stdout, clearScreen); err != nil {
			return err
		}
		return answer.Print(env, views, func(p *cli.Page) { showViews(p, s.Policy(), views) })
	}
}

func showViews(p *cli.Page, policy string, views []clientView) {
	if policy != "" {
		p.Line("policy %s", policy)
	}
	t := p.Table("PID", "job", "priority", "state", "gate", "sync", "queued", "jobs", "jobs/s", "launches/s", "GPU", "stall", "memory MB")
	for _, v := range views {
		t.Add(v.PID, v.Name, v.Priority, v.State, v.Gate, v.SyncEvery, v.Queued, v.Jobs,
			v.JobsPerSecond, v.LaunchesPerSecond, cli.Share(v.GPU), cli.Share(v.Stall), float64(v.MemoryBytes)/1e6)
	}
	for _, v := range views {
		if v.Gated >= notableWait {
			p.Line("%s was stopped for other programs for %.0f %% of the time; a larger --slack lets urgent programs give away more", v.Name, 100*min(v.Gated, 1))
		}
	}
}
