package jobs

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
func (v *virtual) Spend(ctx context.Context, d time.Duration) error {
	v.now = v.now.Add(d)
	return ctx.Err()
}

func TestBurnerRun(t *testing.T) {
	tests := []struct {
		name   string
		burner Burner
		want   []float64
	}{
		{"plain", Burner{Setup: 1, Epoch: 0.05, Teardown: 0.5, Epochs: 3}, []float64{1, 0.05, 0.05, 0.05, 0.5}},
		{"no epoch", Burner{Setup: 1, Teardown: 2}, []float64{1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			if err := tt.burner.Run(t.Context(), &virtual{now: time.Unix(0, 0)}, &out); err != nil {
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

func TestBurnerRunOutput(t *testing.T) {
	var out strings.Builder
	b := Burner{Epoch: 1, Epochs: 2, Report: "epoch", Lines: true}
	if err := b.Run(t.Context(), &virtual{}, &out); err != nil {
		t.Fatal(err)
	}
	tag := func(s string) string { return timing.OpenTag + s + timing.CloseTag + "\n" }
	want := tag("[0.0]") + "epoch 1/2\n" + tag("[0.0, 1.0]") + "epoch 2/2\n" + tag("[0.0, 1.0, 1.0]") + tag("[0.0, 1.0, 1.0, 0.0]")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	if err := (Burner{Epochs: 1, Report: "none"}).Run(t.Context(), &virtual{}, &out); err != nil || out.String() != "" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestBurnerSegmentsNoise(t *testing.T) {
	b := Burner{Setup: 1, Epoch: 2, Teardown: 1, Epochs: 20000, Noise: 0.03, Seed: 7}
	a := b.Segments()
	if !cmp.Equal(a, b.Segments()) {
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
	prefix := b
	prefix.Epochs = 10
	if diff := cmp.Diff(a[:11], prefix.Segments()[:11]); diff != "" {
		t.Errorf("a sample is not a prefix of the job:\n%s", diff)
	}
}

func TestBurnerRunErrors(t *testing.T) {
	for _, b := range []Burner{
		{Setup: -1}, {Epoch: math.NaN()}, {Teardown: math.Inf(1)}, {Noise: -1}, {Epochs: -1}, {Report: "sometimes"},
	} {
		if err := b.Run(t.Context(), &virtual{}, nil); !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", b, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, m := range []Machine{&virtual{}, Sleeper(), Spinner()} {
		if err := (Burner{Setup: 60}).Run(ctx, m, &strings.Builder{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%T, cancelled: %v", m, err)
		}
	}
}

func TestMachines(t *testing.T) {
	for name, machine := range map[string]func() Machine{"sleep": Sleeper, "cpu": Spinner} {
		var out strings.Builder
		if err := (Burner{Setup: 0.01, Epoch: 0.002, Epochs: 5}).Run(t.Context(), machine(), &out); err != nil {
			t.Fatal(err)
		}
		got, err := timing.ParseOutput(strings.NewReader(out.String()), timing.Extend)
		if err != nil || got.Len() != 7 || got.Total() < 0.019 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestSleeperLate delays a machine that sleeps: it makes up for a tenth of the next time only, as
// laps of no time would be no rate.
func TestSleeperLate(t *testing.T) {
	m := Sleeper()
	time.Sleep(60 * time.Millisecond)
	for range 2 {
		begin := time.Now()
		if err := m.Spend(t.Context(), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d < 18*time.Millisecond {
			t.Errorf("20 ms took %v", d)
		}
	}
}
