package provision

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/slurmview"
)

func TestParseAccounting(t *testing.T) {
	got, err := ParseAccounting([]byte("7|COMPLETED|a|b\n8|CANCELLED by 0|c\n\n9|PENDING|d\n"))
	want := []slurmview.Job{{ID: 7, State: "COMPLETED", Name: "a|b"}, {ID: 8, State: "CANCELLED", Name: "c"}, {ID: 9, State: "PENDING", Name: "d"}}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v %s", err, cmp.Diff(want, got))
	}
	if jobs, err := ParseAccounting(nil); err != nil || len(jobs) != 0 {
		t.Errorf("nothing: %v, %v", jobs, err)
	}
	for _, bad := range []string{"x", "1|R", "0|COMPLETED|a", "x|COMPLETED|a", "1||a"} {
		if jobs, err := ParseAccounting([]byte(bad)); !errors.Is(err, slurmview.ErrAnswer) {
			t.Errorf("%s: %v, %v", bad, jobs, err)
		}
	}
}

func FuzzParseAccounting(f *testing.F) {
	f.Add([]byte("7|COMPLETED|a|b\n8|CANCELLED by 0|c\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		jobs, err := ParseAccounting(b)
		if err != nil && !errors.Is(err, slurmview.ErrAnswer) {
			t.Errorf("untyped error %v", err)
		}
		for _, j := range jobs {
			if j.ID <= 0 || j.State == "" {
				t.Errorf("%+v", j)
			}
		}
	})
}

// script answers with fixed text and keeps the commands.
type script struct {
	answer string
	argv   []string
}

func (s *script) Run(_ context.Context, argv []string, _ *os.File) ([]byte, error) {
	s.argv = argv
	return []byte(s.answer), nil
}

func TestSubmitArguments(t *testing.T) {
	s := &script{answer: "42;cluster\n"}
	c := &slurmview.Client{Runner: s}
	id, err := submitJob(t.Context(), c, Request{Script: "-x;y", Args: []string{"a b", "$(c)"}, Nodes: 8, Limit: 90 * time.Second, Options: []string{"--partition=gpu", "--time=1"}, Name: "n", Comment: "t"}, nil)
	want := []string{"sbatch", "--parsable", "--partition=gpu", "--time=1", "--job-name=n", "--comment=t", "--nodes=8", "--time=2", "--no-requeue", "--", "-x;y", "a b", "$(c)"}
	if id != 42 || err != nil || !slices.Equal(s.argv, want) {
		t.Errorf("%d, %v, %q", id, err, s.argv)
	}
	for _, bad := range []string{"", "x", "-1", "Submitted batch job 4"} {
		s.answer = bad
		if _, err := submitJob(t.Context(), c, Request{}, nil); !errors.Is(err, slurmview.ErrAnswer) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestLock: a child that outlives its parent holds the lock.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := lock(t.Context(), Wall{}, path)
	if err != nil {
		t.Fatal(err)
	}
	// The command leaves a process behind that inherited the lock; it ends
	// when its stdin does.
	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{held}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	held.Close()
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := lock(soon, Wall{}, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("held by the child: %v", err)
	}
	time.AfterFunc(100*time.Millisecond, func() { stdin.Close() })
	again, err := lock(t.Context(), Wall{}, path)
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatalf("given back: %v", err)
	}
	again.Close()
}

func TestOwnOptions(t *testing.T) {
	r := Request{Script: "s", Nodes: 1, Limit: 3600e9, Notice: 300e9, After: 7}
	for _, tt := range []struct {
		options []string
		want    string
	}{
		{nil, "--signal=B:TERM@300 --dependency=afterany:7"},
		{[]string{"--signal=USR1@9"}, "--dependency=afterany:7"},
		{[]string{"--signal", "USR1@9", "-dafterok:3"}, ""},
		{[]string{"--dependency=after:1"}, "--signal=B:TERM@300"},
	} {
		r.Options = tt.options
		if got := strings.Join(r.own(), " "); got != tt.want {
			t.Errorf("beside %v: %q, want %q", tt.options, got, tt.want)
		}
	}
}
