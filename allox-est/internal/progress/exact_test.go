package progress

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shown writes the numbers of a scanned line, decimals with a point, and its spans in seconds.
func shown(s scanner) string {
	var all []string
	for _, t := range s.tokens {
		text := fmt.Sprint(t.value)
		if t.decimal {
			text += "."
		}
		if t.begin < 0 || t.end > len(s.masked) {
			text += " out of its line"
		}
		all = append(all, text)
	}
	for _, p := range s.spans {
		text := fmt.Sprintf("%gs", p.seconds)
		for flag, set := range map[string]bool{"c": p.clock, "l": p.left, "e": p.ends} {
			if set {
				text += flag
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// TestNumbersOfLines checks each form of a number, a date, a name, a bar and a duration.
func TestNumbersOfLines(t *testing.T) {
	for line, want := range map[string]string{
		"epoch 3/90": "3 90", "0": "0", "007": "7", "lr 1e-3": "0.001.", "x 1.5E+2": "150.", "x 1.5e2": "150.", "x 1e": "1", "x 1e-": "1", "x 2e5": "200000.", ".5": "0.5.", "x 12.": "12", "x 12.0": "12.", "1.2.3": "1.2.",
		"5k": "5000", "5K x": "5000", "5kB": "5", "3M": "3e+06", "1.5B": "1.5e+09", "2G,": "2e+09", "2T": "2e+12", "5k1": "5", "7 k": "7",
		"-5": "-5", " -5": "-5", "a-5": "5", "3-5": "3 5", "]-5": "5", ")-5": "-5", "=-.5": "-0.5.", "--5": "-5",
		"1,234,567": "1.234567e+06", "1,23": "1 23", "1,2345": "1 2345", "1_000": "1000", "12,345": "12345", "1,234": "1234", "1,234.5": "1234.5.", "x1": "", "v2.5": "", "x.5": "", "a_5": "", "3x": "3",
		"2026-01-02": "", "2026-01-02 7": "7", "2026/01/02": "", "2026.01.02": "", "2026-01-02/3": "2026 1 2 3", "2026-01-023": "2026 1 23", "12-31-26": "", "12/31/2026": "", "1.12.2026": "", "3 Jan 2026": "", "3-Jan-2026": "", "3 Jane": "3", "13 Feb": "13", "113 Feb 2026": "113 2026", "Jan 3 7": "7", "Jan 333": "333", "March 3": "3",
		"3fa9c1": "", "7b/3fa9c1": "", "7b/3fa9c": "7 3", "123456": "123456", "abcdef": "", "3fa9c": "3", "3fa9c1x": "3", "a 3fa9c1 4": "4", "12/3fa9c1": "",
		"=== 4": "4", "==4": "4", "#4": "4", "█4": "4", "─4": "4", "⠀4": "4", "⣿4": "4", "+++++5": "5", "...5": "5", "~~~5": "5",
		"1:02:03": "3723sc", "2:03": "123s", "02:03.5": "123.5s", "1:02:03.25": "3723.25sc", "1:02:03,5": "3723.5sc", "1 day, 2:03:04": "93784sc", "2d 1:00:00": "176400sc", "2h 3m 4s": "7384s", "2h3m": "7380s", "1 hour": "3600s", "5 min": "300s", "5m": "300s", "1.5h": "5400s", "3m 2.5s": "182.5s", "2d 3h": "183600s",
		"5 s": "5 5s", "5s": "5 5s", "2.5 sec": "2.5. 2.5s", "eta 5 s": "5sl", "5 s left": "5sl", "eta 2:03": "123sl", "2:03 remaining": "123sl", "eta: 1:02:03": "3723scle", "finished at 10:00:00": "36000sce", "end 10:00:00": "36000sce", "done 10:00:00": "36000sce", "left 2h": "7200sl", "time=00:00:05": "5.", "Duration: 00:01:00": "60.", "1:2": "1 2", "3:": "3", "5 mx": "5", "5 m/s": "5", "10:00:00/x": "36000sc",
		"06/12 10:00:01 step 3": "3 36001sc", "x 06/12 10:00:01": "6 12 36001sc",
	} {
		if got := shown(scan(line)); canonical(got) != canonical(want) {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
	long := strings.Repeat("1 ", 61)
	if got := len(scan(long).tokens); got != 60 {
		t.Errorf("%d numbers of one line, want 60", got)
	}
	if got := scan(strings.Repeat("x", 5998) + " 77").tokens; len(got) != 1 || got[0].value != 7 {
		t.Errorf("beyond 6000 bytes: %+v", got)
	}
	s := scan("█ 2026-01-02 a3 5 s ==== 1:00 12k")
	if got, want := string(s.masked), "  @ a3 5 s   @ 12k"; got != want {
		t.Errorf("masked %q, want %q", got, want)
	}
	for _, tt := range []struct {
		c                   byte
		digit, letter, word bool
	}{
		{'0', true, false, true}, {'9', true, false, true}, {'/', false, false, false}, {':', false, false, false}, {'a', false, true, true}, {'z', false, true, true}, {'A', false, true, true}, {'Z', false, true, true}, {'_', false, true, true}, {'@', false, false, false}, {'[', false, false, false}, {'{', false, false, false}, {'`', false, false, false},
	} {
		if isDigit(tt.c) != tt.digit || isLetter(tt.c) != tt.letter || isWord(tt.c) != tt.word {
			t.Errorf("%q: digit %v, letter %v, word %v", tt.c, isDigit(tt.c), isLetter(tt.c), isWord(tt.c))
		}
	}
}

// canonical returns a text with the flags of spans sorted.
func canonical(text string) string {
	fields := strings.Fields(text)
	for i, f := range fields {
		at := strings.LastIndexByte(f, 's')
		if at < 0 {
			continue
		}
		flags := []byte(f[at+1:])
		slices.Sort(flags)
		fields[i] = f[:at+1] + string(flags)
	}
	return strings.Join(fields, " ")
}

// counted returns a counter of numbers that came a second and a line apart.
func countedFrom(line int, values ...float64) *counter {
	c := &counter{}
	for i, v := range values {
		c.add(number{value: v}, float64(line+i), line+i)
	}
	return c
}

// TestCountersByHand checks the counters that series of numbers make.
func TestCountersByHand(t *testing.T) {
	for _, tt := range []struct {
		values               []float64
		points, falls, rises int
		highest, step        float64
		even, down           bool
		pass                 []float64
	}{
		{[]float64{4}, 1, 0, 0, 4, 0, false, false, []float64{4}},
		{[]float64{4, 4, 4}, 1, 0, 0, 4, 0, false, false, []float64{4}},
		{[]float64{1, 2, 2, 3}, 3, 0, 2, 3, 1, true, false, []float64{1, 2, 3}},
		{[]float64{1, 3, 2}, 3, 1, 1, 3, 2, false, false, []float64{2}},
		{[]float64{1, 2, 3, 1, 2}, 5, 1, 3, 3, 1, true, false, []float64{1, 2}},
		{[]float64{5, 4, 3}, 3, 2, 0, 5, -1, true, false, []float64{3}},
		{[]float64{5, 4, 3, 2}, 4, 3, 0, 5, -1, true, true, []float64{2}},
		{[]float64{5, 4, 3, 3.5}, 4, 2, 1, 5, -1, false, false, []float64{3, 3.5}},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 14}, 11, 0, 10, 14, 1, true, false, []float64{0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 14}},    // seven of ten steps
		{[]float64{0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17}, 11, 0, 10, 17, 1, false, false, []float64{0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17}}, // six of ten
	} {
		c := countedFrom(1, tt.values...)
		var pass []float64
		for _, p := range c.pass() {
			pass = append(pass, p.value)
		}
		if len(c.points) != tt.points || len(c.falls) != tt.falls || c.rises() != tt.rises || c.highest() != tt.highest || c.step() != tt.step || c.isEven() != tt.even || c.countsDown() != tt.down || !slices.Equal(pass, tt.pass) || c.moves() != (tt.points > 1) || c.seen != len(tt.values) {
			t.Errorf("%v: %d points, %d falls, %d rises, at most %v, step %v, even %v, down %v, pass %v", tt.values, len(c.points), len(c.falls), c.rises(), c.highest(), c.step(), c.isEven(), c.countsDown(), pass)
		}
	}
	// A fall that comes sooner than a fifth of the mean gap is no new pass.
	for at, falls := range map[float64]int{30 + 1.9: 0, 30 + 2: 1} {
		c := &counter{}
		for i, v := range []float64{1, 2, 3, 4} {
			c.add(number{value: v}, float64(10*i), i+1)
		}
		if c.add(number{value: 2}, at, 5); len(c.falls) != falls {
			t.Errorf("a fall at %v s: %d falls, want %d", at, len(c.falls), falls)
		}
	}
	// Another run begins with a fall after a pause of ten minutes, and of all the time before.
	for _, tt := range []struct {
		value, at float64
		want      bool
	}{
		{1, 701, true}, {1, 700, false}, {5, 701, false}, {6, 701, false}, {4, 701, true},
	} {
		c := &counter{}
		c.add(number{value: 1}, 50, 1)
		c.add(number{value: 5}, 100, 2)
		if got := c.isAnotherRun(tt.value, tt.at); got != tt.want {
			t.Errorf("%v at %v s: another run %v", tt.value, tt.at, got)
		}
	}
	long := &counter{}
	long.add(number{value: 1}, 0, 1)
	long.add(number{value: 5}, 1000, 2)
	if long.isAnotherRun(1, 2000) || !long.isAnotherRun(1, 2001) || (&counter{}).isAnotherRun(1, 1e6) {
		t.Error("a pause as long as all the time before is no other run")
	}
	for _, tt := range []struct {
		c           *counter
		own, length float64
	}{
		{&counter{number: number{percent: true, total: 7}}, 100, 100}, {&counter{number: number{total: 2}}, 2, 2}, {&counter{number: number{total: 1}}, 0, 0}, {countedFrom(1, 1, 4, 1, 6, 2, 5, 0), 0, 6},
	} {
		if tt.c.ownTotal() != tt.own || tt.c.length() != tt.length {
			t.Errorf("%+v: total %v, length %v", tt.c.number, tt.c.ownTotal(), tt.c.length())
		}
	}
	c := countedFrom(3, 1, 2, 3) // lines 3 to 5
	for line, want := range map[int]int{2: -1, 3: 0, 4: 1, 5: 2, 6: 2, 90: 2} {
		if got := c.at(line); got != want {
			t.Errorf("until line %d: point %d, want %d", line, got, want)
		}
	}
	pair := &counter{}
	for _, n := range []number{{value: 1, total: 3, counted: true}, {value: 3, total: 3}} {
		pair.add(n, 1, 1)
	}
	if !pair.counted {
		t.Error("at its end a pair no longer counts")
	}
	if pair.add(number{value: 0, total: 3}, 9, 2); pair.counted || !pair.zero {
		t.Errorf("begun again without a percentage: %+v", pair)
	}
}

// Beyond so many every other value of the older half goes.
func TestThinByHand(t *testing.T) {
	for n, want := range map[int][]int{3: {0, 1, 2}, 4: {0, 1, 2, 3}, 5: {0, 2, 3, 4}, 6: {0, 2, 3, 4, 5}, 8: {0, 2, 4, 5, 6, 7}, 9: {0, 2, 4, 5, 6, 7, 8}} {
		var s []int
		for i := range n {
			s = append(s, i)
		}
		if got := Thin(s, 4); !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", n, got, want)
		}
	}
}

// An inner loop begins again with most units, and most units with it.
func TestLoopsByHand(t *testing.T) {
	// u grows in the lines 10, 20, ...; c falls in the line after those that hit, and beside others.
	build := func(units, falls, hits int) (u, c *counter) {
		u, c = &counter{}, &counter{}
		for i := range units {
			u.add(number{value: float64(i)}, float64(10*i+10), 10*i+10)
		}
		at := 0.0
		add := func(value float64, line int) {
			at += 10 // lines of other times: a fall begins a new run
			c.add(number{value: value}, at, line)
		}
		for i := range falls {
			line := 10*i + 15
			if i >= hits {
				line = 10*units + 10*i + 100 // when u no longer grows
			}
			add(9, line)
			if i < hits {
				line += 6
			}
			add(1, line)
		}
		return u, c
	}
	for _, tt := range []struct {
		units, falls, hits int
		want               bool
	}{
		{11, 10, 10, true}, {9, 10, 7, true}, {9, 10, 6, false}, {12, 7, 7, true}, {13, 7, 7, false}, {2, 1, 1, true}, {2, 0, 0, false}, {12, 8, 7, true},
	} {
		u, c := build(tt.units, tt.falls, tt.hits)
		if len(c.falls) != tt.falls || u.rises() != tt.units-1 {
			t.Fatalf("%d falls and %d rises", len(c.falls), u.rises())
		}
		if got := c.isInside(u); got != tt.want {
			t.Errorf("%d units, %d falls, %d of them with a unit: inside %v", tt.units, tt.falls, tt.hits, got)
		}
	}
	l := &loop{countedFrom(10, 1, 2, 3, 4), 4} // lines 10 to 13
	for _, tt := range []struct {
		begun, line int
		want        float64
	}{
		{10, 9, 0}, {10, 10, .25}, {10, 12, .75}, {10, 13, 1}, {10, 99, 1}, {12, 12, .75}, {13, 12, 0}, {14, 99, 0},
	} {
		if got := l.done(tt.begun, tt.line); got != tt.want {
			t.Errorf("of a unit begun in line %d, in line %d: %v, want %v", tt.begun, tt.line, got, tt.want)
		}
	}
	whole := []point{{at: 1, value: 0, line: 9}, {at: 5, value: 1, line: 12}, {at: 9, value: 2, line: 14}}
	inner := &loop{countedFrom(8, 1, 1.5, 2, 3, 4, 1, 3, 2), 4}
	var got []string
	for _, p := range addParts(whole, inner) {
		got = append(got, fmt.Sprint(p.value))
	}
	// Lines 8 to 15: 1 comes before any unit; 1.5, 2 and 3 of four lie in the first, 4 and 1 in the
	// lines of the next unit, 3 and 2 in those of the last.
	if want := "0 0.375 0.5 0.75 1 1.25 2 2.75 2.5"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
}

// TestEndsOfRuns checks a run's last unit, a full list of units, and the stop of a run by itself.
func TestEndsOfRuns(t *testing.T) {
	for _, tt := range []struct {
		name        string
		units, end  float64
		lines       []string
		last        float64
		full, early bool
		stopped     float64
	}{
		{"all units", 5, 6, every("epoch %d: acc 0.5", 1, 5, 1), 5, true, false, 5},
		{"one less", 5, 5, every("epoch %d: acc 0.5", 1, 4, 1), 4, false, false, 4},
		{"two less", 5, 4, every("epoch %d: acc 0.5", 1, 3, 1), 3, false, true, 3},
		{"still running", 5, 0, every("epoch %d: acc 0.5", 1, 3, 1), 3, false, false, 0},
		{"every second, one short", 10, 6, every("epoch %d: acc 0.5", 2, 8, 2), 8, false, false, 8},
		{"every second, two short", 10, 5, every("epoch %d: acc 0.5", 2, 6, 2), 6, false, true, 6},
		{"named at their begin", 4, 9, every("Epoch %d/4", 1, 4, 1), 3, true, false, 4},
		{"from 0", 4, 6, every("epoch %d: loss 0.5", 0, 3, 1), 4, true, false, 4},
		{"nothing", 4, 6, nil, 0, false, false, 0},
		{"no length", 0, 6, []string{"hello 3"}, 0, false, false, 0},
	} {
		r := &Reader{Units: tt.units}
		for i, l := range tt.lines {
			r.Line(l, float64(i+1))
		}
		if tt.end > 0 {
			r.End(tt.end)
		}
		stopped, early := r.FindEarlyEnd()
		if r.LastUnit() != tt.last || r.Full() != tt.full || early != tt.early || stopped != tt.stopped {
			t.Errorf("%s: the last is %v, all are named %v, stopped at %v, %v", tt.name, r.LastUnit(), r.Full(), stopped, early)
		}
	}
}

// Names of columns come before the values of rows with as many.
func TestColumnsByName(t *testing.T) {
	r := &Reader{}
	r.columns = []string{"epoch", "loss"}
	for line, want := range map[string]string{"3,0.5": "epoch 3, loss 0.5", "3,0.5,7": "3,0.5,7", "x,0.5": "x,0.5", "3": "3"} {
		if got := r.nameColumns(line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestPatternsByGroups checks the first number of a group, its total if it is no less, or the lines.
func TestPatternsByGroups(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		lines   []string
		value   float64
		total   float64
	}{
		{`e(\d+)/(\d+)`, []string{"e3/9", "e4/9"}, 4, 9}, {`e(\d+)/(\d+)`, []string{"e9/9"}, 9, 9}, {`e(\d+)/(\d+)`, []string{"e10/9"}, 10, 0}, {`e(\d+)`, []string{"e3", "x", "e5"}, 5, 0}, {`done`, []string{"done", "x", "done", "done"}, 3, 0}, {`(a)|e(\d+)`, []string{"a", "e6"}, 6, 0},
	} {
		r := &Reader{Pattern: regexp.MustCompile(tt.pattern)}
		for i, l := range tt.lines {
			r.Line(l, float64(i+1))
		}
		c := r.counters[""]
		if c == nil || c.last().value != tt.value || c.total != tt.total {
			t.Errorf("%s in %q: %+v, want %v of %v", tt.pattern, tt.lines, c, tt.value, tt.total)
		}
	}
	// Lines of a stage that begins after unit 10 count from there.
	for v, want := range map[int]float64{9: 9, 10: 0, 12: 2, 15: 5, 16: 16} {
		r := &Reader{Units: 5, Start: 10}
		r.Line(fmt.Sprintf("step: %d", v), 1)
		for _, c := range r.counters {
			if got := c.last().value; got != want {
				t.Errorf("unit %d counts as %v, want %v", v, got, want)
			}
		}
	}
}
