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
	best, err := m.Best(Candidates())
	if err != nil || best.Sync != 20 {
		t.Errorf("best %+v, %v, want N=20", best, err)
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
		{"interval 0", good, 0, ErrCandidates},
	}
	for _, tt := range tests {
		if _, err := tt.m.Predict(tt.n); !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
	if _, err := good.Best(nil); !errors.Is(err, ErrCandidates) {
		t.Error(err)
	}
}

// The best candidate is the best: no other has a smaller sum.
func TestBestIsLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Model{
			SyncMS:   rapid.Float64Range(0, 1).Draw(t, "a"),
			BaseMS:   rapid.Float64Range(0, 100).Draw(t, "b"),
			Kernels:  rapid.IntRange(1, 5000).Draw(t, "K"),
			KernelMS: rapid.Float64Range(0, 1).Draw(t, "k"),
			Queue:    rapid.IntRange(0, 5000).Draw(t, "q"),
		}
		best, err := m.Best(Candidates())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range Candidates() {
			if d, _ := m.Predict(n); d.TotalMS() < best.TotalMS() {
				t.Fatalf("%+v is better than %+v", d, best)
			}
		}
	})
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
