package slurmview

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/mirage/internal/trace"
)

const (
	// As Slurm 22.05.8 prints them, shortened.
	queue2205 = `{"meta":{"Slurm":{"release":"22.05.8"}},"errors":[],"jobs":[{"comment":"a|b \"q\"","end_time":1826806318,"job_id":1,"job_state":"RUNNING","name":"tok","nice":null,"node_count":1,"start_time":1795270318,"submit_time":1795270317,"time_limit":525600,"user_name":"root"},{"comment":"","end_time":0,"job_id":2,"job_state":"PENDING","name":"x","node_count":2,"priority":4294,"state_reason":"Dependency","array_task_string":"0-8:2,20%3","start_time":0,"submit_time":1795270318,"time_limit":null,"user_name":"root"}]}`
	// The same in the layout of later versions.
	queue2311 = `{"errors":[],"jobs":[{"comment":"a|b \"q\"","end_time":{"set":true,"infinite":false,"number":1826806318},"job_id":1,"job_state":["RUNNING","CONFIGURING"],"name":"tok","node_count":{"set":true,"infinite":false,"number":1},"start_time":{"set":true,"infinite":false,"number":1795270318},"submit_time":{"set":true,"infinite":false,"number":1795270317},"time_limit":{"set":true,"infinite":false,"number":525600},"user_name":"root"},{"job_id":2,"job_state":["PENDING"],"name":"x","node_count":{"set":true,"infinite":false,"number":2},"priority":{"set":true,"infinite":false,"number":4294},"state_reason":"Dependency","array_task_string":"1-5,7","submit_time":{"set":true,"infinite":false,"number":1795270318},"time_limit":{"set":false,"infinite":true,"number":0},"start_time":{"set":false,"number":7},"user_name":"root"}]}`
)

func TestParseQueue(t *testing.T) {
	want := []Job{
		{ID: 1, Name: "tok", User: "root", Comment: `a|b "q"`, State: "RUNNING", Nodes: 1, Limit: 365 * 24 * time.Hour, Submit: 1795270317, Start: 1795270318, End: 1826806318, Tasks: 1},
		{ID: 2, Name: "x", User: "root", State: "PENDING", Nodes: 2, Submit: 1795270318, Priority: 4294, Reason: "Dependency", Tasks: 6},
	}
	for name, text := range map[string]string{"0-8:2,20%3": queue2205, "1-5,7": queue2311} {
		want[1].List = name // the tasks, which differ
		jobs, err := ParseQueue([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, jobs); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if jobs, err := ParseQueue([]byte(`{"jobs":[]}`)); err != nil || len(jobs) != 0 {
		t.Errorf("empty queue: %v, %v", jobs, err)
	}
	for _, bad := range []string{
		"", "{}", "null", "[]", `{"jobs":null}`, `{"jobs":[{}]}`, `{"jobs":[{"job_id":1}]}`, `{"jobs":[{"job_id":0,"job_state":"PENDING"}]}`,
		`{"jobs":[{"job_id":"1","job_state":"PENDING"}]}`, `{"jobs":[{"job_id":1,"job_state":[]}]}`, `{"errors":[{"error":"x"}],"jobs":[]}`, queue2205[:200],
		`{"jobs":[{"job_id":null,"job_state":"RUNNING"}]}`, `{"jobs":[{"job_id":1,"job_state":"RUNNING","end_time":{"set":"x"}}]}`, `{"jobs":[{"job_id":1,"job_state":[1]}]}`,
		`{"jobs":[{"job_id":1,"job_state":"PENDING","array_task_string":"5-3"}]}`, `{"jobs":[{"job_id":1,"job_state":"PENDING","array_task_string":"0-9999999999"}]}`, `{"jobs":[{"job_id":1,"job_state":"PENDING","array_task_string":"0-9:0"}]}`,
	} {
		if jobs, err := ParseQueue([]byte(bad)); !errors.Is(err, ErrAnswer) {
			t.Errorf("%s: %v, %v", bad, jobs, err)
		}
	}
}

func TestTasks(t *testing.T) {
	for list, want := range map[string]int{"": 1, "7": 1, "0-3": 4, "0-8:2,20%3": 6, "1,3,5,...": 3, "1-10%1": 10} {
		if got, err := trace.Tasks(list); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", list, got, err, want)
		}
	}
}

func TestParseController(t *testing.T) {
	// As scontrol 22.05.8 prints them.
	got, err := ParseController([]byte("Configuration data as of 2026-11-21T14:11:59\nAccountingStorageType   = accounting_storage/none\nMessageTimeout          = 10 sec\nMinJobAge               = 300 sec\n\nSlurmctld(primary) at vm is UP\n"))
	if want := (Controller{MessageTimeout: 10 * time.Second, MinJobAge: 300 * time.Second, priorities: priorities{multifactor: true}}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "MessageTimeout = 10 sec\nMinJobAge = 300 sec\n", "AccountingStorageType = x\nMessageTimeout = ten\nMinJobAge = 1 sec\n"} {
		if got, err := ParseController([]byte(bad)); !errors.Is(err, ErrAnswer) {
			t.Errorf("%q: %+v, %v", bad, got, err)
		}
	}
}

func TestStates(t *testing.T) {
	for state, want := range map[trace.State][3]bool{ // pending, running, over
		"PENDING": {true, false, false}, "REQUEUED": {true, false, false}, "RUNNING": {false, true, false}, "COMPLETING": {false, true, false},
		"COMPLETED": {false, false, true}, "NODE_FAIL": {false, false, true}, "TIMEOUT": {false, false, true}, "OUT_OF_MEMORY": {false, false, true},
	} {
		if got := [3]bool{state.Pending(), state.Running(), state.Over()}; got != want {
			t.Errorf("%s: %v, want %v", state, got, want)
		}
	}
	for _, tt := range []struct {
		j    Job
		want bool
	}{
		{Job{State: "CANCELLED", Start: 5, End: 5}, false}, {Job{State: "CANCELLED", Start: 5, End: 6}, true},
		{Job{State: "COMPLETED", Start: 5, End: 5}, true}, {Job{State: "PENDING", Start: 99}, false}, {Job{State: "FAILED"}, false},
	} {
		if got := tt.j.HasStarted(); got != tt.want {
			t.Errorf("%+v started: %v", tt.j, got)
		}
	}
}

func FuzzParseQueue(f *testing.F) {
	f.Add([]byte(queue2205))
	f.Add([]byte(queue2311))
	f.Add([]byte(`{"jobs":[{"job_id":1e3,"job_state":["X"]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		jobs, err := ParseQueue(b)
		if err != nil && !errors.Is(err, ErrAnswer) {
			t.Errorf("untyped error %v", err)
		}
		for _, j := range jobs {
			if j.ID <= 0 || j.State == "" {
				t.Errorf("%+v", j)
			}
		}
	})
}

// TestExec: what commands say and how they fail.
func TestExec(t *testing.T) {
	e := Exec{Timeout: 10 * time.Second}
	if b, err := e.Run(t.Context(), []string{"printf", "%s", "a b"}, nil); err != nil || string(b) != "a b" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := e.Run(t.Context(), []string{"ls", "--nonesuch"}, nil); !errors.Is(err, ErrCommand) || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("bad option: %v", err)
	}
	if _, err := e.Run(t.Context(), []string{"/nonesuch"}, nil); !errors.Is(err, ErrCommand) {
		t.Errorf("no such command: %v", err)
	}
	if _, err := (Exec{Timeout: time.Millisecond}).Run(t.Context(), []string{"sleep", "60"}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("too long: %v", err)
	}
	held, err := os.Create(filepath.Join(t.TempDir(), "held"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	b, err := e.Run(t.Context(), []string{"readlink", "/proc/self/fd/3"}, held)
	if err != nil || strings.TrimSpace(string(b)) != held.Name() {
		t.Errorf("descriptor 3 is %q, %v", b, err)
	}
}

// TestTestOnlyRefuses: sbatch's own words say why it refuses a job.
func TestTestOnlyRefuses(t *testing.T) {
	dir := t.TempDir()
	sbatch := "#!/bin/sh\necho 'sbatch: error: Invalid account' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "sbatch"), []byte(sbatch), 0o700); err != nil {
		t.Fatal(err)
	}
	c := Client{Runner: Exec{Env: []string{"PATH=" + dir + ":" + os.Getenv("PATH")}}}
	if _, err := c.TestOnly(t.Context(), nil); !errors.Is(err, ErrCommand) || !strings.Contains(err.Error(), "Invalid account") {
		t.Errorf("%v", err)
	}
}
