package tree

import (
	"sync/atomic"

	"github.com/foretime/foretime/shared/crash"
)

// parallel calls f for 0 to n-1 on some goroutines, the workers. The assignment of
// numbers to workers is random; the result of f must not depend on it.
func parallel(threads, n int, f func(worker, i int)) {
	if threads = min(threads, n); threads <= 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	var next atomic.Int64
	var workers crash.Group
	for worker := range threads {
		workers.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(worker, i)
			}
			return nil
		})
	}
	if panicked := workers.Wait(); panicked != nil {
		panic(panicked) // as if f had panicked here
	}
}

// usefulThreads returns the number of threads worth starting for a number of features.
func usefulThreads(threads, features int) int { return min(threads, 1+features>>15) }

// runRows is the number of rows that one goroutine takes at a time.
const runRows = 1 << 14

// inRuns calls f for runs that cover 0 to n.
func inRuns(threads, n int, f func(start, end int)) {
	parallel(threads, (n+runRows-1)/runRows, func(_, i int) {
		f(i*runRows, min(n, (i+1)*runRows))
	})
}

// sumRuns adds up f over the same runs, in the same order for any number of
// threads.
func sumRuns(threads, n int, f func(start, end int) float64) float64 {
	sums := make([]float64, (n+runRows-1)/runRows)
	inRuns(threads, n, func(start, end int) { sums[start/runRows] = f(start, end) })
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total
}
