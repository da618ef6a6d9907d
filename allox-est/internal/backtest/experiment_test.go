package backtest

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/journal"
)

// told is a run of a job of 1 s, 2 s an epoch and 1 s.
func told(epochs int) journal.Run {
	r := journal.Run{Device: "cpu", Threads: 1, CPUs: 2, Epochs: epochs, Laps: []float64{1}}
	for range epochs {
		r.Laps = append(r.Laps, 2)
	}
	r.Laps = append(r.Laps, 1)
	r.Wall = 2 + 2*float64(epochs)
	r.CPU = r.Wall
	return r
}

func TestJudgeSamples(t *testing.T) {
	sets := [][]journal.Run{{told(1), told(1)}, {told(2), told(5)}, nil}
	full := []journal.Run{told(50), told(50)}
	o := JudgeSamples(Outcome{Method: estimate.Ratio, Device: "cpu"}, 50, sets, full)
	// The ratio takes 4 s an epoch from those of 1, and the mean of 3 and 2.4 s.
	first, second := 50*4/102.-1, 50*2.7/102-1
	if o.Estimates != 3 || o.Failed != 1 || o.Reason == "" || math.Abs(o.Error-(first+second)/2) > 1e-9 || math.Abs(o.Worst-first) > 1e-9 {
		t.Errorf("%+v", o)
	}
	if o := JudgeSamples(Outcome{Method: estimate.Auto, Device: "cpu"}, 50, sets[:2], full); o.Error > 1e-9 || o.Covered != 1 || o.Width == nil {
		t.Errorf("%+v", o)
	}
}

func TestLoadExperiment(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "e.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	e, err := LoadExperiment(write("jobs: [a.yaml]\nsamples: [[1, 1]]\n"))
	if err != nil || e.Repeats != 1 || e.Full != 1 || len(e.Methods) != len(estimate.Methods()) {
		t.Errorf("%+v, %v", e, err)
	}
	for text, want := range map[string]string{
		"":                                   "empty",
		"samples: [[1]]":                     "jobs: empty",
		"jobs: [a]":                          "samples: empty",
		"jobs: [a]\nsamples: [[0]]":          "samples: [0]: want at least 1 epoch each",
		"jobs: [a]\nsamples: [[1]]\nfull: 0": "full: 0",
		"jobs: [a]\nmany: 1":                 "field many not found",
	} {
		if _, err := LoadExperiment(write(text)); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
