package timing

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/shared/uncertainty"
)

func steady(n int, every, cpu, crowd float64) []Reading {
	var all []Reading
	for i := range n {
		all = append(all, readingAt(1e6+float64(i)*every, cpu, crowd))
	}
	return all
}

var minute = Sampled{Horizon: time.Minute, Crowd: 1, Level: 0.95}

func TestOutlook(t *testing.T) {
	hour := minute
	hour.Horizon = time.Hour
	busy := minute
	busy.Crowd = 2
	changing := steady(60, 60, 0.015, 1)
	for i := range changing {
		if i/2%2 == 1 {
			changing[i] = readingAt(1e6+float64(i)*60, 0.015, 2)
		}
	}
	slower := steady(60, 60, 0.015, 1)
	for i := range slower {
		if i/2%2 == 1 {
			slower[i] = readingAt(1e6+float64(i)*60, 0.021, 2)
		}
	}
	for _, tt := range []struct {
		name     string
		readings []Reading
		s        Sampled
		cpuLow   [2]float64 // smallest and largest allowed bound
		cpuHigh  [2]float64
		wallLow  [2]float64
		wallHigh [2]float64
		known    bool
	}{
		// Without readings: twice the time in either direction over an hour, and
		// other work may start at once.
		{"unknown, a minute", nil, minute, [2]float64{0.85, 1}, [2]float64{1.1, 1.6}, [2]float64{0.85, 1}, [2]float64{1.7, 3}, false},
		{"unknown, an hour", nil, hour, [2]float64{0.4, 0.6}, [2]float64{1.7, 2.6}, [2]float64{0.4, 0.6}, [2]float64{2, 5}, false},
		{"quiet for an hour, a minute", steady(60, 60, 0.015, 1), minute, [2]float64{0.97, 1}, [2]float64{1, 1.1}, [2]float64{0.97, 1}, [2]float64{1, 1.4}, true},
		{"quiet for an hour, an hour", steady(60, 60, 0.015, 1), hour, [2]float64{0.4, 0.65}, [2]float64{1.5, 2.6}, [2]float64{0.4, 0.65}, [2]float64{1.8, 5}, false},
		{"comes and goes, now quiet", changing[:58], minute, [2]float64{0.97, 1}, [2]float64{1, 1.03}, [2]float64{0.97, 1}, [2]float64{1.8, 2.1}, true},
		{"comes and goes, now busy", changing, busy, [2]float64{0.97, 1}, [2]float64{1, 1.03}, [2]float64{0.5, 0.6}, [2]float64{1, 1.05}, true},
		{"a neighbour slows the core", slower[:58], minute, [2]float64{0.5, 0.95}, [2]float64{1.3, 2}, [2]float64{0.5, 0.95}, [2]float64{2, 4}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := NewOutlook(tt.readings, tt.s)
			for _, b := range []struct {
				name string
				got  float64
				want [2]float64
			}{{"CPU low", o.CPU.Low, tt.cpuLow}, {"CPU high", o.CPU.High, tt.cpuHigh}, {"wall low", o.Wall.Low, tt.wallLow}, {"wall high", o.Wall.High, tt.wallHigh}} {
				if !(b.want[0] <= b.got && b.got <= b.want[1]) {
					t.Errorf("%s %.3f, want %.3f to %.3f", b.name, b.got, b.want[0], b.want[1])
				}
			}
			if o.Known != tt.known || o.Reason == "" {
				t.Errorf("known %v, want %v; %s", o.Known, tt.known, o.Reason)
			}
		})
	}
}

// TestOutlookBlocks checks that readings that repeat or are close to each other
// count as one and narrow nothing, that order does not matter, and that impossible
// readings are ignored.
func TestOutlookBlocks(t *testing.T) {
	once := steady(3, 70, 0.015, 1)
	want := NewOutlook(once, minute)
	var often []Reading
	for _, r := range []Reading{once[2], once[0], once[1]} {
		for i := range 50 {
			again := r
			again.At = r.At.Add(time.Duration(i/2) * 100 * time.Millisecond)
			often = append(often, again)
		}
	}
	bad := readingAt(1e6+35, math.NaN(), 1)
	if got := NewOutlook(append(often, bad, Reading{}), minute); got != want {
		t.Errorf("150 readings of three moments: %+v, want as of three: %+v", got, want)
	}
	if n := len(blocks(often)); n != 3 {
		t.Errorf("%d blocks, want 3", n)
	}
}

// TestOutlookLearns checks that more earlier readings without a change narrow the
// bounds, and that the reason gives their number.
func TestOutlookLearns(t *testing.T) {
	last := math.Inf(1)
	for _, n := range []int{1, 4, 10, 40, 200} {
		o := NewOutlook(steady(n, 60, 0.015, 1), minute)
		if !(o.Wall.High < last) {
			t.Errorf("%d readings: upper bound %.3f, %.3f with fewer", n, o.Wall.High, last)
		}
		last = o.Wall.High
		if n < minPairs && !strings.Contains(o.Reason, "too few") {
			t.Errorf("%d readings: %s", n, o.Reason)
		}
	}
	if last > 1.02 {
		t.Errorf("200 quiet minutes leave an upper bound of %.3f", last)
	}
}

// hostModel is a simulated machine: each second other work starts or ends with
// given probabilities, and the processor's speed varies around its mean.
type hostModel struct {
	start, end float64 // probabilities per second
	speedSD    float64 // stationary, of the logarithm
	neighbour  float64 // factor on processor time during other work
	rng        *rand.Rand
	busy       bool
	speed      float64
	seconds    float64
}

func (h *hostModel) step() (cpu, crowd float64) {
	odds := h.start
	if h.busy {
		odds = h.end
	}
	if h.rng.Float64() < odds {
		h.busy = !h.busy
	}
	const keep = 0.999 // of the speed from second to second: a time constant of 17 minutes
	h.speed = keep*h.speed + h.speedSD*math.Sqrt(1-keep*keep)*h.rng.NormFloat64()
	h.seconds++
	cpu, crowd = math.Exp(h.speed), 1
	if h.busy {
		cpu, crowd = cpu*h.neighbour, 2
	}
	return cpu, crowd
}

// window returns the mean processor time and mean wall time of a second's work.
func (h *hostModel) window(seconds int) (cpu, wall float64) {
	for range seconds {
		c, crowd := h.step()
		cpu, wall = cpu+c/float64(seconds), wall+c*crowd/float64(seconds)
	}
	return cpu, wall
}

// TestOutlookHolds checks the coverage of the bounds on simulated machines, from
// the first reading on: for work of a minute and of ten, sampled for 20 s, with no
// history or one of an hour. Without the bounds hardly any interval covers a
// machine that changes.
func TestOutlookHolds(t *testing.T) {
	for _, host := range []struct {
		name                           string
		start, end, speedSD, neighbour float64
	}{
		{"quiet", 0, 1, 0.01, 1},
		{"comes and goes", 1. / 60, 1. / 40, 0.03, 1.4},
		{"slow changes", 1. / 600, 1. / 600, 0.2, 1.2},
	} {
		for _, history := range []int{0, 60} {
			for _, horizon := range []int{60, 600} {
				held, heldCPU, n := 0, 0, 80
				for seed := range n {
					h := &hostModel{start: host.start, end: host.end, speedSD: host.speedSD, neighbour: host.neighbour, rng: rand.New(rand.NewPCG(uint64(seed), 3))}
					h.window(1000)
					var readings []Reading
					read := func() {
						cpu, crowd := h.step()
						readings = append(readings, readingAt(1e6+h.seconds, 0.015*cpu*math.Exp(0.01*h.rng.NormFloat64()), crowd))
					}
					for range history {
						read()
						h.window(59)
					}
					read()
					cpu, wall := h.window(10)
					read()
					cpu2, wall2 := h.window(10)
					read()
					cpu, wall = (cpu+cpu2)/2, (wall+wall2)/2
					o := NewOutlook(readings, Sampled{Horizon: time.Duration(horizon) * time.Second, Crowd: wall / cpu, Level: 0.9})
					thenCPU, thenWall := h.window(horizon)
					if r := thenWall / wall; o.Wall.Low <= r && r <= o.Wall.High {
						held++
					}
					if r := thenCPU / cpu; o.CPU.Low <= r && r <= o.CPU.High {
						heldCPU++
					}
				}
				t.Logf("%-15s history %2d min, horizon %3d s: wall %.3f, CPU %.3f held", host.name, history, horizon, float64(held)/float64(n), float64(heldCPU)/float64(n))
				if least := 0.86; float64(held)/float64(n) < least || float64(heldCPU)/float64(n) < least {
					t.Errorf("%s, history %d min, horizon %d s: %d and %d of %d held", host.name, history, horizon, held, heldCPU, n)
				}
			}
		}
	}
}

func TestWiden(t *testing.T) {
	c := Change{Low: 0.5, High: 2}
	p := uncertainty.Prediction{Value: 10, Low: 8, High: 13, Level: 0.9}
	got := c.Widen(p)
	// exp(hypot(ln 0.8, ln 0.5)) and exp(hypot(ln 1.3, ln 2)), by hand
	if math.Abs(got.Low-10*math.Exp(-0.728176)) > 1e-3 || math.Abs(got.High-10*math.Exp(0.741141)) > 1e-3 || got.Value != 10 || got.Level != 0.9 {
		t.Errorf("got %+v", got)
	}
	for _, same := range []uncertainty.Prediction{uncertainty.Point(3), {Value: 0, Low: 0, High: 1, Level: 0.9}, {Value: -1, Low: -2, High: 1, Level: 0.9}} {
		if got := c.Widen(same); got != same {
			t.Errorf("%+v became %+v", same, got)
		}
	}
	if got := (Change{1, 1}).Widen(p); math.Abs(got.Low-8) > 1e-12 || math.Abs(got.High-13) > 1e-12 {
		t.Errorf("no change: %+v", got)
	}
	if got := c.Widen(uncertainty.Prediction{Value: 1, Low: 0, High: 2, Level: 0.9}); got.Low != 0 {
		t.Errorf("an end at zero moved to %v", got.Low)
	}
	if got := c.Of(0.5); got != (Change{0.75, 1.5}) {
		t.Errorf("of half: %+v", got)
	}
	if got := c.Of(0); got != (Change{1, 1}) {
		t.Errorf("of none: %+v", got)
	}
}

// TestPairs checks that pairs are a horizon apart or more, follow each other, and
// do not bridge a gap of more than ten.
func TestPairs(t *testing.T) {
	all := blocks(append(steady(10, 60, 0.015, 1), readingAt(1e6+10000, 0.015, 1), readingAt(1e6+10060, 0.015, 1)))
	for _, tt := range []struct {
		horizon time.Duration
		want    [][2]float64 // seconds
	}{
		{time.Second, [][2]float64{{0, 60}, {60, 120}, {120, 180}, {180, 240}, {240, 300}, {300, 360}, {360, 420}, {420, 480}, {480, 540}, {10000, 10060}}},
		{150 * time.Second, [][2]float64{{0, 180}, {180, 360}, {360, 540}}},
		{900 * time.Second, nil},
		{2000 * time.Second, [][2]float64{{0, 10000}}},
	} {
		var got [][2]float64
		for _, p := range pairs(all, tt.horizon) {
			got = append(got, [2]float64{p[0].at.Sub(all[0].at).Seconds(), p[1].at.Sub(all[0].at).Seconds()})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.horizon, got, tt.want)
		}
	}
}

// TestOutlookOfLongWaits checks that a few readings with a long wait for a
// processor do not determine the upper bound.
func TestOutlookOfLongWaits(t *testing.T) {
	readings := steady(60, 60, 0.015, 1)
	for i := range readings {
		if i/2%2 == 1 {
			readings[i] = readingAt(1e6+float64(i)*60, 0.015, 2)
		}
	}
	for _, i := range []int{10, 30, 46} {
		readings[i] = readingAt(1e6+float64(i)*60, 0.015, 60)
	}
	if o := NewOutlook(readings[:58], minute); !(o.Wall.High < 3) {
		t.Errorf("three of thirty readings at sixty times its processor time: upper bound %.1f", o.Wall.High)
	}
}
