package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/shared/cli"
)

// onlySelf is a proc file system that shows no process but this one.
func onlySelf(t *testing.T) string {
	dir := t.TempDir()
	if err := os.Symlink("/proc/self", filepath.Join(dir, "1")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTopFindsTheOnlySession(t *testing.T) {
	proc := onlySelf(t)
	if _, err := watched(proc, proc, nil); !errors.Is(err, errNoSession) {
		t.Errorf("no session: %v", err)
	}
	first, err := session.Create(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	found, err := watched(proc, proc, nil)
	if err != nil || found.ID() != first.ID() {
		t.Fatalf("one session: %v", err)
	}
	if err := found.Close(); err != nil {
		t.Error(err)
	}
	second, err := session.Create(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := watched(proc, proc, nil); !errors.Is(err, errManySessions) {
		t.Errorf("two sessions: %v", err)
	}
	named, err := watched(proc, proc, []string{second.Path()})
	if err != nil || named.ID() != second.ID() {
		t.Fatalf("a named session: %v", err)
	}
	named.Close()
	if _, err := watched(proc, proc, []string{t.TempDir()}); err == nil {
		t.Error("a folder was taken for a session")
	}
}

func TestTopEndsWithItsSession(t *testing.T) {
	s, err := session.Create(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	looks := 0
	show := func([]clientView) error { looks++; return nil }
	if err := watch(context.Background(), s, time.Microsecond, 3, show); err != nil || looks != 3 {
		t.Errorf("3 looks: %d, %v", looks, err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := watch(cancelled, s, time.Hour, 0, show); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	s.Disown()
	if err := watch(context.Background(), s, time.Microsecond, 0, show); !errors.Is(err, errSessionClosed) {
		t.Errorf("owner gone: %v", err)
	}
}

func TestTopRates(t *testing.T) {
	old := session.Client{Slot: 1, Identity: 7, Words: session.Words{Epoch: 1, Launches: 100, JobsEnded: 4, GPU: time.Second, Stall: time.Second}}
	now := old
	now.Launches, now.JobsEnded, now.GPU, now.Stall, now.AtGate = 300, 5, 2500*time.Millisecond, 1200*time.Millisecond, 300*time.Millisecond
	now.Directive = session.Directive{Closed: true, SyncEvery: 16}
	late := session.Client{
		Slot: 1, Identity: 9, Words: session.Words{Epoch: 2, Launches: 50}, Drained: true, Directive: session.Directive{Closed: true},
	}
	tests := []struct {
		name           string
		before, after  session.Client
		launches, jobs float64
		gpu, stall     float64
		gate           string
	}{
		{"goes on", old, now, 100, 0.5, 0.75, 0.25, "closed"},
		{"idle", old, old, 0, 0, 0, 0, "open"},
		{"another in its slot", old, late, 25, 0, 0, 0, "drained"},
		{"counters went back", now, old, 0, 0, 0, 0, "open"},
	}
	for _, tt := range tests {
		views := viewClients([]session.Client{tt.before}, []session.Client{tt.after}, 2*time.Second)
		v := views[0]
		got := []float64{v.LaunchesPerSecond, v.JobsPerSecond, v.GPU, v.Stall}
		if diff := cmp.Diff([]float64{tt.launches, tt.jobs, tt.gpu, tt.stall}, got); diff != "" || v.Gate != tt.gate {
			t.Errorf("%s: gate %s %s", tt.name, v.Gate, diff)
		}
	}
}

func TestTopScreens(t *testing.T) {
	var out bytes.Buffer
	env := cli.NewEnv(nil, &out, &out)
	s, err := session.Create(session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Announce("fair")
	views := []clientView{{PID: 12, Name: "A", Gate: "open", GPU: 0.5}}
	var answer cli.Output
	c := &cobra.Command{}
	answer.Flags(c)
	if err := c.ParseFlags([]string{"--json"}); err != nil {
		t.Fatal(err)
	}
	if err := screen(env, s, &answer)(views); err != nil {
		t.Fatal(err)
	}
	var look struct{ Clients []clientView }
	if err := json.Unmarshal(out.Bytes(), &look); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q: %v", &out, err)
	}
	if diff := cmp.Diff(views, look.Clients); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	if err := screen(env, s, &cli.Output{})(views); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "policy fair\n") || !strings.Contains(text, " 50.0 % ") || strings.Contains(text, "\x1b") {
		t.Errorf("table:\n%s", text)
	}
}
