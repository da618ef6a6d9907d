package checker

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/dataset"
)

// TestPlantedSamples breaks a sound block in one place at a time.
func TestPlantedSamples(t *testing.T) {
	tests := []struct {
		name      string
		change    func(s []sampleRow, h []historyRow)
		invariant int // 0: sound
	}{
		{"sound", func([]sampleRow, []historyRow) {}, 0},
		{"history of the future", func(s []sampleRow, _ []historyRow) { s[0].History = s[0].Decision + 1 }, 13},
		{"stale history", func(s []sampleRow, _ []historyRow) { s[0].History -= 600 }, 13},
		{"reward does not add up", func(s []sampleRow, _ []historyRow) { s[0].Reward++ }, 13},
		{"starts before it is submitted", func(s []sampleRow, _ []historyRow) { s[0].SuccStart, s[0].Reward = 400, -1600 }, 13},
		{"last probe is not reactive", func(s []sampleRow, _ []historyRow) { s[1].PredEnd, s[1].Reward = 2001, 99 }, 13},
		{"snapshot out of place", func(_ []sampleRow, h []historyRow) { h[5].Step = 6 }, 13},
		{"more jobs than nodes", func(_ []sampleRow, h []historyRow) { h[5].X[0] = 9 }, 14},
		{"quantiles fall", func(_ []sampleRow, h []historyRow) { h[5].X[3] = 1000 }, 14},
		{"nobody waits, but long", func(_ []sampleRow, h []historyRow) { h[5].X[17], h[5].X[18], h[5].X[20] = 0, 0, 3 }, 14},
		{"the predecessor's clock is wrong", func(_ []sampleRow, h []historyRow) {
			for i := range historySteps {
				h[i].X[predecessorAt+3]++
			}
		}, 14},
		{"the successor has waited", func(_ []sampleRow, h []historyRow) { h[0].X[successorAt+2] = 1 }, 14},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			samples := []sampleRow{
				{Probe: 0, Decision: 500, PredStart: 0, PredEnd: 2000, SuccStart: 900, Reward: -1100, History: 0},
				{Probe: 1, Decision: 2000, PredStart: 0, PredEnd: 2000, SuccStart: 2100, Reward: 100, History: 1800},
			}
			var histories []historyRow
			for i, s := range samples {
				for step := range historySteps {
					x := make([]float64, historyWidth)
					x[0], x[1] = 2, 3
					copy(x[2:12], []float64{30, 30, 45, 60, 60, 0, 1, 2, 3, 4})
					x[17], x[18] = 1, 1
					x[34], x[35], x[37], x[38], x[39] = 2880, 1, float64(s.Decision), 2880, 1
					histories = append(histories, historyRow{0, i, step, x})
				}
			}
			tt.change(samples, histories)
			dir := t.TempDir()
			names := strings.Fields(strings.Repeat("x ", historyWidth))
			for i := range names {
				names[i] = names[i] + string(rune('A'+i))
			}
			if err := dataset.Save(filepath.Join(dir, "samples-00000.parquet"), samples, dataset.Options{}); err != nil {
				t.Fatal(err)
			}
			if err := dataset.Save(filepath.Join(dir, "histories-00000.parquet"), histories, dataset.Options{RestColumns: names}); err != nil {
				t.Fatal(err)
			}
			r, err := Samples(dir)
			if err != nil {
				t.Fatal(err)
			}
			if tt.invariant == 0 && r.Total > 0 || tt.invariant > 0 && (r.Total == 0 || r.Violations[0].Invariant != tt.invariant) {
				t.Errorf("%v, want invariant %d", r.Violations, tt.invariant)
			}
		})
	}
}
