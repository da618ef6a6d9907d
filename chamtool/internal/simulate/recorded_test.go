package simulate_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/simulate"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/file"
)

// recorded writes the logs of a job of two ranks with one thread each. Rank 0 creates
// thirty tasks of 10 ms an iteration, rank 1 ten of 2 ms; moved of the first ran on
// rank 1. Each iteration takes two fifths longer than its work.
func recorded(t *testing.T, moved int) *job.Job {
	t.Helper()
	dir := t.TempDir()
	for rank := range 2 {
		var b strings.Builder
		b.WriteString(task.LogHeader)
		s := &summary.Summary{Rank: rank, Ranks: 2, Complete: true, Counts: task.Counts{Threads: 1}}
		wall := 1.4 * 0.01 * float64(30-moved)
		for i := range 6 {
			row := func(n int, flag string, seconds float64) {
				fmt.Fprintf(&b, "%d,0,%s,app:work,%.0f,0,,%.4f,,%.4f,,,,,\n", i, flag, 1e6*seconds, wall*float64(i)+1e-3*float64(n), seconds)
				s.Ended++
			}
			if rank == 0 {
				for n := range 30 - moved {
					row(n, "local", 0.01)
				}
			} else {
				for n := range 10 {
					row(n, "local", 0.002)
				}
				for n := range moved {
					row(10+n, "remote", 0.01)
				}
			}
			s.Rounds = append(s.Rounds, summary.Round{Created: 30 - 20*rank, Sent: moved * (1 - rank), End: wall * float64(i+1)})
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("chamtool_rank_%d.csv", rank)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := file.Write(filepath.Join(dir, summary.FileName(rank)), s.Write); err != nil {
			t.Fatal(err)
		}
	}
	j, err := job.Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// From a run without moving and from one with, the makespan of both ways is told,
// each corrected by what the recorded run took beyond its work.
func TestForecastMakespans(t *testing.T) {
	for _, moved := range []int{0, 14} {
		forecasts, err := simulate.ForecastMakespans(t.Context(), recorded(t, moved), simulate.Parameters{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[simulate.Policy]float64{simulate.None: 6 * 1.4 * 0.3, simulate.Reactive: 6 * 1.4 * 0.16, simulate.Proactive: 6 * 1.4 * 0.16}
		for _, f := range forecasts {
			m := f.Makespan
			if math.Abs(m.Value/want[f.Policy]-1) > 0.1 || f.Policy != simulate.Proactive && (m.Low > want[f.Policy] || m.High < want[f.Policy]) { // the table holds a task back
				t.Errorf("%d moved, %s: %v [%v, %v] s, want %v", moved, f.Policy, m.Value, m.Low, m.High, want[f.Policy])
			}
			if f.Recorded != (f.Policy == simulate.None == (moved == 0) && f.Policy != simulate.Proactive) || (f.Moves > 0) == (f.Policy == simulate.None) {
				t.Errorf("%d moved: %+v", moved, f)
			}
		}
	}
}

func TestForecastMakespansWithoutSummaries(t *testing.T) {
	j := recorded(t, 0)
	for i := range j.Ranks {
		j.Ranks[i].Summary = nil
	}
	if _, err := simulate.ForecastMakespans(t.Context(), j, simulate.Parameters{}); !errors.Is(err, simulate.ErrRecorded) {
		t.Errorf("error %v, want ErrRecorded", err)
	}
}
