package progress

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// firstOf returns the first number of a line.
func firstOf(line string) number {
	s := scan(line)
	return s.numbers()[0]
}

// TestAnnouncements checks the unit that a number announces, its likelihood and the words of a maximum.
func TestAnnouncements(t *testing.T) {
	for line, want := range map[string]string{
		"max_epochs: 6": "epoch 0.8", "max epochs: 6": "epoch 0.8 most", "epochs: 6": "epoch 0.65", "n_epochs: 6": "epoch 0.8", "profile_epochs: 6": "epoch 0.45", "epoch: 6": "", "epochs: 1": "", "epochs: 2": "epoch 0.65", "epochs: 6.5": "", "epochs: 0": "", "epochs: -6": "", "epochs: 3/6": "", "epochs: 6%": "",
		"Run 400 steps": "step 0.8", "Running 400": "step 0.8", "480 ntimes": "step 0.8", "480 steps": "step 0.65", "480 step": "", "480 red apples": "", "5000 steps, 10.0 ps": "step 0.65", "480 big red steps": "step 0.65", "480 very big red steps": "", "480 done": "",
		"End Time (s) 10.0": "time 0.8", "Time (s) 10.0": "", "save every epochs: 6": "", "total: 9": "total 0.7", "total: 9.5": "", "of 9": "total 0.7", "train:87 steps": "", "train: 87 steps": "step 0.8", "log_interval steps: 87": "",
		"Maximum number of iterations: 50": "iteration 0.8 most",
	} {
		got := ""
		if a := announcementOf(firstOf(line)); a.weight > 0 {
			got = fmt.Sprintf("%s %v", a.unit, a.weight)
			if a.atMost {
				got += " most"
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestNumbersWithTotals checks the total, the name and the unit beside each number of a line.
func TestNumbersWithTotals(t *testing.T) {
	for line, want := range map[string]string{
		"epoch 3/90": "3/90", "epoch 3 of 90": "3/90", "3 out of at most 90": "3/90m", "3 of at most 90": "3/90m", "90/3": "90 3", "3/3": "3/3", "3 - 90": "3 90", "50%": "50p", "50 % done": "50p", "50 percent": "50p", "50 red": "50",
		"45/90 50%": "45/90c 50p", "45/90 51%": "45/90c 51p", "45/90 51.02%": "45/90 51.02p", "45/90 48.98%": "45/90 48.98p", "45/90 [00:01<00:02]": "45/90c", "45/90 7 [00:01<00:02]": "45/90 7", "epoch 3 loss 0.5": "3r 0.5", "epoch 3 acc 50.5%": "3 50.5p", "epoch 3 acc 7": "3 7", "0.5 epoch 3": "0.5 3",
		"40/40 trials (3 running, 12 terminated)": "40/40 3 12/40r", "39/40 trials (3 running, 12 terminated)": "39/40 3 12r", "40/40 trials (41 terminated)": "40/40 41r", "40/40 trials (40 terminated)": "40/40 40/40r", "12 finished": "12r", "12 finishing": "12",
		"5 MB/10 MB": "5/10", "-5/9": "-5 9", "0/9": "0/9",
	} {
		var all []string
		s := scan(line)
		for _, n := range s.numbers() {
			text := fmt.Sprint(n.value)
			if n.total > 0 {
				text += fmt.Sprintf("/%v", n.total)
			}
			for _, flag := range []struct {
				set  bool
				name string
			}{{n.percent, "p"}, {n.counted, "c"}, {n.reports, "r"}, {n.atMost, "m"}} {
				if flag.set {
					text += flag.name
				}
			}
			all = append(all, text)
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// TestWordsOfCounters checks labels, plurals and plain numbers.
func TestWordsOfCounters(t *testing.T) {
	for line, want := range map[string]string{
		"Epoch 3/90": "epoch i/90", "train epoch: 3": "epoch i", "a big red 3": "big red i", "3": "number i", "50%": "i%", "progress: 50%": "progress i%", "loss 1 | epoch 3/4": "loss i", "Schritt 3": "schritt i", "A.b_c' 3": "a.b_c' i", "x [3/7]": "x i/7",
	} {
		c := &counter{number: firstOf(line)}
		c.unit = c.number.unit()
		if got := c.label(); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for v, want := range map[float64]string{3: "3", 2.5: "2.5", -7: "-7", 1e14: "100000000000000", 999999999999999: "999999999999999", 1e15: "1e+15", 1e-7: "1e-07"} {
		if got := plain(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if Plural("batch") != "batches" || Plural("epoch") != "epochs" {
		t.Error("plurals")
	}
	for _, tt := range []struct {
		c    Candidate
		want string
	}{
		{Candidate{Number: 3, Unit: "step", PerSecond: .5}, "3 steps so far, 0.5 per second"}, {Candidate{Number: 3, Part: 9, Counter: "x", PerSecond: 2}, `3 of 9 in "x" so far, 2 per second`}, {Candidate{Number: 3, Counter: "x", PerSecond: 2}, `3 in "x" so far, 2 per second`},
	} {
		if got := tt.c.Pace(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	if lower("ABC", 2) != "bc" || lower("ABC", 9) != "abc" {
		t.Error("lower")
	}
}

// TestWeightsOfCounters checks the weights of a counter's words.
func TestWeightsOfCounters(t *testing.T) {
	for _, tt := range []struct {
		line string
		how  how
		want float64
	}{
		{"epoch 3", counted, 1}, {"batch 3", counted, .8}, {"loading step 3", counted, .1}, {"gpu usage 50%", counted, .05}, {"gpu 3/9", pair, .05}, {"gpu 3/9", counted, .8}, {"progress 50%", counted, 1},
	} {
		c := &counter{number: firstOf(tt.line)}
		c.unit = c.number.unit()
		if got := c.weightAs(tt.how); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.line, got, tt.want)
		}
	}
	// The caller's number: none beyond it, and the nearest to it the likeliest.
	for _, tt := range []struct {
		unit   string
		values []float64
		want   float64
	}{
		{"epoch", []float64{1, 2, 3}, .7 * (.75 + .4*math.Log(4)/math.Log(11))}, {"epoch", []float64{9, 10}, .7 * 1.15}, {"epoch", []float64{9, 11}, 0}, {"", []float64{1, 2, 3}, .5 * (.75 + .4*math.Log(4)/math.Log(11))}, {"", []float64{1, 2, 4, 9}, 0}, {"epoch", []float64{1}, .7 * (.75 + .4*math.Log(2)/math.Log(11))}, {"step", []float64{1}, 0}, {"time", []float64{1, 2}, 0}, {"progress", []float64{1, 2}, 0}, {"stage", []float64{1, 2}, 0}, {"epoch", []float64{1, 3, 1, 3}, .7 * (.75 + .4*math.Log(4)/math.Log(11))}, {"epoch", []float64{1, 3, 1, 3, 1, 3}, 0}, {"epoch", []float64{0}, .7 * .75}, {"epoch", []float64{-1}, 0},
	} {
		c := countedFrom(1, tt.values...)
		c.unit = tt.unit
		if got := (&Reader{Units: 10}).weightOfGiven(c); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s %v: %v, want %v", tt.unit, tt.values, got, tt.want)
		}
	}
	if got := (&Reader{}).weightOfGiven(countedFrom(1, 1, 2)); got != 0 {
		t.Errorf("without a number of the caller: %v", got)
	}
}

// Another counter of the run's units is about as far on its way.
func TestAgreement(t *testing.T) {
	for _, tt := range []struct {
		share float64 // of 100 units by the one
		other float64 // by the other, of 10
		want  bool
	}{
		{50, 5, true}, {50, 6, true}, {50, 6.09, true}, {50, 6.11, false}, {50, 3.51, true}, {50, 3.5, false}, {100, 10.01, true}, {100, 10.02, false},
	} {
		c := countedFrom(1, 10, tt.share)
		o := countedFrom(3, 1, tt.other)
		o.unit = "epoch"
		r := &Reader{Units: 10}
		if got := r.agrees(c, 100, []*counter{c, o}); got != tt.want {
			t.Errorf("%v of 100 and %v of 10: agree %v", tt.share, tt.other, got)
		}
		o.unit = "step"
		if r.agrees(c, 100, []*counter{o}) {
			t.Error("steps without a total agree")
		}
		if o.total = 10; r.agrees(c, 100, []*counter{o}) != tt.want {
			t.Errorf("%v of 100 and %v of 10 steps", tt.share, tt.other)
		}
		if o.percent = true; r.agrees(c, 100, []*counter{o}) {
			t.Error("a percentage agrees")
		}
	}
	c, o := countedFrom(5, 10, 50), countedFrom(3, 1, 5)
	o.unit = "epoch"
	if (&Reader{Units: 10}).agrees(c, 100, []*counter{o}) {
		t.Error("one that has not moved since agrees")
	}
	if c = countedFrom(1, 10, 60, 50); (&Reader{Units: 10}).agrees(c, 100, []*counter{o}) {
		t.Error("one that began again agrees")
	}
}

// A remaining time counts if it falls by about a second each second, a
// finishing time if it stands and the lines have a clock.
func TestRemainingTimes(t *testing.T) {
	read := func(format string, slope float64, lines int) *Reader {
		r := &Reader{}
		for i := range lines {
			left := 5000 + slope*float64(10*i)
			r.Line(fmt.Sprintf(format, int(left)/3600, int(left)/60%60, int(left)%60), float64(10*i+1))
		}
		return r
	}
	for _, tt := range []struct {
		format string
		slope  float64
		lines  int
		want   float64
	}{
		{"eta %d:%02d:%02d", -1, 6, .5}, {"eta %d:%02d:%02d", -1, 5, .5}, {"eta %d:%02d:%02d", -1, 4, 0}, {"x %d:%02d:%02d y", -1, 6, .3}, {"eta %d:%02d:%02d", -.7, 6, .5}, {"eta %d:%02d:%02d", -.5, 6, 0}, {"eta %d:%02d:%02d", -1.5, 6, .5}, {"eta %d:%02d:%02d", -1.7, 6, 0}, {"eta %d:%02d:%02d", 1, 6, 0}, {"eta %d:%02d:%02d", 0, 6, 0},
	} {
		got := 0.0
		for _, c := range read(tt.format, tt.slope, tt.lines).ends() {
			got = c.score
			if c.how != remaining || c.total != 100 {
				t.Errorf("%+v: %+v", tt, c)
			}
		}
		if got != tt.want {
			t.Errorf("%+v: score %v", tt, got)
		}
	}
	r := &Reader{}
	for i := range 6 {
		at := 10*i + 1
		r.Line(fmt.Sprintf("10:00:%02d finish at 10:05:00", 10*i), float64(at))
	}
	if offset, ok := r.clockOffset(); !ok || offset != 35999 {
		t.Errorf("the run began at %v, %v", offset, ok)
	}
	all := r.ends()
	if len(all) != 1 || all[0].how != finishing || all[0].score != .45 || all[0].left[0].value != 300 || all[0].left[5].value != 250 {
		t.Errorf("%+v", all)
	}
	line := []point{{at: 0, value: 1}, {at: 1, value: 3}, {at: 2, value: 5}}
	if slope, fit := slopeOf(line); math.Abs(slope-2) > 1e-12 || math.Abs(fit-1) > 1e-12 {
		t.Errorf("slope %v, fit %v", slope, fit)
	}
	line[2].value = 1
	if slope, fit := slopeOf(append(line, point{at: 3, value: 3})); math.Abs(slope-.4) > 1e-12 || math.Abs(fit-.2) > 1e-12 {
		t.Errorf("slope %v, fit %v", slope, fit)
	}
}

// TestCandidatesByHand checks counters that may count the run, with their pace over the later half.
func TestCandidatesByHand(t *testing.T) {
	r := &Reader{}
	for i := range 6 {
		r.Line(fmt.Sprintf("widget %d", i*i), float64(i*i+1))
		r.Line(fmt.Sprintf("step %d loss 0.%d", 2*i, 9-i), float64(i*i+1))
	}
	got := r.Candidates()
	if len(got) == 0 || got[0].Unit != "step" || got[0].Number != 10 || got[0].Part != 0 {
		t.Fatalf("%+v", got)
	}
	// From the third of six points, at 5 s, to the last, at 26 s, it went from 4 to 10.
	if math.Abs(got[0].PerSecond-6./21) > 1e-12 {
		t.Errorf("%v per second", got[0].PerSecond)
	}
	if text := got[0].String(); text != "step i: 10" {
		t.Errorf("%s", text)
	}
}
