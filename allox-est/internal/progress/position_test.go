package progress

import (
	"fmt"
	"strings"
	"testing"
)

// lesson returns lines like those of timm: a position within an epoch as a pair and as a
// percentage of the last index.
func lesson(e, b int) string {
	return fmt.Sprintf("Train: %d [%4d/40 (%3d%%)]  Loss: 0.5", e, 4*b, 400*b/39)
}

// TestPositions: a counter to another total than the caller's, and a counter below the first
// of what may be several rounds, end no run. Lines come one a second.
func TestPositions(t *testing.T) {
	for _, tt := range []struct {
		name    string
		units   float64
		epochs  int // that have come, of ten lines each
		line    func(epoch, batch int) string
		counter string // empty: there is no end
		last    float64
	}{
		{"a pair and its percentage", 8, 1, lesson, "", 0},
		{"a pair and its percentage, alone", 0, 1, lesson, "", 0},
		{"a pair and its percentage, the second epoch", 8, 2, lesson, "train i, with i/40 as fraction", 1.9},
		{"a pair and its percentage, the third epoch", 8, 3, lesson, "train i, with i/40 as fraction", 2.9},
		{"a percentage after a word", 8, 1, func(e, b int) string { return fmt.Sprintf("Train %d: %d%%", e, 10*b) }, "", 0},
		{"a percentage that names progress", 8, 1, func(_, b int) string { return fmt.Sprintf("Progress: %d%%", 2*b) }, "progress i%", 1.44},
		{"a measured percentage", 8, 3, func(_, b int) string { return fmt.Sprintf("fan %d%% busy", 30+b%5) }, "", 0},
		{"a percentage that falls by half", 8, 1, func(_, b int) string { return fmt.Sprintf("fan %d%% busy", []int{50, 70, 95}[b%3]) }, "", 0},
		{"a pair of the caller's total", 40, 1, func(e, b int) string { return fmt.Sprintf("Run %d: %d/40", e, 4*b) }, "i/40", 36},
		{"a pair after a replica", 0, 1, func(e, b int) string { return fmt.Sprintf("replica %d: %d/40", e, 4*b) }, "i/40", 36},
		{"a pair after a measured value", 0, 1, func(e, b int) string { return fmt.Sprintf("errors: %d, files %d/40", e, 4*b) }, "files i/40", 36},
		{"a bar of all epochs, each of which a line ends", 6, 3, func(e, b int) string {
			return fmt.Sprintf("| %d/60 [00:01<00:02]", 10*e+b+1) + []string{"", fmt.Sprintf("\n{'loss': 0.5, 'epoch': %d.0}", e)}[min(1, max(0, 1-b)*e)]
		}, "i/60", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, at := Reader{Units: tt.units}, 0.0
			for _, line := range trained(tt.epochs, 10, tt.line) {
				at++
				for part := range strings.SplitSeq(line, "\n") {
					r.Line(part, at)
				}
			}
			last := 0.0
			if m := r.Marks(); len(m) > 0 {
				last = m[len(m)-1].Number
			}
			if got := r.Describe(); got != tt.counter || last < tt.last-0.11 || last > tt.last+0.11 {
				t.Errorf("%q, %v; want %q, %v", got, last, tt.counter, tt.last)
			}
		})
	}
}

// TestNoPasses: a bar in rounds is the fraction of the rounds all the time, and is never counted
// in passes, although its numbers fit better. An evaluation follows each round.
func TestNoPasses(t *testing.T) {
	r, at := Reader{Units: 8}, 0.0
	for _, line := range trained(8, 40, func(e, b int) string { return fmt.Sprintf("(%d) %d/40 loss 0.5", e, b+1) }) {
		if at++; strings.Contains(line, " 1/40") {
			at += 14
		}
		r.Line(line, at)
		if got := r.Describe(); got != "" && got != "number i, with i/40 as fraction" {
			t.Fatalf("%s: %q", line, got)
		}
	}
	if r.Describe() == "" {
		t.Error("no counter")
	}
}

// TestHighest: the greatest number of a counter need be neither its first nor its last.
func TestHighest(t *testing.T) {
	for _, values := range [][]float64{{9}, {1, 9}, {9, 1}, {1, 9, 4}, {-12, -3, 9, 2, 8}, {-1, 9, -8}} {
		c := &counter{}
		for i, v := range values {
			c.points = append(c.points, point{value: v, line: i})
		}
		if got := c.highest(); got != 9 {
			t.Errorf("%v: %v", values, got)
		}
	}
}

// table returns the tables of a trainer that counts in several ways, and has a clock.
func table(rounds int) (lines []string) {
	for i := 1; i <= rounds; i++ {
		for _, row := range []string{
			"|    ep_len_mean       | 50           |", "|    ep_rew_mean       | 1%d.5         |", "| time/                |              |",
			"|    fps               | %d          |", "|    iterations        | %d           |", "|    time_elapsed      | %d            |", "|    total_timesteps   | %d         |",
		} {
			value := map[string]int{"ep": i % 7, "fp": 2400 + 37*i%11, "it": i, "ti": 2 * i, "to": 512 * i}[strings.TrimLeft(row, "| ")[:2]]
			if strings.Contains(row, "%d") {
				row = fmt.Sprintf(row, value)
			}
			lines = append(lines, row)
		}
	}
	return lines
}

// TestCallersCounter finds the counter that ends at the caller's number. Its values are near
// that number. It is never a clock or a measured value.
func TestCallersCounter(t *testing.T) {
	for _, tt := range []struct {
		name  string
		units float64
		lines []string
		want  string
	}{
		{"steps", 40960, table(40), "step i"},
		{"steps, early", 40960, table(4), "step i"},
		{"iterations", 80, table(20), "iteration i"},
		{"a rank alone", 100, every("rank %d: loss 0.5", 0, 7, 1), ""},
		{"a clock alone", 100, every("time_elapsed: %d, loss 0.5", 1, 20, 1), ""},
		{"columns", 40960, append([]string{"iteration,frames,seconds"}, trained(1, 20, func(_, i int) string { return fmt.Sprintf("%d,%d,%d", i+1, 2048*(i+1), i) })...), "frames i"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Reader{Units: tt.units}
			read(&r, tt.lines...)
			if got := r.Describe(); got != tt.want {
				t.Errorf("%q, want %q; %v", got, tt.want, r.Candidates())
			}
		})
	}
}

// TestLastIndex: a total next to numbers from 0 is that of all units, or the number of the
// last one. The marks say which, or that both may be.
func TestLastIndex(t *testing.T) {
	rich := func(e, b int) string { return fmt.Sprintf("Epoch %d/9 %d/20 0:00:01 loss: 0.5", e, 2*b+2) }
	for _, tt := range []struct {
		name      string
		units     float64
		lines     []string
		end       float64
		least, of float64
		last      float64 // of the marks of a run that has ended
	}{
		{"open", 0, trained(3, 10, rich), 0, 9, 10, 0},
		{"the last index, and work after it", 0, trained(10, 10, rich), 0, 9, 10, 0},
		{"the caller's number", 9, trained(3, 10, rich), 0, 0, 9, 0},
		{"the caller's number is one more", 10, trained(3, 10, rich), 0, 0, 10, 0},
		{"the inner loop ends below its total", 0, trained(3, 10, func(e, b int) string { return fmt.Sprintf("[%d/9][%d/10] loss 0.5", e, b) }), 0, 0, 9, 0},
		{"a percentage of the pair", 0, trained(3, 10, func(e, b int) string { return fmt.Sprintf("%d%%| | %d/9 [00:01]\nbatch %d/10", 100*e/9, e, b+1) }), 0, 0, 9, 0},
		{"a percentage after the pair", 0, trained(3, 10, func(e, b int) string { return fmt.Sprintf("Epochs %d/9 (%d%%)\nbatch %d/10", e, 100*e/9, b+1) }), 0, 0, 9, 0},
		{"a percentage of the inner loop", 0, trained(3, 10, func(e, b int) string { return fmt.Sprintf("Epoch %d/9: %d%%| | %d/9 [00:01]", e, 100*b/9, b) }), 0, 9, 10, 0},
		{"lines that end epochs", 0, every("Epoch %d/9: loss 0.5", 0, 4, 1), 0, 9, 10, 0},
		{"the end after the last index", 0, every("Epoch %d/9: loss 0.5", 0, 9, 1), 11, 0, 10, 10},
		{"the end before the last index", 0, every("Epoch %d/9: loss 0.5", 0, 8, 1), 10, 0, 9, 9},
		{"the end long before the last index", 0, every("Epoch %d/9: loss 0.5", 0, 4, 1), 6, 0, 9, 5},
		{"the end of a bar that was stopped at the last unit", 0, trained(9, 1, func(e, _ int) string { return fmt.Sprintf("Epochs %d/9 (%d%%) loss 0.5", e, 100*e/9) }), 10, 0, 9, 8},
		{"from 1", 0, every("Epoch %d/9: loss 0.5", 1, 5, 1), 0, 0, 9, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Reader{Units: tt.units, Short: true}
			for i, line := range tt.lines {
				for part := range strings.SplitSeq(line, "\n") {
					r.Line(part, float64(i+1))
				}
			}
			if tt.end > 0 {
				r.End(tt.end)
			}
			marks := r.Marks()
			if len(marks) == 0 {
				t.Fatalf("no marks (%s)", r.Describe())
			}
			if m := marks[len(marks)-1]; m.Least != tt.least || m.Of != tt.of || m.Number > m.Of || tt.end > 0 && m.Number != tt.last {
				t.Errorf("%+v, want %v or %v (%s)", m, tt.least, tt.of, r.Describe())
			}
		})
	}
}

// TestBriefCaller: a counter without a total counts to the caller's number at once, also if
// that is over within ten seconds; not if a slower one may be meant.
func TestBriefCaller(t *testing.T) {
	for _, tt := range []struct {
		name  string
		units float64
		line  func(i int) string
		want  string
	}{
		{"a number", 300, func(i int) string { return fmt.Sprintf("[%d]\ttrain-rmse:0.5", i) }, "number i"},
		{"iterations", 300, func(i int) string { return fmt.Sprintf("iter: %d, loss 0.5", i) }, "iter i"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Reader{Units: tt.units}
			for i := range 30 {
				r.Line(tt.line(i), 1+0.02*float64(i))
			}
			if got := r.Describe(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestNestedTotals: two loops whose totals multiply to the caller's number count to it by whole outer units, and no
// setting that their lines repeat does.
func TestNestedTotals(t *testing.T) {
	var lines []string
	for candidate := range 12 {
		for fold := range 5 {
			place := fmt.Sprintf("[CV %d/5; %d/12]", fold+1, candidate+1)
			settings := fmt.Sprintf("alpha=%d, depth=%d", 1+candidate/3, 2+candidate%3)
			lines = append(lines, place+" START "+settings+"......", place+" END ...."+settings+";, score=0.61 total time=   0.2s")
		}
	}
	for _, share := range []int{4, 2, 1} {
		r := Reader{Units: 60}
		read(&r, lines[:len(lines)/share]...)
		marks := r.Marks()
		if len(marks) == 0 {
			t.Fatalf("no marks in 1/%d: %q", share, r.Why())
		}
		want := float64(60 / share)
		if last := marks[len(marks)-1]; last.Of != 60 || last.Number < want-5 || last.Number > want {
			t.Errorf("1/%d: %+v, want %v of 60 (%s)", share, last, want, r.Describe())
		}
	}
}
