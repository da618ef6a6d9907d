package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/shared/file"
)

func two() *experiment.Experiment {
	return &experiment.Experiment{Policy: "priority", Models: []experiment.Model{
		{ModelName: "low", OutputName: "A", OutputDir: "logs"},
		{ModelName: "high", OutputName: "B", OutputDir: "logs", Terms: policy.Terms{Priority: 1}, Control: experiment.Control{SyncEvery: 3}},
	}}
}

// play is an experiment with the delays of a formula: 40 ms and 0.02 ms for each
// of 400/N points; the other 5 ms and half of N kernels of 0.1 ms.
func formula(_ context.Context, x *experiment.Experiment) (*Outcome, error) {
	r := &report.Run{Policy: x.Policy, Device: "sim", Clock: "virtual"}
	for _, m := range x.Models {
		n := m.Control.SyncEvery
		one := report.Model{Name: m.Name(), Output: m.OutputName, Priority: m.Priority, Jobs: 10, CSV: m.CSV()}
		switch {
		case len(x.Models) == 1:
			one.JCT = report.Summary{Mean: 40 - 35*float64(m.Priority)}
		case m.Priority == 0:
			gate := float64(3 + n%4)
			one.JCT, one.Launches, one.GPUMS = report.Summary{Mean: 40 + gate + 0.02*float64(400/n)}, 4000, 400
			one.GateMS, one.Syncs = 10*gate, 4000/n
		default:
			one.JCT = report.Summary{Mean: 5 + 0.05*float64(min(x.Models[0].Control.SyncEvery, 400))}
		}
		r.Models = append(r.Models, one)
	}
	return &Outcome{Run: r}, nil
}

func TestRunSweep(t *testing.T) {
	s, err := RunSweep(t.Context(), two(), []int{1, 4, 16, 64, 1000000}, formula)
	if err != nil {
		t.Fatal(err)
	}
	if s.Policy != "priority" || len(s.Points) != 5 || s.Alone[1].JCT.Mean != 5 || s.Alone[0].CSV != filepath.Join("logs", "alone", "A.csv") {
		t.Errorf("%+v", s)
	}
	// Interval 4: 3 ms beside 100 points of 0.02 ms, and 0.2 ms of preemption.
	if p := s.Points[1]; p.Sync != 4 || p.DelayMS < 5.199 || p.DelayMS > 5.201 || p.Models[1].CSV != filepath.Join("logs", "sync_4", "B.csv") {
		t.Errorf("%+v", p)
	}
	path := filepath.Join(t.TempDir(), "sweep.json")
	if err := file.WriteJSON(path, s); err != nil {
		t.Fatal(err)
	}
	again, err := LoadSweep(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Error(diff)
	}
	// 0.02*400/N + 0.05*N is least at N = 16 of these.
	if s.Sync != 16 {
		t.Errorf("best interval %d", s.Sync)
	}
}

func TestOnlyLowerPrioritiesAreBounded(t *testing.T) {
	x := withInterval(two(), 9)
	if x.Models[0].Control.SyncEvery != 9 || x.Models[1].Control.SyncEvery != 3 {
		t.Errorf("%+v", x.Models)
	}
	x = two()
	x.Models[0].Priority = 1
	if x = withInterval(x, 9); x.Models[0].Control.SyncEvery != 9 || x.Models[1].Control.SyncEvery != 9 {
		t.Errorf("%+v", x.Models)
	}
}

func TestSweepRefuses(t *testing.T) {
	for _, list := range [][]int{nil, {0}, {4, -1}} {
		if _, err := RunSweep(t.Context(), two(), list, formula); !errors.Is(err, ErrIntervals) {
			t.Errorf("%v: %v", list, err)
		}
	}
	boom := errors.New("boom")
	broken := func(context.Context, *experiment.Experiment) (*Outcome, error) { return nil, boom }
	if _, err := RunSweep(t.Context(), two(), []int{1}, broken); !errors.Is(err, boom) {
		t.Error(err)
	}
	for _, text := range []string{"{}", "[]", "", `{"points":[{"sync":1,"models":[]}]}`} {
		path := filepath.Join(t.TempDir(), "s.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadSweep(path); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func points() *Sweep {
	m := func(mean float64) report.Model { return report.Model{Output: "x", JCT: report.Summary{Mean: mean}} }
	return &Sweep{
		Alone: []report.Model{m(40), m(5)},
		Points: []Point{
			{Sync: 1, Models: []report.Model{m(60), m(5)}},
			{Sync: 1000000, Models: []report.Model{m(40), m(35)}},
		},
	}
}

func TestSweepChart(t *testing.T) {
	if diff := cmp.Diff([]float64{60, 40}, points().Intervals().Series[0].Y); diff != "" {
		t.Error(diff)
	}
}
