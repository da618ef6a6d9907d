package replay

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/stats"
)

// The running median equals the median of all numbers so far.
func TestRunningMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m runningMedian
		var all []float64
		for range rapid.IntRange(1, 60).Draw(t, "numbers") {
			x := float64(rapid.IntRange(-5, 5).Draw(t, "x"))
			m.add(x)
			all = append(all, x)
			if got, want := m.value(), stats.Median(all); got != want {
				t.Fatalf("%v of %v, want %v", got, all, want)
			}
		}
	})
}
