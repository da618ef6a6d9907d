package experiment

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

var hd = Input{Height: 720, Width: 1280, Batch: 1}

// The number of kernels of fasterrcnn_resnet50_fpn and the range of their
// times are those of the original program's sample profile; the numbers of the
// classifiers follow from their layers: resnet50 has 53 convolutions and as
// many normalisations, 49 activations, 16 additions, 2 poolings, a product and
// what prepares it.
func TestKernelsPerJob(t *testing.T) {
	for model, want := range map[string]int{
		"fasterrcnn_resnet50_fpn": 929,
		"resnet50":                53 + 53 + 49 + 16 + 2 + 2,
	} {
		p, err := Lookup(model, hd)
		if err != nil || p.Kernels() != want {
			t.Errorf("%s: %d kernels (%v), want %d", model, p.Kernels(), err, want)
		}
	}
	p, _ := Lookup("fasterrcnn_resnet50_fpn", hd)
	shortest, longest := time.Hour, time.Duration(0)
	for _, g := range p.Groups {
		shortest, longest = min(shortest, g.Each), max(longest, g.Each)
	}
	if shortest != 4400 || math.Abs(longest.Seconds()-400e-6) > 10e-6 {
		t.Errorf("kernels of %v to %v, want 4.4µs to about 400µs", shortest, longest)
	}
}

// scaledModels are those whose kernels depend on their input.
var scaledModels = []string{"fasterrcnn_resnet50_fpn", "resnet50", "retinanet_resnet50_fpn"}

// The kernels of a model that was measured with one input are known for this one: with
// resize false, what its own preprocessing makes of any.
func TestFixedInput(t *testing.T) {
	m := Model{ModelName: "mobilenet_v3_small", BatchSize: 1, Height: 720, Width: 1280}
	if p, err := m.Profile(); err != nil || p.Kernels() != 175 || p.DeviceTime() < 361*time.Microsecond || p.DeviceTime() > 363*time.Microsecond {
		t.Errorf("%+v, %v", p, err)
	}
	resized, batch := m, m
	resized.Resize, batch.BatchSize = true, 8
	for _, m := range []Model{resized, batch} {
		if p, err := m.Profile(); err == nil {
			t.Errorf("%+v: %+v", m, p)
		}
	}
}

func TestEveryModelGrowsWithItsInput(t *testing.T) {
	if want := []string{"fasterrcnn_resnet50_fpn", "mobilenet_v3_small", "resnet50", "retinanet_resnet50_fpn"}; !slices.Equal(Models(), want) {
		t.Errorf("models: %q", Models())
	}
	for _, model := range scaledModels {
		small, err1 := Lookup(model, hd)
		large, err2 := Lookup(model, Input{Height: 1440, Width: 2560, Batch: 4})
		if err := errors.Join(err1, err2); err != nil {
			t.Error(err)
			continue
		}
		if large.DeviceTime() <= small.DeviceTime() || large.Kernels() != small.Kernels() {
			t.Errorf("%s: %v for a small input, %v for a large one", model, small.DeviceTime(), large.DeviceTime())
		}
		if large.AllocatedBytes <= small.AllocatedBytes || small.ReservedBytes <= small.AllocatedBytes {
			t.Errorf("%s: memory %d and %d, reserved %d", model, small.AllocatedBytes, large.AllocatedBytes, small.ReservedBytes)
		}
	}
}

func TestUnknownModelListsTheKnown(t *testing.T) {
	_, err := Lookup("alexnet", hd)
	if !errors.Is(err, ErrUnknownModel) || !strings.Contains(err.Error(), "alexnet") || !strings.Contains(err.Error(), "resnet50") {
		t.Errorf("got %v", err)
	}
}

func TestImpossibleInputs(t *testing.T) {
	for _, in := range []Input{{}, {720, 1280, 0}, {0, 1280, 1}, {720, -1, 1}, {720, 1 << 20, 1}, {720, 1280, 1 << 20}} {
		if p, err := Lookup("resnet50", in); err == nil {
			t.Errorf("%+v: %d groups and no error", in, len(p.Groups))
		}
	}
}

// The table holds what a job can be, and the largest input does not overflow.
func TestTable(t *testing.T) {
	for _, r := range table() {
		if r.Kernels < 1 || r.Kernels > maxKernels || !(r.FloorNS > 0) || !(r.UnitNS >= 0) || r.Model == "" {
			t.Errorf("%+v", r)
		}
	}
	for _, model := range scaledModels {
		p, err := Lookup(model, Input{1 << 16, 1 << 16, 1 << 16})
		if err != nil || p.DeviceTime() < time.Second || p.DeviceTime() > math.MaxInt64/2 || p.ReservedBytes < p.AllocatedBytes {
			t.Errorf("%s: %+v, %v", model, p, err)
		}
	}
	if len(table()) < 50 {
		t.Errorf("%d rows", len(table()))
	}
}

func TestSums(t *testing.T) {
	p := Profile{Groups: []Group{{3, 10}, {1, 30}}}
	if p.Kernels() != 4 || p.DeviceTime() != 60 {
		t.Errorf("%d kernels, %v", p.Kernels(), p.DeviceTime())
	}
	for kernels, want := range map[uint64]time.Duration{0: 0, 2: 20, 3: 30, 4: 60, 9: 130} {
		if got := p.DeviceTimeOf(kernels); got != want {
			t.Errorf("%d kernels: %v, want %v", kernels, got, want)
		}
	}
	if (Profile{}).DeviceTimeOf(7) != 0 {
		t.Error("device time of no kernels")
	}
}

func TestText(t *testing.T) {
	p := Profile{Model: "two\nlines", Groups: []Group{{3, 10}, {1, 30 * time.Microsecond}}}
	if want := "# two lines: kernels, nanoseconds of each\n3 10\n1 30000\n"; p.Text() != want {
		t.Errorf("%q", p.Text())
	}
}

func TestProfileOfOwnKernels(t *testing.T) {
	x, err := Parse("own.json", []byte(`{"models": [{"model_name": "own", "kernel_ns": [5, 5, 7, 5]}], "exp_dur": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := x.Models[0].Profile()
	if err != nil || len(p.Groups) != 3 || p.Groups[0].Kernels != 2 || p.Kernels() != 4 || len(p.Times()) != 4 || p.Times()[2] != 7 {
		t.Errorf("%+v %v", p, err)
	}
}
