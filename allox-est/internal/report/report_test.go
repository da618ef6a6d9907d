package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/chart"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file below testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// example is a job of 100 epochs, sampled and run whole twice on the CPU, that
// fails on the GPU. The second whole run takes 10 % more.
func example() (*jobspec.Spec, *journal.Journal) {
	spec := &jobspec.Spec{
		Name: "example", Command: []string{"./run.sh", "{epochs}", "{hw}"}, Epochs: 100,
		Devices: map[string]jobspec.Device{"cpu": {Threads: 2}, "gpu": {Count: 1}},
	}
	j := &journal.Journal{Warnings: []error{errors.New("j.jsonl:9: torn last line")}}
	add := func(kind string, epochs int, slower float64) {
		laps := []float64{2 * slower}
		for range epochs {
			laps = append(laps, 0.5*slower)
		}
		laps = append(laps, slower)
		r := journal.Run{
			Job: spec.Hash("cpu"), Name: spec.Name, Kind: kind, Device: "cpu", Threads: 2, Epochs: epochs,
			Start: time.Date(2026, 1, 2, 3, 4, len(j.Runs), 0, time.UTC),
			Laps:  laps, LapCPU: laps, CPUs: 2, Load: 0.5 + float64(len(j.Runs)), PeakBytes: 3 << 30,
		}
		for _, lap := range r.Laps {
			r.Wall += lap
		}
		r.CPU = r.Wall
		j.Runs = append(j.Runs, r)
	}
	add(journal.Sample, 2, 1)
	add(journal.Sample, 5, 1)
	j.Runs[1].Warnings = []string{"killed 1 process that outlived the job"}
	j.Runs = append(j.Runs, journal.Run{Job: spec.Hash("gpu"), Kind: journal.Sample, Device: "gpu", Epochs: 2, Start: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC), Error: "exit status 1: no GPU code", Exit: 1})
	add(journal.Full, 100, 1)
	add(journal.Full, 100, 1.1)
	add(journal.Full, 50, 1)
	return spec, j
}

func TestReport(t *testing.T) {
	spec, j := example()
	r := New(spec, []string{"cpu", "gpu"}, j, estimate.Settings{})
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	r.Validate(j)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		t.Fatal(err)
	}
	golden(t, "example.json", b.Bytes())
	b.Reset()
	for _, row := range r.Rows() {
		fmt.Fprintf(&b, "%s\t%s\t%.4g\t%.4g\t%.4g\t%.4g\t%+.3f\n", row.Device, row.Clock, row.Value, row.Low, row.High, *row.Actual, row.Error)
	}
	for _, note := range r.Notes() {
		b.WriteString(note + "\n")
	}
	golden(t, "example.txt", b.Bytes())

	// Whole runs of 53 and 58.3 s; the estimate is 53 s.
	v := r.Devices["cpu"].Validation
	for what, pair := range map[string][2]float64{
		"error": {v.RelativeError["wall"], 53/55.65 - 1}, "spread": {v.Spread["wall"], 58.3/55.65 - 1},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
}

func TestNoEstimate(t *testing.T) {
	spec, j := example()
	r := New(spec, []string{"gpu"}, j, estimate.Settings{})
	r.Validate(j)
	if err := r.Err(); !errors.Is(err, ErrNoEstimate) || !strings.Contains(err.Error(), "gpu: exit status 1") {
		t.Errorf("got %v", err)
	}
	if len(r.Rows()) != 0 {
		t.Errorf("rows %v", r.Rows())
	}
	if _, err := r.EpochPlot(j, "gpu"); !errors.Is(err, ErrNothingToPlot) {
		t.Errorf("plot: %v", err)
	}
}

// One sample that shows its progress is enough, one without is not.
func TestOneSample(t *testing.T) {
	spec, j := example()
	j.Runs = j.Runs[:1]
	if err := New(spec, []string{"cpu"}, j, estimate.Settings{}).Err(); err != nil {
		t.Error(err)
	}
	j.Runs[0].Laps, j.Runs[0].LapCPU, j.Runs[0].LapWait, j.Runs[0].Marks = nil, nil, nil, nil
	r := New(spec, []string{"cpu"}, j, estimate.Settings{Method: estimate.Ratio})
	if err := r.Err(); !errors.Is(err, ErrNoEstimate) || !strings.Contains(err.Error(), "1, want at least 2") {
		t.Errorf("got %v", err)
	}
}

func TestPlots(t *testing.T) {
	spec, j := example()
	r := New(spec, []string{"cpu"}, j, estimate.Settings{})
	c, err := r.EpochPlot(j, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := chart.SVG(&b, c); err != nil || !strings.Contains(b.String(), "whole run 1") {
		t.Error(err)
	}
	// A sample of a later stage lies there, and no epoch is that of all stages.
	whole := c.(chart.Lines).Series
	spec.Stages = jobspec.Stages{{Name: "0-50", To: 50}, {Name: "50-100", From: 50, To: 100}}
	for i := range j.Runs {
		if j.Runs[i].Kind == journal.Sample {
			j.Runs[i].Stage = 50
		}
	}
	if c, err = r.EpochPlot(j, "cpu"); err != nil {
		t.Fatal(err)
	}
	staged := c.(chart.Lines).Series
	if n := len(staged); n != len(whole)-1 || staged[n-1].X[0] != whole[n-1].X[0]+50 || staged[0].X[0] != whole[0].X[0] {
		t.Errorf("%v\n%v", whole, staged)
	}
}
