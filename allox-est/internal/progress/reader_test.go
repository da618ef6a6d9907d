package progress

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/timing"
)

// read gives a reader one line a second.
func read(r *Reader, lines ...string) []Mark {
	for i, l := range lines {
		r.Line(l, float64(i+1))
	}
	return r.Marks()
}

func numbersOf(marks []Mark) []float64 {
	var n []float64
	for _, m := range marks {
		n = append(n, m.Number)
	}
	return n
}

// every is a line for each number from first to last by a step.
func every(format string, first, last, step int) (lines []string) {
	for i := first; i <= last; i += step {
		lines = append(lines, fmt.Sprintf(format, i))
	}
	return lines
}

func TestReader(t *testing.T) {
	both := func(outer, inner []string) []string {
		var lines []string
		for _, o := range outer {
			lines = append(append(lines, o), inner...)
		}
		return lines
	}
	for _, tt := range []struct {
		name  string
		units float64
		end   float64
		lines []string
		want  []float64
	}{
		{"from 0 to N", 6, 8, every("iter %d loss 0.5", 0, 6, 1), []float64{0, 1, 2, 3, 4, 5, 6}},
		{"from 0 to N-1, at the end of each", 6, 7, every("epoch %d: loss 0.5", 0, 5, 1), []float64{1, 2, 3, 4, 5, 6}},
		{"from 1 to N, at the start of each", 4, 9, every("Epoch %d/4", 1, 4, 1), []float64{0, 1, 2, 3}},
		{"every tenth", 40, 0, every("[%d] l2: 0.25", 10, 40, 10), []float64{10, 20, 30, 40}},
		{"every tenth, from 9", 40, 0, every("step %d l2: 0.25", 9, 39, 10), []float64{9, 19, 29, 39}},
		{"sparser later", 40, 0, append(every("%d 0.5", 1, 10, 1), every("%d 0.5", 20, 40, 10)...), []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40}},
		{"JSON lines", 5, 0, every(`{"ts": 1795444547.9, "epoch": %d, "loss": 0.1}`, 1, 5, 1), []float64{1, 2, 3, 4, 5}},
		{"a bar inside of epochs", 3, 0, []string{"Epoch 1/3", "| 1/4 [00:01]", "| 3/4 [00:02]", "| 4/4 [00:03]", "Epoch 2/3", "| 1/4 [00:01]"}, []float64{0, 0.25, 0.75, 1, 1.25}},
		{"a bar without a name, once a unit", 3, 0, both([]string{"", "", ""}, every("| %d/4 [00:01<00:02]", 1, 4, 1)), nil},
		{"a bar that may be of one unit", 3, 0, every("| %d/6 [00:01<00:02]", 1, 6, 1), nil},
		{"steps inside of the first epoch", 10, 0, every("epoch 0 step %d loss 0.5", 0, 8, 1), nil},
		{"another length", 3, 0, every("epoch %d loss 0.5", 1, 9, 1), nil},
		{"seconds", 60, 0, []string{"at 1 s, 12 s", "at 5 s, 40 s", "at 17 s, 41 s"}, nil},
		{"times of day", 9, 0, every("10:00:0%d all well", 1, 5, 1), nil},
		{"dates", 9, 0, every("2026-01-0%d all well", 1, 5, 1), nil},
		{"a falling value", 9, 0, []string{"loss 9", "loss 7", "loss 8", "loss 3"}, nil},
		{"no growth", 9, 0, every("epoch 1 of a job", 1, 5, 1), nil},
		{"begun again", 9, 0, append(every("epoch %d: acc 0.5", 1, 5, 1), every("epoch %d: acc 0.5", 1, 3, 1)...), []float64{1, 2, 3}},
		{"another number that grows", 30, 0, []string{"epoch 1 | length 16 | loss 0.5", "epoch 2 | length 18 | loss 0.5", "epoch 3 | length 20 | loss 0.5"}, []float64{1, 2, 3}},
		{"thousands", 20000, 0, []string{"step 9,000/20,000 0.5", "step 10,000/20,000 0.5", "step 11_000/20_000 0.5"}, []float64{9000, 10000, 11000}},
		{"a total in words", 5, 0, every("Epoch %d (of 5): loss 0.5", 1, 3, 1), []float64{1, 2, 3}},
		{"right answers", 9, 0, []string{"epoch 1 correct 3/9 0.5", "epoch 2 correct 5/9 0.5", "epoch 3 correct 6/9 0.5"}, []float64{1, 2, 3}},
		{"joined late", 9, 0, every("epoch %d: acc 0.5", 5, 8, 1), []float64{5, 6, 7, 8}},
		{"negative numbers", 9, 0, every("gain -%d", 1, 5, 1), nil},
		{"quantities", 9, 0, every("took %dms", 1, 5, 1), nil},
		{"after a date", 9, 0, every("2026-01-01 10:00:0%[1]d step %[1]d loss 0.5", 1, 3, 1), []float64{1, 2, 3}},
		{"a bar on the lines of the first epoch", 3, 0, every("epoch 1 batch %d/4 loss 0.5", 1, 3, 1), []float64{0.25, 0.5, 0.75}},
		{"lines with a word after", 4, 9, every("epoch %d done", 1, 4, 1), []float64{1, 2, 3, 4}},
		{"nothing", 9, 0, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Reader{Units: tt.units, Short: true}
			read(&r, tt.lines...)
			if tt.end > 0 {
				r.End(tt.end)
			}
			got := r.Marks()
			if !slices.Equal(numbersOf(got), tt.want) {
				t.Errorf("%v, want %v", numbersOf(got), tt.want)
			}
			if (r.Why() == "") != (len(got) > 0) {
				t.Errorf("%d marks, and why not: %q", len(got), r.Why())
			}
		})
	}
}

// A number that has not grown yet is the run's length, not that of the bar which began
// to count after its line.
func TestFirstEpoch(t *testing.T) {
	var r Reader
	read(&r, "Epoch 1/3", "| 1/40 [00:01]", "| 2/40 [00:02]")
	if got := r.Length(); got != 3 {
		t.Errorf("a length of %v, want 3", got)
	}
}

// A line that began the unit in which a run stopped by itself names it.
func TestStopsInAUnit(t *testing.T) {
	r := Reader{Units: 10}
	read(&r, every("Epoch %d/10", 1, 4, 1)...)
	r.End(5)
	if units, early := r.FindEarlyEnd(); units != 4 || !early {
		t.Errorf("stopped after %v: %v, want 4", units, early)
	}
}

func TestWhy(t *testing.T) {
	r := Reader{Units: 9}
	read(&r, "epoch 1 of a job", "epoch 1 of a job")
	if why := r.Why(); why != `the number in lines like "epoch i" came 2 times and does not grow` {
		t.Error(why)
	}
	r = Reader{}
	read(&r, every("batch %d/8", 1, 6, 1)...)
	if why := r.Why(); why != `"batch i/8", at 6, may be one of several such loops` {
		t.Error(why)
	}
	r = Reader{}
	read(&r, "1", "2", "3")
	if why := r.Why(); why != "3 lines are too few to judge: none came 4 times in one form" {
		t.Error(why)
	}
	r = Reader{Units: 9}
	read(&r, "all is well", "and so is this")
	if why := r.Why(); why != "no line has a number" {
		t.Error(why)
	}
}

// TestNamed checks the names of counters and the units of their marks.
func TestNamed(t *testing.T) {
	for _, tt := range []struct {
		reader        Reader
		lines         []string
		counter, unit string
	}{
		{Reader{}, trained(1, 40, func(_, i int) string {
			return fmt.Sprintf("TIMING: x  Wall: 1.2, %.6f hours remaining", float64(91-i)/3600)
		}), "the log's own remaining time", "percent"},
		{Reader{}, every("2026-03-02 12:00:%02d loss 0.5, finishes at 2026-03-02 12:01:40", 1, 40, 1), "the log's own finishing time", "percent"},
		{Reader{Units: 9, Pattern: regexp.MustCompile(`turn (\d+)`)}, []string{"turn 1", "turn 2"}, `lines like turn (\d+)`, ""},
		{Reader{}, []string{"all is well", "and so is this"}, "", ""},
		{Reader{}, every("Epoch %d/20 - loss: 0.5", 1, 15, 1), "epoch i/20", "epoch"},
		{Reader{Units: 20}, every("Epoch %d/20 - loss: 0.5", 1, 15, 1), "epoch i/20", "epoch"},
		{Reader{}, every("Progress: %d%%", 2, 40, 2), "progress i%", "percent"},
		{Reader{Units: 3}, []string{timing.OpenTag + "[1.0, 2.0, 2.0]" + timing.CloseTag}, "time-writer reports", ""},
	} {
		r := tt.reader
		read(&r, tt.lines...)
		if counter, unit := r.Describe(), r.Unit(); counter != tt.counter || unit != tt.unit {
			t.Errorf("%q: %q in %q, want %q in %q", tt.lines[0], counter, unit, tt.counter, tt.unit)
		}
	}
}

// A pattern's groups are the number, of alternatives the one that is there; where
// it has none its lines are counted, and other lines never are.
func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		lines   []string
		want    []float64
	}{
		{`round (\d+)|turn (\d+)`, []string{"round 1 of 9", "step 5/10", "turn 2", "round 2", "round 4"}, []float64{1, 2, 4}},
		{`epoch (\d+)/(\d+)`, []string{"epoch 1/40", "epoch 12/40", "epoch 13/40"}, []float64{1, 12, 13}},
		{`^done`, []string{"done", "1/9", "done", "well done", "done"}, []float64{1, 2, 3}},
		{`never`, []string{"epoch 1/9", "epoch 2/9"}, nil},
	} {
		r := Reader{Units: 40, Pattern: regexp.MustCompile(tt.pattern)}
		if got := numbersOf(read(&r, tt.lines...)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.pattern, got, tt.want)
		}
	}
}

// The second group of a pattern is the total.
func TestPatternTotal(t *testing.T) {
	r := Reader{Pattern: regexp.MustCompile(`turn (\d+) .* (\d+)`)}
	if got := numbersOf(read(&r, "turn 3 of some 40", "turn 4 of some 40")); !slices.Equal(got, []float64{3, 4}) || r.Length() != 40 {
		t.Errorf("%v of %v, want 3 and 4 of 40", got, r.Length())
	}
}

// Reports, each longer than the one before, go before lines; the last holds the
// teardown too.
func TestReport(t *testing.T) {
	r := Reader{Units: 2}
	read(&r, "epoch 1/2 0.5")
	r.Line(timing.OpenTag+"[1.0, 2.0]"+timing.CloseTag, 4)
	if got := r.Marks(); !slices.Equal(got, []Mark{{Of: 2, Seconds: 2}, {Number: 1, Of: 2, Seconds: 4}}) {
		t.Error(got)
	}
	r.Line(timing.OpenTag+"[1.0, 2.0, 3.0, 0.5]"+timing.CloseTag, 8)
	if got := r.Marks(); !slices.Equal(got, []Mark{{Of: 2, Seconds: 2.5}, {Number: 1, Of: 2, Seconds: 4.5}, {Number: 2, Of: 2, Seconds: 7.5}}) {
		t.Error(got)
	}
}

// However long a run, its marks are few and end with the last.
func TestThin(t *testing.T) {
	r := Reader{Units: 20000}
	for i := range 20000 {
		r.Line(fmt.Sprintf("iter %d loss 0.5", i+1), float64(i))
	}
	marks := r.Marks()
	if n := len(marks); n > keptMarks || n < keptMarks/4 || marks[n-1].Number < 19990 {
		t.Errorf("%d marks to %v", n, marks[n-1])
	}
}

// Whatever is printed, marks grow in number and time, within the run.
func FuzzReader(f *testing.F) {
	for _, text := range []string{"Epoch 1/3\n 1/5 [===]\n 5/5 [===]\nEpoch 2/3\n1/5", "[10]\tl2: 0.5\n[20]\tl2: 0.25\n", "iter 0: loss 1e5\niter 1", "{\"epoch\": 0.33}\n{\"epoch\": 0.67}\n{\"epoch\": 1.0}"} {
		f.Add(text, 3.0)
	}
	f.Fuzz(func(t *testing.T, text string, units float64) {
		if !(units >= 0 && units < 1e15) {
			return
		}
		r := Reader{Units: units}
		for i, l := range strings.Split(text, "\n") {
			r.Line(l, float64(i))
		}
		for range 2 {
			last := Mark{Number: -1, Seconds: -1}
			for _, m := range r.Marks() {
				if !(m.Number > last.Number && m.Seconds > last.Seconds && m.Number <= m.Of) {
					t.Errorf("%v after %v", m, last)
				}
				last = m
			}
			r.End(1e6)
		}
	})
}

// In the last epoch the bar counts too; before it only whole epochs do.
func TestLastBar(t *testing.T) {
	for name, line := range map[string]func(e, b int) string{
		"below a title": func(e, b int) string { return fmt.Sprintf("%d/20 [==>..] - loss: 0.5", b) },
		"beside a total": func(e, b int) string {
			return fmt.Sprintf("  %d/6   2.4G  1.2: %d%%|##  | %d/20 [00:02<00:08,  2it/s]", e, 5*b, b)
		},
		"beside one from 0": func(e, b int) string {
			return fmt.Sprintf("Epoch %d/5: %d%%|##  | %d/20 [00:02<00:08,  2it/s]", e-1, 5*b, b)
		},
	} {
		r := Reader{Units: 6}
		at := 0.0
		for e := 1; e <= 6; e++ {
			if name == "below a title" {
				r.Line(fmt.Sprintf("Epoch %d/6", e), at)
			}
			for b := 1; b <= 20; b++ {
				at++
				r.Line(line(e, b), at)
				if e == 6 && b == 10 {
					marks := r.Marks()
					if last := marks[len(marks)-1]; last.Number != 5.5 || last.Of != 6 || last.Seconds != at {
						t.Errorf("%s: %v", name, marks)
					}
				}
			}
		}
	}
}

// What follows a bar in its epoch, as an evaluation, belongs to the epoch: it is done
// when the next one begins.
func TestAfterTheBar(t *testing.T) {
	r := Reader{Units: 3}
	marks := read(&r, "Epoch 1/3", "| 1/4 [00:01]", "| 3/4 [00:02]", "| 4/4 [00:03]", "evaluated", "Epoch 2/3")
	if last := marks[len(marks)-1]; last.Number != 1 || last.Seconds != 6 {
		t.Errorf("%v", marks)
	}
}
