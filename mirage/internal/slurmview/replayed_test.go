package slurmview

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// TestStatisticsReplayed plays the log of Lonestar6 on a simulated Slurm and asks, at the
// submission of one job in many, when it starts: with its own place in the queue and
// the arrivals of the last weeks, and at the end of the queue without new arrivals.
func TestStatisticsReplayed(t *testing.T) {
	dir := os.Getenv("FORETIME_DATA")
	if dir == "" {
		t.Skip("needs FORETIME_DATA")
	}
	log, err := trace.Open(filepath.Join(dir, "ls6-a100", "ls6-a100-2022-10_2023-02.log"), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const nodes, first, every = 74, 3000, 111
	for i := range log.Jobs {
		j := &log.Jobs[i]
		j.Nodes = min(j.Nodes, nodes)
		j.Need = &trace.Need{CPUs: j.Nodes}
	}
	h := &Hardware{Machine: cluster.Machine{Nodes: nodes, Kinds: []cluster.Kind{{Name: "n", Nodes: nodes, CPUs: 1}}}}
	config := simulator.Config{Machine: h.Machine, Rules: liveRules("bf_interval=120")}
	w, err := simulator.NewWorkload(log.Jobs, config)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Simulate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n, ours, inside, atEnd float64
	for i := first; i < len(log.Jobs); i += every {
		job := log.Jobs[i]
		st := simulator.Standing{Now: job.Submit, Repeats: true}
		for k, j := range log.Jobs[:i] {
			j.Start, j.End, _ = r.Times(k)
			switch {
			case j.End > st.Now && j.Start > st.Now:
				st.Pending = append(st.Pending, j)
			case j.End > st.Now:
				st.Running = append(st.Running, j)
			case j.End > st.Now-AnswerDays*86400:
				st.Ended = append(st.Ended, j)
			}
		}
		if len(st.Pending) < 5 {
			continue
		}
		wait := float64(r.Starts[i] - st.Now)
		ask := func(order priorities) *View {
			v, err := newView(h, st, config)
			if err != nil {
				t.Fatal(err)
			}
			v.order = order
			return v
		}
		job.Priority = 0
		waits, err := waitsOf(ask(priorities{multifactor: true}), job)
		if err != nil {
			t.Fatal(err)
		}
		p := Expect(waits, .8)
		n, ours = n+1, ours+math.Abs(p.Value-wait)/3600
		if wait >= p.Low-60 && wait <= p.High+60 {
			inside++
		}
		st.Repeats = false
		if waits, err = waitsOf(ask(priorities{}), job); err != nil {
			t.Fatal(err)
		}
		atEnd += math.Abs(waits.Median()-wait) / 3600
	}
	t.Logf("%.0f jobs: mean error %.2f h, 80 %% intervals hold %.2f; at the end of the queue %.2f h", n, ours/n, inside/n, atEnd/n)
	if n < 50 || ours > atEnd*0.7 || inside/n < 0.55 {
		t.Error("want at most 0.7 of the error at the end of the queue, and 0.55 of the waits in their intervals")
	}
}
