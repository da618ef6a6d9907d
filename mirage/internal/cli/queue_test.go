package cli

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/cli"
)

// busy are jobs of a machine of four nodes, taken in the order in which they come, that
// is asked for somewhat more than it has.
func busy(n int) []trace.Job {
	rng := rand.New(rand.NewPCG(1, 2))
	jobs, free, at := make([]trace.Job, n), make([]int64, 4), int64(1_670_000_000)
	for i := range jobs {
		at += int64(900 * rng.ExpFloat64())
		run := int64(3600*rng.ExpFloat64()) + 1
		first := slices.Index(free, slices.Min(free))
		start := max(at, free[first])
		free[first] = start + run
		jobs[i] = trace.Job{ID: fmt.Sprint(i), User: string(rune('a' + rng.IntN(5))), Submit: at, Start: start, End: start + run, Limit: max(run, 7200), Nodes: 1}
	}
	return jobs
}

// accounted returns the output of sacct for jobs at a time, in all of these states.
func accounted(jobs []trace.Job, at int64, states string) string {
	b := &strings.Builder{}
	fmt.Fprintln(b, "JobID|User|Submit|Start|End|Timelimit|NNodes|State")
	when := func(t int64) string {
		if t >= at {
			return "Unknown"
		}
		return time.Unix(t, 0).UTC().Format("2006-01-02T15:04:05")
	}
	for _, j := range jobs {
		state := "COMPLETED"
		if j.Start >= at {
			state = "PENDING"
		} else if j.End >= at {
			state = "RUNNING"
		}
		if j.Submit < at && strings.Contains(states, state) {
			fmt.Fprintf(b, "%s|%s|%s|%s|%s|%d:00|1|%s\n", j.ID, j.User, when(j.Submit), when(j.Start), when(j.End), (j.Limit+59)/60, state)
		}
	}
	return b.String()
}

// TestQueueOfTheMoment: sacct as it stood at a submission gives the answer of the finished
// log. Without the rows of those that wait and run the answer is another one, and says so.
func TestQueueOfTheMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	jobs, dir := busy(330), t.TempDir()
	answer := func(at int64, text string) *forecast.Answer {
		t.Helper()
		log := filepath.Join(dir, "log")
		if err := os.WriteFile(log, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		w := when{in: newSettings(), level: .8, at: time.Unix(at, 0).UTC().Format(time.RFC3339)}
		k, err := w.read(t.Context(), cli.NewEnv(nil, io.Discard, io.Discard), log)
		if err != nil {
			t.Fatal(err)
		}
		a, err := k.Answer(forecast.Question{Nodes: 1, Limit: 7200, User: "b"})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const all = "COMPLETED RUNNING PENDING"
	told := 0
	for _, i := range []int{210, 300} {
		at := jobs[i].Submit
		want := answer(at, accounted(jobs, math.MaxInt64, all))
		near := func(a *forecast.Answer) bool { return math.Abs(a.Wait.Value-want.Wait.Value) <= .01*want.Wait.Value }
		if a := answer(at, accounted(jobs, at, all)); !near(a) || len(a.Notes) > 0 {
			t.Errorf("job %d: %v h, want %v; %v", i, a.Wait, want.Wait, a.Notes)
		}
		if a := answer(at, accounted(jobs, at, "COMPLETED")); strings.Contains(strings.Join(a.Notes, ""), "the log has no queue") && !near(a) {
			told++
		}
	}
	if told < 2 {
		t.Errorf("%d of 2 answers without a queue say so", told)
	}
}
