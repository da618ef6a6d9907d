package burner

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foretime/foretime/shared/timing"
)

// virtual is a Machine whose time passes only by spending.
type virtual struct{ now time.Time }

func (v *virtual) Now() time.Time { return v.now }
func (v *virtual) Begin()         {}
func (v *virtual) Spend(ctx context.Context, d time.Duration) error {
	v.now = v.now.Add(d)
	return ctx.Err()
}

func TestRun(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		want   []float64
	}{
		{"plain", Config{Setup: 1, Epoch: 0.05, Teardown: 0.5, Epochs: 3}, []float64{1, 0.05, 0.05, 0.05, 0.5}},
		{"no epoch", Config{Setup: 1, Teardown: 2}, []float64{1, 2}},
		{"warm-up", Config{Epoch: 1, Epochs: 4, WarmUp: []float64{3, 1.5}}, []float64{0, 3, 1.5, 1, 1, 0}},
		{"checkpoint", Config{Epoch: 1, Epochs: 5, CheckpointEvery: 2, CheckpointFactor: 2}, []float64{0, 1, 2, 1, 2, 1, 0}},
		{"burst", Config{Epoch: 1, Epochs: 4, BurstFrom: 2, BurstEpochs: 2, BurstFactor: 3}, []float64{0, 1, 3, 3, 1, 0}},
		{"drift", Config{Epoch: 1, Epochs: 3, Drift: 0.2}, []float64{0, 1, 1.1, 1.2, 0}},
		{"drift, sample", Config{Epoch: 1, Epochs: 3, Drift: 0.2, Span: 5}, []float64{0, 1, 1.05, 1.1, 0}},
		{"rare, always", Config{Epoch: 1, Epochs: 2, RareShare: 1, RareFactor: 5}, []float64{0, 5, 5, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			if err := Run(t.Context(), tt.config, &virtual{now: time.Unix(0, 0)}, &out); err != nil {
				t.Fatal(err)
			}
			got, err := timing.ParseOutput(strings.NewReader(out.String()), timing.Extend)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Laps(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunOutput(t *testing.T) {
	var out strings.Builder
	c := Config{Epoch: 1, Epochs: 2, Report: "epoch", Lines: true}
	if err := Run(t.Context(), c, &virtual{}, &out); err != nil {
		t.Fatal(err)
	}
	tag := func(s string) string { return timing.OpenTag + s + timing.CloseTag + "\n" }
	want := tag("[0.0]") + "epoch 1/2\n" + tag("[0.0, 1.0]") + "epoch 2/2\n" + tag("[0.0, 1.0, 1.0]") + tag("[0.0, 1.0, 1.0, 0.0]")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	if err := Run(t.Context(), Config{Epochs: 1, Report: "none"}, &virtual{}, &out); err != nil || out.String() != "" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestSegmentsNoise(t *testing.T) {
	c := Config{Setup: 1, Epoch: 2, Teardown: 1, Epochs: 20000, Noise: 0.03, Seed: 7}
	a, b := c.Segments(), c.Segments()
	if !cmp.Equal(a, b) {
		t.Error("two runs of one seed differ")
	}
	var sum, squares float64
	for _, x := range a[1 : len(a)-1] {
		sum += x
		squares += (x - 2) * (x - 2)
	}
	mean, sd := sum/20000, math.Sqrt(squares/20000)
	// 2 +- 5 standard errors of the mean, 0.06 +- 5 of the deviation.
	if math.Abs(mean-2) > 0.0022 || math.Abs(sd-0.06) > 0.0015 {
		t.Errorf("mean %v, standard deviation %v", mean, sd)
	}
	prefix := c
	prefix.Epochs = 10
	if diff := cmp.Diff(a[:11], prefix.Segments()[:11]); diff != "" {
		t.Errorf("a sample is not a prefix of the job:\n%s", diff)
	}
}

func TestRunErrors(t *testing.T) {
	for _, c := range []Config{
		{Setup: -1}, {Epoch: math.NaN()}, {Teardown: math.Inf(1)}, {Noise: -1}, {WarmUp: []float64{-1}},
		{Epochs: -1}, {Drift: -1}, {Report: "sometimes"}, {CheckpointEvery: -1},
	} {
		if err := Run(t.Context(), c, &virtual{}, nil); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, m := range []Machine{&virtual{}, Sleeper(), Spinner()} {
		if err := Run(ctx, Config{Setup: 60}, m, &strings.Builder{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%T, cancelled: %v", m, err)
		}
	}
}

func TestMachines(t *testing.T) {
	for name, m := range map[string]Machine{"sleep": Sleeper(), "cpu": Spinner()} {
		var out strings.Builder
		if err := Run(t.Context(), Config{Setup: 0.01, Epoch: 0.002, Epochs: 5}, m, &out); err != nil {
			t.Fatal(err)
		}
		got, err := timing.ParseOutput(strings.NewReader(out.String()), timing.Extend)
		if err != nil || got.Len() != 7 || got.Total() < 0.019 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
