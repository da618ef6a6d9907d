package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/timing"
)

// isNear compares to rounding.
func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-3) }

// studentCDF integrates Student's density from 0 by Simpson's rule.
func studentCDF(x, nu float64) float64 {
	density := func(t float64) float64 {
		return math.Gamma((nu+1)/2) / math.Gamma(nu/2) / math.Sqrt(math.Pi*nu) * math.Pow(1+t*t/nu, -(nu+1)/2)
	}
	const steps = 2000
	h := x / steps
	sum := density(0) + density(x)
	for i := 1; i < steps; i++ {
		sum += float64(2+2*(i%2)) * density(float64(i)*h)
	}
	return .5 + sum*h/3
}

// studentQuantile bisects studentCDF.
func studentQuantile(p, nu float64) float64 {
	low, high := -60.0, 60.0
	for range 60 {
		if mid := (low + high) / 2; studentCDF(mid, nu) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// Quantiles of the next duration are those of Student's distribution
// of the logarithms, with four prior runs, beyond the time that has passed.
func TestDurationByIntegration(t *testing.T) {
	sd := math.Log(timing.SpeedChange(math.Erf(1 / math.Sqrt2)).High) // one standard deviation
	for _, tt := range []struct {
		seconds []float64
		elapsed float64
		level   float64
	}{
		{[]float64{100}, 0, .9}, {[]float64{100, 150, 90}, 0, .8}, {[]float64{100, 150, 90}, 120, .8}, {[]float64{.5, .7}, .4, .95}, {[]float64{.5, .7}, 1, .95},
	} {
		p := &Past{}
		mean, n := 0.0, float64(len(tt.seconds))
		for _, s := range tt.seconds {
			p.Runs = append(p.Runs, Run{Seconds: s})
			mean += math.Log(s) / n
		}
		squares := 4 * sd * sd / 2
		for _, s := range tt.seconds {
			squares += math.Pow(math.Log(s)-mean, 2)
		}
		nu := 3 + n
		sigma := math.Sqrt(squares / nu * (n + 1) / n)
		begin := 0.0
		if tt.elapsed > 0 {
			begin = studentCDF((math.Log(tt.elapsed)-mean)/sigma, nu)
		}
		at := func(q float64) float64 {
			return max(tt.elapsed, math.Exp(mean+sigma*studentQuantile(begin+(1-begin)*q, nu)))
		}
		got, ok := p.Duration(tt.elapsed, 0, tt.level)
		if !ok || math.Abs(got.Value/at(.5)-1) > 1e-6 || math.Abs(got.Low/at((1-tt.level)/2)-1) > 1e-6 || math.Abs(got.High/at((1+tt.level)/2)-1) > 1e-6 || got.Level != tt.level {
			t.Errorf("%v after %v s: %+v, %v; want %v from %v to %v", tt.seconds, tt.elapsed, got, ok, at(.5), at((1-tt.level)/2), at((1+tt.level)/2))
		}
	}
	// It is given until 999 of 1000 would have ended: after one run four degrees of freedom.
	last := 100 * math.Exp(math.Sqrt(4*sd*sd/2/4*2)*studentQuantile(.999, 4))
	for share, want := range map[float64]bool{1 - 1e-6: true, 1 + 1e-6: false} {
		if _, ok := (&Past{Runs: []Run{{Seconds: 100}}}).Duration(last*share, 0, .9); ok != want {
			t.Errorf("at %v of the last second: %v", share, ok)
		}
	}
}

// Runs of unknown length count for any, others for their own; those without
// a duration or of another machine never, and of more than forty the last.
func TestRunsOfALength(t *testing.T) {
	for _, tt := range []struct {
		units float64
		run   Run
		want  bool
	}{
		{0, Run{Seconds: 1, Units: 5}, true}, {5, Run{Seconds: 1, Units: 5}, true}, {1, Run{Seconds: 1, Units: 5}, false}, {5, Run{Seconds: 1, Units: 1}, false}, {5, Run{Seconds: 1}, true},
		{0, Run{Seconds: 1}, true}, {0, Run{}, false}, {0, Run{Seconds: 1e-9}, true}, {0, Run{Seconds: 1, OtherMachine: true}, false},
	} {
		p := &Past{Runs: []Run{tt.run}}
		if _, ok := p.Duration(0, tt.units, .9); ok != tt.want {
			t.Errorf("%+v for %v units: %v", tt.run, tt.units, ok)
		}
	}
	p := &Past{Runs: []Run{{Seconds: 1e9}}}
	for range 40 {
		p.Runs = append(p.Runs, Run{Seconds: 100})
	}
	if d, _ := p.Duration(0, 0, .9); !isNear(d.Value, 100) {
		t.Errorf("the forty-first last run counts: %+v", d)
	}
}

// TestPacesByHand compares the paces of random marks with those counted by the definition.
func TestPacesByHand(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	median := func(v []float64) float64 {
		if len(v) == 0 {
			return 0
		}
		slices.Sort(v)
		return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	}
	for range 3000 {
		n := rng.IntN(12)
		marks := make([]progress.Mark, n)
		number, at := float64(rng.IntN(3)), float64(rng.IntN(3))
		for i := range marks {
			marks[i] = progress.Mark{Number: number, Seconds: at}
			number += float64(rng.IntN(4)) / 2
			at += float64(rng.IntN(4))
		}
		var want Pace
		ok := n >= 2
		if ok {
			reach := func(share float64) int { // the first mark with that share of the units
				i := 0
				for i < n-1 && marks[i].Number < marks[0].Number+share*(marks[n-1].Number-marks[0].Number) {
					i++
				}
				return i
			}
			rates := func(from, to int) (all []float64) {
				for i := from + 1; i <= to; i++ {
					if u := marks[i].Number - marks[i-1].Number; u > 0 {
						all = append(all, (marks[i].Seconds-marks[i-1].Seconds)/u)
					}
				}
				return all
			}
			begin := min(reach(.8), n-2)
			want.Recent = (marks[n-1].Seconds - marks[begin].Seconds) / (marks[n-1].Number - marks[begin].Number)
			ok = want.Recent > 0 && !math.IsInf(want.Recent, 0)
			if ok && n >= 6 {
				want.Trend = math.Log(median(rates(begin, n-1)) / median(rates(0, max(1, reach(.5)))))
				if math.IsNaN(want.Trend) || math.IsInf(want.Trend, 0) {
					want.Trend = 0
				}
			}
		}
		got, known := PaceOf(marks)
		if known != ok || ok && (!isNear(got.Recent, want.Recent) || !isNear(got.Trend, want.Trend)) {
			t.Fatalf("%v: %+v, %v; want %+v, %v", marks, got, known, want, ok)
		}
	}
}

// A shape needs three laps before the share, and time and units after.
func TestShapesAtTheirEdges(t *testing.T) {
	even := marksOf(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	for _, tt := range []struct {
		name  string
		run   Run
		share float64
		rest  float64 // of a unit; 0 for no shape
	}{
		{"three laps before", Run{Marks: even, Units: 10, Seconds: 10}, .3, 1},
		{"two laps before", Run{Marks: even, Units: 10, Seconds: 10}, .2, 0},
		{"one unit after", Run{Marks: even, Units: 10, Seconds: 10}, .9, 1},
		{"half a unit after", Run{Marks: even, Units: 10.5, Seconds: 12}, 1, 4},
		{"no unit after", Run{Marks: even, Units: 10, Seconds: 12}, 1, 0},
		{"no time after", Run{Marks: even, Units: 11, Seconds: 10}, 1, 0},
		{"half a second after", Run{Marks: even, Units: 11, Seconds: 10.5}, 1, .5},
		{"lines begin units", Run{Marks: even, Units: 11, Seconds: 13}, .5, 7. / 5},
		{"no marks", Run{Units: 10, Seconds: 10}, .5, 0},
		{"no pace", Run{Marks: marksOf(0, 0, 0, 0, 1), Units: 5, Seconds: 1}, .6, 0},
	} {
		good := Run{Block: "last", Marks: even, Units: 10, Seconds: 10}
		p := Past{Runs: []Run{tt.run, good}}
		shapes := p.Shapes(tt.share)
		if tt.share >= .3 && tt.share < 1 && (len(shapes) == 0 || shapes[len(shapes)-1].Block != "last") {
			t.Errorf("%s: the run behind it is missing", tt.name)
		}
		shapes = slices.DeleteFunc(shapes, func(s Shape) bool { return s.Block == "last" })
		if tt.rest == 0 && len(shapes) > 0 || tt.rest > 0 && (len(shapes) != 1 || !isNear(shapes[0].Rest, tt.rest)) {
			t.Errorf("%s: %+v, want %v s a unit", tt.name, shapes, tt.rest)
		}
	}
}

// TestRunsThatServe checks whole runs of these units here, with a duration.
func TestRunsThatServe(t *testing.T) {
	four := marksOf(1, 1, 1)
	p := Past{Runs: []Run{
		{Block: "a", Units: 3, Seconds: 1e-9, Marks: four, SameScript: true},
		{Block: "b", Units: 3},
		{Block: "c", Units: 4, Seconds: 9, Marks: four},
		{Block: "d", Units: 3, Seconds: 9, Marks: four, Stopped: .5},
		{Block: "e", Units: 3, Seconds: 9, Marks: four, OtherMachine: true},
		{Block: "f", Units: 3, Seconds: 5, Marks: four[:3]},
	}}
	want := []Shape{{Block: "a", Pace: Pace{Recent: 1}, Rest: 1e-9, SameScript: true}, {Block: "f", Pace: Pace{Recent: 1}, Rest: 5}}
	if got := p.Wholes(3); !slices.Equal(got, want) || got[1].Stretch() != 5 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := p.Marks(3); len(got) != 1 {
		t.Errorf("marks of %d runs, want 1", len(got))
	}
	early := Past{Runs: []Run{{Units: 2, Stopped: 4}, {Units: 1, Stopped: 4}, {Units: 9}, {Units: 1, Stopped: 1.25}}}
	if got := early.Stops(.25); !slices.Equal(got, []float64{.5, .8, 1}) {
		t.Errorf("stops at %v", got)
	}
	if got := early.Stops(.2); !slices.Equal(got, []float64{.25, .5, .8, 1}) {
		t.Errorf("stops at %v", got)
	}
	down := Past{Runs: []Run{{Units: 3, Marks: four, Seconds: 3}, {Units: 3, Marks: four, Seconds: 5}}}
	if got, known := down.Teardown(); !known || got.Value != 2 || got.Low != 1 || got.High != 4 {
		t.Errorf("one of the runs shows its teardown: %+v", got)
	}
}

// A difference of trends of 0.05 is one standard deviation of likeness.
func TestLikeness(t *testing.T) {
	s := Shape{Pace: Pace{Trend: .2}}
	for trend, want := range map[float64]float64{.2: 1, .25: math.Exp(-.5), .15: math.Exp(-.5), .3: math.Exp(-2)} {
		if got := s.Likeness(Pace{Trend: trend}); !isNear(got, want) {
			t.Errorf("a trend of %v: %v, want %v", trend, got, want)
		}
	}
	// Block a has two runs, which share its weight; one of them is alike.
	past := []Shape{
		{Block: "a", Pace: Pace{Recent: 2}, Rest: 3}, {Block: "a", Pace: Pace{Recent: 2, Trend: .05}, Rest: 4},
		{Block: "b", Pace: Pace{Recent: 1}, Rest: 1}, {Block: "c", Pace: Pace{Recent: 1, Trend: 9}, Rest: 1},
	}
	rests, alike := Weigh(past, Pace{Recent: 10}, 7)
	e := math.Exp(-.5)
	want := []Weighted{{105, 1.01 / 2}, {140, (e + .01) / 2}, {70, 1.01}, {70, .01}}
	for i := range want {
		if !isNear(rests[i].Rest, want[i].Rest) || !isNear(rests[i].Weight, want[i].Weight) {
			t.Errorf("rest %d: %+v, want %+v", i, rests[i], want[i])
		}
	}
	if !isNear(alike, .5+e/2+1) {
		t.Errorf("alike %v, want %v", alike, .5+e/2+1)
	}
	if rests, alike := Weigh(past[:3], Pace{Recent: 10}, 7); rests != nil || alike != 0 {
		t.Errorf("two blocks: %v, %v", rests, alike)
	}
	past[2].SameScript = true
	if rests, alike := Weigh(past[:3], Pace{Recent: 10}, 7); len(rests) != 3 || !math.IsInf(alike, 1) {
		t.Errorf("two blocks, one run of the same script: %v, %v", rests, alike)
	}
}

// Runs that do not count do not hide those after them.
func TestPastInTurn(t *testing.T) {
	now := journal.Run{Job: "a", Device: "cpu"}
	runs := []journal.Run{{Job: "b", Kind: journal.Full, Device: "cpu"}, {Job: "a", Kind: journal.Full, Device: "cpu", Epochs: 3, Wall: 7, Asked: 9}}
	p := Of(runs, now)
	if len(p.Runs) != 1 || p.Runs[0].Block != "1" || p.Runs[0].Units != 3 || p.Runs[0].Seconds != 7 || p.Runs[0].Stopped != 9 {
		t.Errorf("%+v", p.Runs)
	}
	one := journal.Run{Job: "b", Kind: journal.Full, Device: "cpu", Command: []string{"train"}}
	if p := Of([]journal.Run{one}, journal.Run{Job: "a", Device: "cpu", Command: []string{"train"}}); len(p.Runs) != 1 {
		t.Error("a command of one word has no past")
	}
}

// TestKeysOfWords checks the key of a command by hand.
func TestKeysOfWords(t *testing.T) {
	for command, want := range map[string]string{
		"/bin/python x/train.py":             "python|train.py",
		"python a.py seed=3 lr=2":            "python|a.py|lr=2",
		"python a.py --seed=3 --seed 4 b":    "python|a.py|b",
		"python a.py --out=x --lr=/data/a":   "python|a.py|out=|lr=",
		"python a.py --out x --lr ./a b ../": "python|a.py|--out|/|--lr|/|b|/",
		"python a.py -o ~/x q=~/y q=z":       "python|a.py|-o|/|q=|q=z",
		"python a.py --fast --lr=1":          "python|a.py|--fast|--lr=1",
		"python a.py --seed --out x":         "python|a.py|--out|/",
		"python a.py --seed c=5 d":           "python|a.py|c=5|d",
		"python a.py --out c=5":              "python|a.py|--out|c=5",
	} {
		if got := strings.ReplaceAll(CommandKey(strings.Fields(command)), "\x00", "|"); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	if got := fmt.Sprint(isPath("a/b"), isPath("/b"), isPath("~b")); got != "false true false" {
		t.Errorf("paths: %s", got)
	}
}
