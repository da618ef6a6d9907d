package yardstick

import (
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	for range 100 { // a machine may be too busy to take any reading for a while
		w := Start()
		for i := range 100 {
			w.See(time.Duration(i), 0)
			w.See(time.Duration(i), -1)
			time.Sleep(100 * time.Microsecond)
		}
		seen := w.Stop()
		for i, r := range seen {
			if r.Seconds <= 0 || i > 0 && r.At <= seen[i-1].At {
				t.Errorf("reading %+v after %+v", r, seen[max(0, i-1)])
			}
		}
		if len(seen) > 0 {
			return
		}
	}
	t.Error("no reading in a hundred watches")
}

func TestNoSuchProcessor(t *testing.T) {
	w := Start()
	for range 100 {
		w.See(0, 1023)
		time.Sleep(10 * time.Microsecond)
	}
	if got := w.Stop(); len(got) != 0 {
		t.Errorf("readings %v", got)
	}
	if got := Start().Stop(); len(got) != 0 {
		t.Errorf("readings %v of nothing", got)
	}
}

// The work is what it is said to be: the mean of the input around a place.
func TestConvolve(t *testing.T) {
	var m maps
	for i := range m.in {
		m.in[i] = 3
	}
	for i := range m.kernel {
		m.kernel[i] = 1.0 / (span * span)
	}
	m.convolve(1)
	for c, v := range m.out[(reach*side+reach)*channels:][:channels] {
		if v < 2.999 || v > 3.001 {
			t.Errorf("channel %d: %v, want 3", c, v)
		}
	}
}

func BenchmarkConvolve(b *testing.B) {
	var m maps
	m.fill()
	for b.Loop() {
		m.convolve(1)
	}
}
