package timing

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestShortStat reads a stat of just enough fields, and none that is shorter.
func TestShortStat(t *testing.T) {
	p := Processes{Root: t.TempDir()}
	if err := os.Mkdir(filepath.Join(p.Root, "7"), 0o755); err != nil {
		t.Fatal(err)
	}
	for n, enough := range map[int]bool{21: false, 22: true} {
		numbers := make([]string, n)
		for i := range numbers {
			numbers[i] = fmt.Sprint(i)
		}
		if err := os.WriteFile(filepath.Join(p.Root, "7", "stat"), []byte("7 (a) "+strings.Join(numbers, " ")), 0o644); err != nil {
			t.Fatal(err)
		}
		resident, err := p.resident(7)
		if (err == nil) != enough || enough && resident != 21*int64(os.Getpagesize()) {
			t.Errorf("%d fields: %d, %v", n, resident, err)
		}
	}
}

// TestMeanChange averages changes over minutes, of which there is at least one on either side.
func TestMeanChange(t *testing.T) {
	z := 1.959963984540054 * 0.24 // R: qnorm(0.975)
	for _, tt := range []struct{ seen, ahead, variance float64 }{
		{60, 60, 1}, {0, 0, 1}, {59, 30, 1}, {120, 60, 0.75}, {60, 240, 0.625}, {600, 600, 0.1},
	} {
		c := MeanSpeedChange(0.95, tt.seen, tt.ahead)
		if want := math.Exp(z * math.Sqrt(tt.variance)); !(math.Abs(c.High/want-1) <= 1e-12) || !(math.Abs(c.Low*want-1) <= 1e-12) {
			t.Errorf("%+v: %+v, want a factor of %v", tt, c, want)
		}
	}
}

// TestRankOfLatencies takes the smallest latency with the share at or below it.
func TestRankOfLatencies(t *testing.T) {
	for _, tt := range []struct {
		p    float64
		n    int64
		want int64
	}{{0.5, 1, 1}, {0.5, 2, 1}, {0.5, 3, 2}, {0.9, 10, 9}, {0.9, 11, 10}, {0.99, 100, 99}, {0.99, 101, 100}, {0, 5, 1}, {1, 5, 5}, {0.07, 100, 7}} {
		if got := rank(tt.p, tt.n); got != tt.want {
			t.Errorf("%v of %d: %d, want %d", tt.p, tt.n, got, tt.want)
		}
	}
}

// TestBucketsFrom4097 keeps 4096 latencies exactly, and then buckets of one percent.
func TestBucketsFrom4097(t *testing.T) {
	var l Latencies
	for i := range 4096 {
		if err := l.Add(float64(i%64 + 1)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := l.Summary()
	if err != nil || s != (LatencySummary{4096, 1, 32.5, 32, 58, 64, 64}) {
		t.Errorf("%+v, %v", s, err)
	}
	if err := l.Add(0); err != nil || l.buckets == nil || l.values != nil {
		t.Fatalf("%v: %d values", err, len(l.values))
	}
	s, err = l.Summary()
	if err != nil || s.Count != 4097 || s.Min != 0 || s.Mean != 32.5*4096/4097 {
		t.Errorf("%+v, %v", s, err)
	}
	middle := func(x float64) float64 {
		return math.Pow(1.01, math.Floor(math.Log(x)/math.Log(1.01))) * 1.005
	}
	if !(math.Abs(s.P50-middle(32)) <= 1e-9) || !(math.Abs(s.P90-middle(58)) <= 1e-9) || !(math.Abs(s.P99-middle(64)) <= 1e-9) {
		t.Errorf("%+v, want %v and %v", s, middle(32), middle(58))
	}
	var zeros Latencies
	for range 5000 {
		if err := zeros.Add(0); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := zeros.Summary(); err != nil || s.P50 != 0 || s.P99 != 0 || s.Max != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, x := range []float64{-1e-9, math.NaN(), math.Inf(1)} {
		if zeros.Add(x) == nil {
			t.Errorf("%v was added", x)
		}
	}
	if _, err := new(Latencies).Summary(); !errors.Is(err, ErrNoLatency) {
		t.Error(err)
	}
}

// TestReprLimits writes numbers as Python does: with an exponent below 1e-4 and from 1e16 on.
func TestReprLimits(t *testing.T) {
	for x, want := range map[float64]string{
		1e-4: "0.0001", 9.9e-5: "9.9e-05", 1e16: "1e+16", 9999999999999998: "9999999999999998.0", -1e-5: "-1e-05", -1e17: "-1e+17", 0: "0.0", -2: "-2.0", 0.5: "0.5", math.Inf(-1): "-inf", math.Inf(1): "inf",
	} {
		if got := string(AppendRepr([]byte("1."), x)); got != "1."+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := string(AppendReprList(nil, []float64{1, 2})) + string(AppendReprList(nil, nil)) + string(AppendRepr(nil, math.NaN())); got != "[1.0, 2.0][]nan" {
		t.Error(got)
	}
}

// TestLapsNeverStepBack gives a lap of no time if the clock steps back.
func TestLapsNeverStepBack(t *testing.T) {
	at := time.Unix(100, 0)
	l := Laps{Now: func() time.Time { return at }}
	if _, err := l.Lap(); !errors.Is(err, ErrNotStarted) {
		t.Error(err)
	}
	l.Start()
	for _, step := range []struct {
		by   time.Duration
		want float64
	}{{2 * time.Second, 2}, {-5 * time.Second, 0}, {time.Second, 1}} {
		at = at.Add(step.by)
		if got, err := l.Lap(); err != nil || got != step.want {
			t.Errorf("%v: lap of %v s, %v", step.by, got, err)
		}
	}
}

// TestSeriesChunks keeps numbers on either side of a chunk's end.
func TestSeriesChunks(t *testing.T) {
	var s series
	for i := range 2*8192 + 2 {
		s.set(i, float64(i))
	}
	for _, i := range []int{0, 8191, 8192, 16383, 16384, 16385} {
		if s.value(i) != float64(i) || len(s.chunks) != 3 {
			t.Errorf("number %d is %v, in %d chunks", i, s.value(i), len(s.chunks))
		}
	}
}

// TestLongNumbers reads laps of 64 characters, and no longer ones.
func TestLongNumbers(t *testing.T) {
	for digits, ok := range map[int]bool{63: true, 64: true, 65: false} {
		text := "0." + strings.Repeat("1", digits-2)
		for _, list := range []string{"[" + text + "]", "[" + text + ",2]", "[1, " + text + ", 2]"} {
			for _, size := range []int{1, 1000} {
				var p Parser
				log := []byte(OpenTag + list + CloseTag)
				for len(log) > 0 {
					n := min(size, len(log))
					p.Write(log[:n])
					log = log[n:]
				}
				if _, err := p.Output(); (err == nil) != ok {
					t.Errorf("%d digits in %s by %d: %v", digits, list, size, err)
				}
			}
		}
	}
}

// TestErrorTexts names the report, or the bytes of a log without one.
func TestErrorTexts(t *testing.T) {
	for _, tt := range []struct {
		err  ParseError
		want string
	}{
		{ParseError{Offset: 7, Err: ErrNoTag}, "no time-writer report in 7 bytes"},
		{ParseError{Offset: 7, Report: 1, Err: ErrTruncated}, "report 1 at byte 7: torn time-writer report"},
		{ParseError{Offset: 7, Report: 2, Err: ErrBadValue, Detail: "x"}, "report 2 at byte 7: not a list of finite times: x"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestLongestOfEquals selects the last of the reports with most laps.
func TestLongestOfEquals(t *testing.T) {
	for log, want := range map[string]float64{"[1, 2]|[3, 4]": 3, "[1, 2]|[3]": 1, "[1]|[3, 4]": 3, "[1, 2]|[3]|[5, 6]": 5} {
		text := OpenTag + strings.ReplaceAll(log, "|", CloseTag+OpenTag) + CloseTag
		out, err := ParseOutput(strings.NewReader(text), Longest)
		if err != nil || out.Laps()[0] != want || out.Len() != 2 {
			t.Errorf("%s: %v, %v", log, out, err)
		}
	}
}
