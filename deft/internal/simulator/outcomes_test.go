//go:build !race

package simulator_test

import (
	"encoding/csv"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/simulator"
	"github.com/foretime/foretime/shared/stats"
)

// outcomes reads a table of what sharing a GV100 did: milliseconds by the
// columns that name them.
func outcomes(t *testing.T, name, value string, key ...string) map[string]stats.Sorted {
	t.Helper()
	root := os.Getenv("FORETIME_DATA")
	if root == "" {
		t.Skip("set FORETIME_DATA to the folder of the measured data")
	}
	f, err := os.Open(filepath.Join(root, "xsched-outcomes", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float64{}
	for _, row := range rows[1:] {
		of := ""
		for _, k := range key {
			of += row[slices.Index(rows[0], k)] + " "
		}
		ms, err := strconv.ParseFloat(row[slices.Index(rows[0], value)], 64)
		if err != nil {
			t.Fatal(err)
		}
		all[of] = append(all[of], ms)
	}
	sorted := map[string]stats.Sorted{}
	for of := range maps.Keys(all) {
		sorted[of] = stats.Sort(all[of])
	}
	return sorted
}

// shared plays 1000 jobs of an urgent client that take alone milliseconds by
// themselves, pauses between them, beside a client whose jobs are the same and
// never pause, and returns how long the urgent ones took.
func shared(t *testing.T, alone float64, kernels int, pause time.Duration, d device.Discipline, p policy.Policy) stats.Sorted {
	t.Helper()
	job := make([]time.Duration, kernels)
	for i := range job {
		job[i] = time.Duration(alone * 1e6 / float64(kernels))
	}
	r, err := simulator.Run(t.Context(), simulator.Config{
		Clients: []simulator.Client{
			{Terms: policy.Terms{Name: "urgent", Priority: 1}, Kernels: job, Sleep: pause, Jobs: 1000},
			{Terms: policy.Terms{Name: "other"}, Kernels: job},
		},
		Policy: p, Device: device.Settings{Discipline: d}, Duration: time.Minute, Jitter: 0.05, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	var ms []float64
	for _, j := range r.Clients[0].Jobs {
		ms = append(ms, float64(j.End-j.Begin)/1e6)
	}
	return stats.Sort(ms)
}

// The virtual clock, told only how long a job takes alone, says what the
// hardware's scheduler and a fixed priority do to it on a GV100: ResNet-152
// inferences (155 convolutions, as many normalisations, 151 activations, 50
// additions, 2 poolings, a product) beside the same in another process, and
// training beside training.
func TestOutcomesOfARealGPU(t *testing.T) {
	inference := outcomes(t, "priority_latency.csv", "latency_ms", "configuration")
	training := outcomes(t, "colocated_time.csv", "time_ms", "case", "configuration", "job")
	alone, trained := inference["standalone "].Median(), training["cotrain standalone alone "].Median()
	queued := shared(t, alone, 514, 25*time.Millisecond, device.FIFO, policy.None{})
	t.Logf("alone: inference %.2f ms, training %.2f; inference first come first served %.2f, quantile 0.99 %.2f", alone, trained, queued.Median(), queued.Quantile(.99))
	var here, arithmetic []float64
	first := func() policy.Policy {
		return policy.NewPriority(policy.Settings{Device: device.Settings{Discipline: device.Turns}})
	}
	native := shared(t, alone, 514, 25*time.Millisecond, device.Turns, policy.None{})
	urgent := shared(t, alone, 514, 25*time.Millisecond, device.Turns, first())
	train := shared(t, trained, 1000, 0, device.Turns, policy.None{})
	for _, tt := range []struct {
		name     string
		got      stats.Sorted
		want     stats.Sorted
		quantile float64
	}{
		{"inference, native", native, inference["native "], .5},
		{"inference, native", native, inference["native "], .99},
		{"inference, priority", urgent, inference["xsched "], .5},
		{"inference, priority", urgent, inference["xsched "], .99},
		{"training, native", train, training["cotrain native pjob "], .5},
		{"training, native", train, training["cotrain native pjob "], .99},
		{"training, priority", shared(t, trained, 1000, 0, device.Turns, first()), training["cotrain xsched pjob "], .5},
	} {
		got, want := tt.got.Quantile(tt.quantile), tt.want.Quantile(tt.quantile)
		t.Logf("%s, quantile %v: %.2f ms, measured %.2f: %+.1f %%", tt.name, tt.quantile, got, want, 100*(got/want-1))
		if !(math.Abs(got/want-1) <= 0.15) {
			t.Errorf("%s, quantile %v: %.2f ms, measured %.2f", tt.name, tt.quantile, got, want)
		}
		// What needs no clock: two that share take twice as long, one that is let
		// through takes its time alone.
		simple := alone
		if strings.HasPrefix(tt.name, "training") {
			simple = trained
		}
		if strings.HasSuffix(tt.name, "native") {
			simple *= 2
		}
		here, arithmetic = append(here, math.Abs(got/want-1)), append(arithmetic, math.Abs(simple/want-1))
	}
	t.Logf("mean error %.1f %%, of twice and once the time alone %.1f %%", 100*stat.Mean(here, nil), 100*stat.Mean(arithmetic, nil))
}
