package job_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/file"
)

// planted is the log of a rank of four: rank 2 takes three times as long as the
// others, and function slow ten times as long as fast.
func planted(rank int) string {
	var b strings.Builder
	b.WriteString(task.LogHeader)
	for i := range 60 {
		name, seconds := "app:fast", 0.001
		if i%3 == 0 {
			name, seconds = "app:slow", 0.01
		}
		if rank == 2 {
			seconds *= 3
		}
		fmt.Fprintf(&b, "%d,%d,local,%s,800,0,,%.3f,,%.6f,%.6f,%.6f,%.6f\n", i/20, i%2, name, 0.1*float64(i), seconds, 1.1*seconds, 0.9*seconds, 1.2*seconds)
	}
	return b.String()
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, ranks ...int) string {
	t.Helper()
	dir := t.TempDir()
	for _, rank := range ranks {
		write(t, dir, fmt.Sprintf("chamtool_rank_%d.csv", rank), planted(rank))
		s := &summary.Summary{Rank: rank, Ranks: 4, Complete: true, Counts: task.Counts{Ended: 60}}
		if err := file.Write(filepath.Join(dir, fmt.Sprintf("chamtool_summary_rank_%d.json", rank)), s.Write); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, dir string) *job.Job {
	t.Helper()
	j, err := job.Load(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestPlantedRankAndFunction(t *testing.T) {
	f := load(t, folder(t, 0, 1, 2, 3)).Figures()
	if f.Tasks != 240 || f.Iterations != 3 || len(f.Missing)+len(f.Torn) > 0 {
		t.Errorf("%+v", f)
	}
	if f.SlowestRank == nil || f.SlowestRank.Rank != 2 || f.SlowestRank.Slowdown < 2.5 || f.WorstRanks[0].Rank != 2 || f.Worst.Rank != 2 {
		t.Errorf("the slow rank: %+v, %+v", f.SlowestRank, f.WorstRanks)
	}
	if median := f.Functions[0].Median; median == nil || *median != 0.01 {
		t.Errorf("the median of the slow function: %+v", f.Functions[0])
	}
	if f.Functions[0].Name != "app:slow" || math.Abs(*f.Functions[0].Share-0.01*20/(0.01*20+0.001*40)) > 1e-9 {
		t.Errorf("the slow function: %+v", f.Functions)
	}
	if want := 3.0/((3+3.0)/4) - 1; math.Abs(f.Imbalance-want) > 1e-9 { // loads 1, 1, 3, 1
		t.Errorf("imbalance %v, want %v", f.Imbalance, want)
	}
	if p := f.Prediction; p.Predicted != 240 || math.Abs(*p.MAPE-10) > 1e-3 || *p.Coverage != 1 {
		t.Errorf("%+v", p)
	}
}

// A rank without a log and one whose log was cut off are named.
func TestMissingAndTornRanks(t *testing.T) {
	dir := folder(t, 0, 1, 2)
	whole := planted(1)
	write(t, dir, "chamtool_rank_1.csv", whole[:len(whole)-300])
	j := load(t, dir)
	if !slices.Equal(j.Missing, []int{3}) || !slices.Equal(j.Torn, []int{1}) || len(j.Reasons) == 0 || len(j.Ranks) != 3 {
		t.Errorf("missing %v, torn %v, because %v", j.Missing, j.Torn, j.Reasons)
	}
}

func TestNoLogs(t *testing.T) {
	if _, err := job.Load(t.Context(), t.TempDir(), nil); !errors.Is(err, job.ErrNoLogs) {
		t.Error(err)
	}
	if _, err := job.Load(t.Context(), filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Every format that the tool writes is read, each rank's once.
// A run of which every task was only counted has no rows, and its counts are reported.
func TestOnlyCounted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "chamtool_rank_0.csv", task.LogHeader)
	s := &summary.Summary{Ranks: 1, Complete: true, Counts: task.Counts{Created: 7, Ended: 7, Unread: 7}, Unlogged: &summary.Unlogged{}}
	s.Unlogged.AddTo("app:work", summary.Tasks{Count: 7, Seconds: 0.07, Longest: 0.02})
	if err := file.Write(filepath.Join(dir, summary.FileName(0)), s.Write); err != nil {
		t.Fatal(err)
	}
	j, err := job.Load(t.Context(), dir, nil)
	if err != nil || len(j.Reasons) > 0 {
		t.Fatal(err, j)
	}
	if f := j.Figures(); f.Tasks != 7 || f.Unlogged != 7 || f.Unread != 7 || len(f.Functions) != 1 || f.Functions[0].Tasks != 7 || f.Functions[0].Median != nil || *f.Functions[0].Share != 1 {
		t.Errorf("%+v", f)
	}
}

func TestFormats(t *testing.T) {
	dir := folder(t, 0)
	write(t, dir, "chamtool_logfile_rank_0.csv", "")
	write(t, dir, "chamtool_logfile_rank_1.csv", "1\t800\t2600.0\t0.001\t0.001\n0.001\t0.0\n")
	j := load(t, dir)
	if len(j.Ranks) != 2 || len(j.Ranks[0].Log.Rows) != 60 || len(j.Ranks[1].Log.Rows) != 1 {
		t.Errorf("%+v", j)
	}
}

func TestTrace(t *testing.T) {
	var b bytes.Buffer
	if err := load(t, folder(t, 0, 2)).Trace(&b); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		Events []struct {
			Phase string  `json:"ph"`
			Rank  int     `json:"pid"`
			Took  float64 `json:"dur"`
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, e := range trace.Events {
		if e.Phase == "X" && e.Took > 0 {
			runs++
		}
	}
	if runs != 120 || len(trace.Events) != 122 {
		t.Errorf("%d runs in %d events", runs, len(trace.Events))
	}
}

// A job in memory takes at most two and a half times its logs.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	b.WriteString(task.LogHeader)
	for i := range 100_000 {
		fmt.Fprintf(&b, "%d,%d,local,program:work (file.c:12),%d,1,,%.9f,0.000010000,0.000100000,0.000110000,0.000090000,0.000130000\n", i/1000, i%2, 1000*(i%7), 1e-4*float64(i))
	}
	if err := os.WriteFile(filepath.Join(dir, "chamtool_rank_0.csv"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	size := uint64(b.Len())
	b = bytes.Buffer{}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	j, err := job.Load(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := after.HeapAlloc - before.HeapAlloc; used > 5*size/2 {
		t.Errorf("%d bytes for a log of %d", used, size)
	}
	runtime.KeepAlive(j)
}

// A file whose name has a rank beyond those of any job is refused by its name.
func TestStrayRank(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"chamtool_rank_0.csv", "chamtool_rank_999999998.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := job.Load(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), "chamtool_rank_999999998.csv: no job") {
		t.Error(err)
	}
}
