package checker

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// TestResume: what is seen of a queue from outside is enough to predict what
// the simulation itself predicts, whoever of the running is one's own.
func TestResume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := workload(t, rapid.SampledFrom(disciplines()).Draw(t, "discipline"))
		if len(table.Jobs) == 0 {
			return
		}
		table.Rules.Backfill.IntervalSeconds = 0 // when the last pass was cannot be seen
		for i := range table.Jobs {
			table.Jobs[i].After = "" // nor who waits for whom
		}
		c := simulator.Config{Machine: table.Machine, Rules: table.Rules}
		w, err := simulator.NewWorkload(table.Jobs, c)
		if err != nil {
			t.Fatal(err)
		}
		s := w.New()
		starts := map[int32]int64{}
		s.OnStart = func(job int32, at int64) { starts[job] = at }
		s.RunUntil(table.Jobs[rapid.IntRange(0, len(table.Jobs)-1).Draw(t, "when")].Submit)
		if rapid.Bool().Draw(t, "a service runs") {
			n, err := s.Submit(trace.Job{Nodes: rapid.IntRange(1, table.Machine.Nodes).Draw(t, "service nodes"), Limit: 4000, End: 4000})
			if err != nil {
				t.Fatal(err)
			}
			s.RunUntil(s.Now() + 500)
			if e := s.Extra(n); e.Finished || !e.Started {
				return // it would be pending, and nobody's own
			}
		}
		st := simulator.Standing{Now: s.Now()}
		holds := map[int32]bool{}
		for _, a := range s.Nodes().Running() {
			holds[a.Job] = true
			if s.IsExtra(a.Job) {
				st.Own = append(st.Own, trace.Job{Nodes: int(a.Nodes), Submit: s.SubmitTime(a.Job), Start: a.Start, Limit: a.Until - a.Start})
			}
		}
		for i, j := range table.Jobs {
			j.End = 0
			switch start, started := starts[int32(i)]; {
			case holds[int32(i)]:
				j.Start = start
				st.Running = append(st.Running, j)
			case !started && j.Submit <= st.Now:
				j.Start = 0
				st.Pending = append(st.Pending, j)
			}
		}
		again, err := c.Resume(st)
		if err != nil {
			t.Fatal(err)
		}
		next := trace.Job{Nodes: rapid.IntRange(1, table.Machine.Nodes).Draw(t, "nodes asked"), Limit: 700, End: 700}
		for _, share := range []float64{1, 0.4} {
			want, err := s.WaitIn(s.Using(share), next, simulator.Farthest)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := again.WaitIn(again.Using(share), next, simulator.Farthest); err != nil || got != want {
				t.Fatalf("share %v: %d s, %v; the simulation itself predicts %d s", share, got.Seconds, err, want.Seconds)
			}
		}
	})
}
