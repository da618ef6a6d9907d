package job_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/file"
)

// Rank 0 creates thirty tasks an iteration and ranks 1 to 3 ten each; migration
// evens it out, so that what ran tells of no imbalance. Rank 3 has a thread too
// many, which waits all the time, and rank 0 is a tenth of a second outside tasks.
func TestLostTime(t *testing.T) {
	const iterations, wall = 4, 0.25
	dir := t.TempDir()
	for rank := range 4 {
		var b strings.Builder
		b.WriteString(task.LogHeader)
		s := &summary.Summary{Rank: rank, Ranks: 4, Complete: true, Counts: task.Counts{Threads: 1, Ended: 15 * iterations}}
		waiting := wall - 0.15
		switch rank {
		case 0:
			waiting = 0
		case 3:
			s.Threads, waiting = 2, 2*wall-0.15
		}
		for i := range iterations {
			for n := range 15 {
				flag := "local"
				if rank > 0 && n >= 10 {
					flag = "remote"
				}
				fmt.Fprintf(&b, "%d,0,%s,app:work,800,0,,%.3f,,0.01,,,\n", i, flag, wall*float64(i)+0.01*float64(n))
			}
			created, given := 10, 0
			if rank == 0 {
				created, given = 30, 15
			}
			s.Rounds = append(s.Rounds, summary.Round{Created: created, Sent: given, Waiting: waiting, End: wall * float64(i+1)})
		}
		write(t, dir, fmt.Sprintf("chamtool_rank_%d.csv", rank), b.String())
		if err := file.Write(filepath.Join(dir, fmt.Sprintf("chamtool_summary_rank_%d.json", rank)), s.Write); err != nil {
			t.Fatal(err)
		}
	}
	f := load(t, dir).Figures()
	l := f.Lost
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("imbalance of what ran", f.Imbalance, 0)
	near("imbalance as created", l.Imbalance, 1)
	near("wall", l.Wall, iterations*wall)
	near("in tasks", l.Tasks, 4*15*0.01*iterations)
	near("waiting", l.Waiting, (0.1+0.1+0.35)*iterations)
	// 0.6 s of tasks on five threads, behind 0.1 s outside tasks.
	near("what perfect balance saves", l.Saving.Seconds, iterations*(wall-0.1-0.6/5))
	if l.Saving.Low > l.Saving.Seconds || l.Saving.High < l.Saving.Seconds {
		t.Errorf("%+v", l.Saving)
	}
	for _, r := range f.WorstRanks {
		want := [2]int{10 * iterations, 0}
		if r.Rank == 0 {
			want = [2]int{30 * iterations, 15 * iterations}
		}
		if r.Created != want[0] || r.Sent != want[1] {
			t.Errorf("rank %d: %d created, %d given away, want %v", r.Rank, r.Created, r.Sent, want)
		}
	}
	if l.Function == nil || l.Function.Function != "app:work" || len(l.Rounds) != 4*iterations {
		t.Errorf("%+v, %d rows", l.Function, len(l.Rounds))
	}
}
