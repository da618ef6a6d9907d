package yardstick

import (
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	words  = 32 << 10 // of 8 bytes: beyond the first cache, within the second
	turns  = 100      // of the words in a piece
	pieces = 5
)

// Measure does the work and returns the processor time it took, in seconds:
// the median of its pieces, times their number, so that one disturbed piece
// does not count.
func Measure() float64 {
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	xs := make([]float64, words)
	for i := range xs {
		xs[i] = float64(i & 255)
	}
	took := make([]float64, pieces)
	for i := range took {
		start := threadTime()
		runtime.KeepAlive(piece(xs))
		took[i] = (threadTime() - start).Seconds()
	}
	slices.Sort(took)
	return took[pieces/2] * pieces
}

func piece(xs []float64) float64 {
	var a, b, c, d float64
	for turn := range turns {
		f := 1 + 1e-9*float64(turn)
		for i := 0; i+4 <= len(xs); i += 4 {
			a += xs[i] * f
			b += xs[i+1] * f
			c += xs[i+2] * f
			d += xs[i+3] * f
		}
	}
	return a + b + c + d
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
