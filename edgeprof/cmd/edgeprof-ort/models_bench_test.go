package main

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/edgeprof/internal/collection"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/edgeprof/internal/runtime/worker"
)

// BenchmarkModelsInGo runs published models in both runtimes, one inference of each
// in turn on one thread, and reports the median ratio of their CPU times.
func BenchmarkModelsInGo(b *testing.B) {
	for _, tt := range wheels {
		b.Run(filepath.Base(tt.file), func(b *testing.B) {
			path := filepath.Join(installed(b, tt.wheel), tt.file)
			own, err := inGo(b, path, tt.sizes)
			if err != nil {
				b.Skip(err)
			}
			loaded, err := load(b.Context(), worker.Model{Path: path, Threads: 1, Sizes: tt.sizes})
			if err != nil {
				b.Skip(err)
			}
			defer loaded.Close()
			inputs := collection.RandomInputs(loaded.Inputs())
			spent := func(s runtime.Session) float64 {
				start := processTime(b)
				if _, err := s.Run(b.Context(), inputs); err != nil {
					b.Fatal(err)
				}
				return (processTime(b) - start).Seconds()
			}
			spent(own)
			spent(loaded)
			var ratios, seconds []float64
			for b.Loop() {
				theirs := spent(loaded)
				ours := spent(own)
				ratios, seconds = append(ratios, ours/theirs), append(seconds, ours)
			}
			slices.Sort(ratios)
			slices.Sort(seconds)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(1000*seconds[len(seconds)/2], "ms")
		})
	}
}

// processTime is the CPU time of this process.
func processTime(b *testing.B) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}
