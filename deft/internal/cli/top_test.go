package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/shared/cli"
)

func TestTopFindsTheOnlySession(t *testing.T) {
	dir, err := os.MkdirTemp("", "d") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	session := func(name string) string {
		path := filepath.Join(dir, name+".session")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := findSession(dir, nil); !errors.Is(err, errNoSession) {
		t.Errorf("no session: %v", err)
	}
	session("first")
	if at, err := findSession(dir, nil); err != nil || at.Name() != "first" {
		t.Errorf("one session: %v, %v", at, err)
	}
	path := session("second")
	if _, err := findSession(dir, nil); !errors.Is(err, errManySessions) || !strings.Contains(err.Error(), path) {
		t.Errorf("two sessions: %v", err)
	}
	for _, given := range []string{"second", path} {
		if at, err := findSession(dir, []string{given}); err != nil || at.Session() != path {
			t.Errorf("%s: %v, %v", given, at, err)
		}
	}
	for _, given := range []string{dir, "third", filepath.Join(dir, "none", "x.session")} {
		if _, err := findSession(dir, []string{given}); err == nil {
			t.Errorf("%s was taken for a session", given)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("the directory of a session that is absent was created")
	}
}

func TestTopEndsWithItsSession(t *testing.T) {
	updates := 0
	show := func(sessionView) error { updates++; return nil }
	running := func() (daemon.Status, error) { return daemon.Status{}, nil }
	if err := showUpdates(context.Background(), running, time.Microsecond, 3, show); err != nil || updates != 3 {
		t.Errorf("3 updates: %d, %v", updates, err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := showUpdates(cancelled, running, time.Hour, 0, show); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	calls := 0
	ending := func() (daemon.Status, error) {
		if calls++; calls > 1 {
			return daemon.Status{}, fmt.Errorf("x: %w", daemon.ErrNoDaemon)
		}
		return daemon.Status{}, nil
	}
	if err := showUpdates(context.Background(), ending, time.Microsecond, 0, show); !errors.Is(err, errSessionClosed) {
		t.Errorf("owner gone: %v", err)
	}
	absent := func() (daemon.Status, error) { return daemon.Status{}, daemon.ErrNoDaemon }
	if err := showUpdates(context.Background(), absent, time.Microsecond, 0, show); !errors.Is(err, daemon.ErrNoDaemon) {
		t.Errorf("no owner: %v", err)
	}
	full := errors.New("the disk is full")
	if err := showUpdates(context.Background(), running, time.Microsecond, 0, func(sessionView) error { return full }); !errors.Is(err, full) {
		t.Errorf("cannot print: %v", err)
	}
}

func TestRates(t *testing.T) {
	old := daemon.Client{ID: 257, Launches: 100, Jobs: 4, GPU: 1, Stall: 1}
	now := old
	now.Launches, now.Jobs, now.GPU, now.Stall, now.AtGate = 300, 5, 2.5, 1.2, 0.3
	late := daemon.Client{ID: 513, Launches: 50}
	tests := []struct {
		name          string
		before, after daemon.Client
		want          clientRates
	}{
		{"goes on", old, now, clientRates{LaunchesPerSecond: 100, JobsPerSecond: 0.5, GPU: 0.75, Stall: 0.25, Stopped: 0.15}},
		{"idle", old, old, clientRates{}},
		{"another in its slot", old, late, clientRates{LaunchesPerSecond: 25}},
		{"counters went back", now, old, clientRates{}},
	}
	for _, tt := range tests {
		v := viewSession(&daemon.Status{Age: 1, Clients: []daemon.Client{tt.before}}, daemon.Status{Age: 3, Clients: []daemon.Client{tt.after}})
		near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
		if diff := cmp.Diff(&tt.want, v.Clients[0].clientRates, near); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	// The next owner's age is no time since an update of the owner before.
	v := viewSession(&daemon.Status{Age: 60, Clients: []daemon.Client{old}}, daemon.Status{Age: 1, Clients: []daemon.Client{now}})
	if v.rates || v.Clients[0].clientRates != nil {
		t.Errorf("of two owners: %+v", v.Clients[0].clientRates)
	}
}

func TestScreens(t *testing.T) {
	var out bytes.Buffer
	env := cli.NewEnv(nil, &out, &out)
	client := daemon.Client{PID: 12, Name: "A", Gate: "closed", Paused: true}
	view := sessionView{
		Status:  daemon.Status{Session: "sim", Policy: "fair"},
		Clients: []clientView{{client, &clientRates{GPU: 0.5, Stopped: 0.3}}},
		rates:   true,
	}
	var answer cli.Output
	c := &cobra.Command{}
	answer.Flags(c)
	if err := c.ParseFlags([]string{"--json"}); err != nil {
		t.Fatal(err)
	}
	if err := newScreen(env, &answer)(view); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Policy  string
		Clients []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q: %v", &out, err)
	}
	if len(read.Clients) != 1 || read.Policy != "fair" || read.Clients[0]["pid"] != 12.0 || read.Clients[0]["gpu"] != 0.5 {
		t.Errorf("%s", &out)
	}
	out.Reset()
	if err := newScreen(env, &cli.Output{})(view); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"session sim, policy fair\n", " paused ", " 50.0 % ", "A was stopped for other programs for 30 % of the time"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("%q", &out)
	}
}
