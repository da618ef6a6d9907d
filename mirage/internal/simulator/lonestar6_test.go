package simulator_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
)

// lonestar6 returns the jobs submitted from November 2022 to February 2023.
func lonestar6(t testing.TB) (*trace.Trace, []trace.Job) {
	data := os.Getenv("FORETIME_DATA")
	if data == "" {
		t.Skip("needs the data folder that FORETIME_DATA names")
	}
	log, err := trace.Open(filepath.Join(data, "ls6-a100", "ls6-a100-2022-10_2023-02.log"), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	from, _ := log.Date("2022-11-01")
	to, _ := log.Date("2023-03-01")
	return log, log.Between(from, to)
}

// TestLonestar6 compares with an independent event-driven simulator of the
// same rules, run once on the same 17,914 jobs: mean wait (h), Spearman
// correlation and mean absolute error (h) to two or three digits.
func TestLonestar6(t *testing.T) {
	_, jobs := lonestar6(t)
	for _, tt := range []struct {
		discipline          cluster.Discipline
		nodes, userLimit    int
		logged              bool
		mean, spearman, mae float64
	}{
		{cluster.Slurm, 80, 0, false, 1.28, .417, 4.20},
		{cluster.Slurm, 75, 8, false, 3.42, .623, 3.76},
		{cluster.Slurm, 75, 8, true, 2.96, .641, 3.34},
		{cluster.Slurm, 74, 8, true, 3.79, .669, 3.51},
	} {
		t.Run(fmt.Sprintf("%d %d %v", tt.nodes, tt.userLimit, tt.logged), func(t *testing.T) {
			rules := cluster.Defaults(tt.discipline)
			rules.UserLimit, rules.LoggedPriority = tt.userLimit, tt.logged
			w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: tt.nodes}, Rules: rules})
			if err != nil {
				t.Fatal(err)
			}
			r, err := w.Simulate(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			m := r.MetricsBetween(0, math.MaxInt64)
			if m.Jobs != 17914 || math.Abs(m.MeanWaitHours-tt.mean) > .006 || math.Abs(m.Spearman-tt.spearman) > .0006 || math.Abs(m.MAEHours-tt.mae) > .006 {
				t.Errorf("%+v, want mean %v, Spearman %v, MAE %v", m, tt.mean, tt.spearman, tt.mae)
			}
		})
	}
}

// BenchmarkSimulate replays synthetic traces at the utilisation of the
// Lonestar6 queue, to show how cost grows with the number of jobs.
func BenchmarkSimulate(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		if testing.Short() && n > 100_000 {
			continue
		}
		jobs, err := synth.Default().Generate(b.Context(), synth.Settings{Jobs: n, Start: 1_670_000_000, NodeHoursPerDay: .75 * 75 * 24, MaxNodes: 75, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range disciplines() {
			rules := cluster.Defaults(d)
			rules.UserLimit = 8
			b.Run(fmt.Sprintf("jobs=%d/scheduler=%s", n, d), func(b *testing.B) {
				for b.Loop() {
					w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 75}, Rules: rules})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := w.Simulate(b.Context(), nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
			})
		}
	}
}

// BenchmarkFork copies a busy machine's state.
func BenchmarkFork(b *testing.B) {
	jobs, err := synth.Default().Generate(b.Context(), synth.Settings{Jobs: 10000, Start: 1_670_000_000, NodeHoursPerDay: .8 * 75 * 24, MaxNodes: 75, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 75}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		b.Fatal(err)
	}
	s := w.New()
	s.RunUntil(jobs[len(jobs)/2].Submit)
	b.ReportAllocs()
	for b.Loop() {
		s.Fork()
	}
}
