package predictor

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/regression"
)

// Reference: the constants of Deft's example, 0.0115 ms a point and 2.92 ms
// beside, computed by hand.
func TestPredict(t *testing.T) {
	m := Model{SyncMS: 0.0115, BaseMS: 2.92, Kernels: 929, KernelMS: 0.1, Queue: 600}
	tests := []struct {
		n             int
		exec, preempt float64
	}{
		{1, 0.0115*929 + 2.92, 0.05},
		{100, 0.0115*9 + 2.92, 5},
		{929, 0.0115 + 2.92, 30},
		{1000000, 2.92, 30},
	}
	for _, tt := range tests {
		d, err := m.Predict(tt.n)
		if err != nil || math.Abs(d.ExecMS-tt.exec) > 1e-12 || math.Abs(d.PreemptMS-tt.preempt) > 1e-12 {
			t.Errorf("N=%d: %+v, %v, want %v and %v", tt.n, d, err, tt.exec, tt.preempt)
		}
	}
}

func TestPredictRefuses(t *testing.T) {
	good := Model{SyncMS: 1, BaseMS: 1, Kernels: 1, KernelMS: 1, Queue: 1}
	tests := []struct {
		name string
		m    Model
		n    int
		want error
	}{
		{"zero model", Model{}, 1, ErrModel},
		{"NaN", Model{SyncMS: math.NaN(), Kernels: 1}, 1, ErrModel},
		{"infinite", Model{KernelMS: math.Inf(1), Kernels: 1}, 1, ErrModel},
		{"negative", Model{BaseMS: -1, Kernels: 1}, 1, ErrModel},
		{"interval 0", good, 0, ErrModel},
	}
	for _, tt := range tests {
		if _, err := tt.m.Predict(tt.n); !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}

// No whole N costs less than the formula's, by more than rounding gives; and nothing
// is said where nothing is known.
func TestIntervalIsLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setup, delay := rapid.Float64Range(0, 1e4).Draw(t, "a K"), rapid.Float64Range(1e-3, 10).Draw(t, "k")
		cost := func(n int) float64 { return setup/float64(n) + delay*float64(n)/2 }
		n := Interval(setup, delay)
		for other := max(1, n-20); other <= n+20; other++ {
			if other != n && cost(other) < cost(n)-delay/8 {
				t.Fatalf("%d costs %v, %d %v", n, cost(n), other, cost(other))
			}
		}
	})
	// The example of Deft: 929 launches, a point of 0.0115 ms, kernels of 0.02 ms.
	if n := Interval(0.0115*929, 0.02); n != 33 {
		t.Errorf("%d, want 33: sqrt(2 * 0.0115 * 929 / 0.02) = 32.7", n)
	}
	for _, bad := range [][2]float64{{1, 0}, {1, -1}, {-1, 1}, {math.NaN(), 1}, {1, math.NaN()}} {
		if n := Interval(bad[0], bad[1]); n != 0 {
			t.Errorf("%v: %d", bad, n)
		}
	}
}

// The fit finds the constants that made the data.
func TestFitRecovers(t *testing.T) {
	truth := Model{SyncMS: 0.03, BaseMS: 40, Kernels: 400, KernelMS: 0.1, Queue: 400}
	var points []Point
	for _, n := range []int{4, 16, 64, 100} {
		d, err := truth.Predict(n)
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, Point{n, d.ExecMS, 400, 0.1, 0})
	}
	m, err := FitSweep(points)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m.SyncMS-truth.SyncMS) > 1e-6 || math.Abs(m.BaseMS-truth.BaseMS) > 1e-4 || math.Abs(m.KernelMS-0.1) > 1e-9 || m.Queue != 400 || m.Kernels != 400 {
		t.Errorf("%+v, want %+v", m, truth)
	}
}

func TestFitRefuses(t *testing.T) {
	if _, err := FitSweep(nil); !errors.Is(err, regression.ErrTooFew) && !errors.Is(err, regression.ErrDimension) {
		t.Error(err)
	}
	same := []Point{{16, 1, 400, 1, 0}, {16, 2, 400, 1, 0}, {16, 3, 400, 1, 0}}
	if _, err := FitSweep(same); !errors.Is(err, regression.ErrConstant) {
		t.Error(err)
	}
	if _, err := FitSweep([]Point{{0, 1, 400, 1, 0}}); !errors.Is(err, ErrModel) {
		t.Error(err)
	}
}
