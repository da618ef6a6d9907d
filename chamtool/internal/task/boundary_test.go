package task

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/event"
)

// TestClockByHand learns the rate from the first reading and the last one of two seconds.
func TestClockByHand(t *testing.T) {
	var c Clock
	if c.Ready() || c.Seconds(5) != 0 || c.Between(1, 5) != 0 {
		t.Error("a rate of no reading")
	}
	c.Show(100, 1000)
	c.Show(100, 2000) // no tick has passed
	c.Show(300, 1000) // no time has passed
	if c.Ready() {
		t.Error("a rate of one reading")
	}
	c.Show(300, 1000+800)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
	if !c.Ready() || !near(c.Seconds(350), 1e-6) || !near(c.Seconds(50), -200e-9) || !near(c.Between(10, 11), 4e-9) || c.Between(11, 11) != 0 || c.Between(11, 10) != 0 {
		t.Errorf("%v s, %v s", c.Seconds(350), c.Between(10, 11))
	}
	c.Show(100+1_000_000, 1000+1_999_999_999)
	if !near(c.Between(0, 1), 1.999999999e-6) {
		t.Errorf("%v s a tick just before it is settled", c.Between(0, 1))
	}
	c.Show(100+1_000_000, 1000+2_000_000_000)
	c.Show(100+1_000_000, 1000+9_000_000_000)
	if !near(c.Between(0, 1), 2e-6) {
		t.Errorf("%v s a tick once it is settled", c.Between(0, 1))
	}
}

// TestOpenTasks opens, finds and closes tasks whose tokens share a block or not.
func TestOpenTasks(t *testing.T) {
	o := open[int]{blocks: map[uint64]*block[int]{}}
	tokens := []uint64{0, 1, 63, 64, 127, 128, 1 << 40}
	for i, token := range tokens {
		o.add(token).State = i
		o.add(token)
		if o.n != i+1 {
			t.Fatalf("%d open after %d", o.n, i+1)
		}
	}
	if len(o.blocks) != 4 {
		t.Errorf("%d blocks", len(o.blocks))
	}
	for i, token := range tokens {
		if task := o.get(token); task == nil || task.State != i {
			t.Errorf("token %d: %+v", token, task)
		}
	}
	for _, token := range []uint64{2, 62, 65, 129, 1<<40 + 1, 1 << 41} {
		o.remove(token)
		if o.get(token) != nil || o.n != len(tokens) {
			t.Errorf("token %d is open; %d are", token, o.n)
		}
	}
	o.remove(64)
	if len(o.blocks) != 4 || len(o.spare) != 0 || o.get(64) != nil || o.get(127) == nil || o.n != 6 {
		t.Errorf("%d blocks, %d spare, %d open", len(o.blocks), len(o.spare), o.n)
	}
	o.remove(127)
	if len(o.blocks) != 3 || len(o.spare) != 1 || o.n != 5 {
		t.Errorf("%d blocks, %d spare, %d open", len(o.blocks), len(o.spare), o.n)
	}
	if o.add(640); len(o.spare) != 0 || len(o.blocks) != 4 || o.n != 6 || o.get(641) != nil {
		t.Errorf("%d spare, %d blocks", len(o.spare), len(o.blocks))
	}
}

// TestForgetOldest closes the blocks of the smallest tokens, but those that are spared.
func TestForgetOldest(t *testing.T) {
	for _, tt := range []struct {
		most   int
		spare  []uint64
		closed int
		left   []uint64 // of the tokens 0, 1, 64, 128 and 129
	}{
		{5, nil, 0, []uint64{0, 1, 64, 128, 129}}, {4, nil, 2, []uint64{64, 128, 129}}, {3, nil, 2, []uint64{64, 128, 129}}, {2, nil, 3, []uint64{128, 129}}, {0, nil, 5, nil},
		{4, []uint64{63}, 1, []uint64{0, 1, 128, 129}}, {0, []uint64{64}, 4, []uint64{64}}, {0, []uint64{127, 191}, 2, []uint64{64, 128, 129}},
	} {
		o := open[int]{blocks: map[uint64]*block[int]{}}
		for _, token := range []uint64{128, 129, 64, 0, 1} {
			o.add(token)
		}
		if closed := o.forget(tt.most, tt.spare); closed != tt.closed || o.n != len(tt.left) {
			t.Errorf("%+v: %d closed, %d open", tt, closed, o.n)
		}
		for _, token := range tt.left {
			if o.get(token) == nil {
				t.Errorf("%+v: token %d is closed", tt, token)
			}
		}
	}
}

// TestAnnouncementsInOrder keeps 4096 by their ticks, of equal ones the later behind.
func TestAnnouncementsInOrder(t *testing.T) {
	var as announcements
	for _, a := range []announcement{{5, 1}, {3, 2}, {5, 3}, {9, 4}, {4, 5}} {
		as = as.insert(a)
	}
	if want := (announcements{{3, 2}, {4, 5}, {5, 1}, {5, 3}, {9, 4}}); !slices.Equal(as, want) {
		t.Errorf("%v, want %v", as, want)
	}
	for ticks, want := range map[uint64]int{2: 0, 3: 1, 4: 2, 5: 4, 8: 4, 9: 5, 10: 5} {
		if got := as.countUpTo(ticks); got != want {
			t.Errorf("up to %d: %d, want %d", ticks, got, want)
		}
	}
	as = nil
	for i := range uint64(4096) {
		as = as.insert(announcement{i, 0})
	}
	if len(as) != 4096 || as[0].ticks != 0 {
		t.Errorf("%d announcements from %v", len(as), as[0])
	}
	if as = as.insert(announcement{5000, 0}); len(as) != 4096 || as[0].ticks != 1 || as[4095].ticks != 5000 {
		t.Errorf("%d announcements from %v to %v", len(as), as[0], as[4095])
	}
}

// TestNestedSpans subtracts what ran within a run from it, at any depth.
func TestNestedSpans(t *testing.T) {
	var l lane
	if l.within(3) != 0 {
		t.Error("a span within nothing")
	}
	l.nest(2, 1)
	l.nest(2, 2)
	if got := l.nest(1, 7); got != 3 || l.within(2) != 0 || l.within(1) != 7 {
		t.Errorf("%v within, %v", got, l.nested)
	}
	l.add(3, 0.5)
	if got := l.nest(1, 2); got != 0.5 || l.within(1) != 9 {
		t.Errorf("%v within, %v", got, l.nested)
	}
	if got := l.nest(0, 20); got != 9 || l.within(0) != 20 {
		t.Errorf("%v within, %v", got, l.nested)
	}
}

// TestQueueOfCursors keeps the earliest cursor first and knows the second.
func TestQueueOfCursors(t *testing.T) {
	for _, times := range [][]uint64{{5}, {5, 3}, {3, 5}, {9, 4, 7}, {9, 7, 4}, {1, 2, 3}, {8, 1, 2, 7, 5, 6, 3, 4}, {8, 2, 1, 3, 4, 5, 6, 7}} {
		var q queue
		for _, at := range times {
			q = append(q, &cursor{time: at})
		}
		for i := len(q)/2 - 1; i >= 0; i-- {
			q.down(i)
		}
		sorted := slices.Sorted(slices.Values(times))
		second := uint64(math.MaxUint64)
		if len(sorted) > 1 {
			second = sorted[1]
		}
		if q[0].time != sorted[0] || q.second() != second {
			t.Errorf("%v: first %d, second %d", times, q[0].time, q.second())
		}
		q[0].time = 100
		q.down(0)
		if len(sorted) > 1 && q[0].time != sorted[1] {
			t.Errorf("%v: then %d, want %d", times, q[0].time, sorted[1])
		}
	}
}

// TestFormats recognises logs by their first lines.
func TestFormats(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  Format
	}{
		{"our own", []string{"iteration,lane,flag"}, FormatCSV},
		{"numbered loads", []string{"1 0.5", "2 0.7"}, FormatLoads},
		{"numbered loads with a header", []string{"iteration load", "1 0.5", "2 0.7"}, FormatLoads},
		{"a number is missing", []string{"1 0.5", "3 0.7"}, ""},
		{"a number twice", []string{"1 0.5", "1 0.7"}, ""},
		{"windows", []string{"0.5,0.7,0.9", "0.7,0.9,1.1"}, FormatLoads},
		{"windows to six digits", []string{"0.5,0.7,0.9", "0.7000001,0.9,1.1"}, FormatLoads},
		{"windows that differ", []string{"0.5,0.7,0.9", "0.700001,0.9,1.1"}, ""},
		{"one row", []string{"1 0.5"}, ""},
		{"rows of other lengths", []string{"1 0.5", "2 0.5 0.7"}, ""},
		{"a row of text", []string{"1 0.5", "2 x"}, ""},
	} {
		if got := detect(tt.lines); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		lines []string
		want  []string
		bad   int
	}{
		{[]string{"x", "1 0.5", "2 0.7"}, []string{"0.5", "0.7"}, 0}, {[]string{"0.5,0.7,0.9", "0.7,0.9,1.1", "0.9,1.1,1.3"}, []string{"0.5", "0.7", "0.9", "1.1", "1.3"}, 0},
		{[]string{"1 0.5", "2 0.7", "4 0.9"}, nil, 3}, {[]string{"x", "1 0.5", "y"}, nil, 3}, {[]string{"x", "1 0.5"}, nil, 2}, {nil, nil, 0},
	} {
		if got, bad := findLoads(tt.lines); !slices.Equal(got, tt.want) || bad != tt.bad {
			t.Errorf("%v: %v, bad row %d, want %d", tt.lines, got, bad, tt.bad)
		}
	}
}

// TestLimitOfWriter takes no row once a log has its bytes.
func TestLimitOfWriter(t *testing.T) {
	var out counter
	w := NewWriter(&out, FormatCSV)
	row := Row{Task: 1, Flag: event.Local.String(), Entry: "f", Core: -1, Start: 1, Seconds: 0.5}
	texts := &Texts{Entry: EntryText("f"), Sizes: SizesText(nil, FormatCSV)}
	if !w.Add(&row, texts) || w.Flush() != nil {
		t.Fatal("no row")
	}
	first := int(out)
	if !w.Add(&row, texts) || w.Flush() != nil {
		t.Fatal("no second row")
	}
	each := int(out) - first
	for limit, want := range map[int]int{0: 50, 1: 0, first: 1, first + 1: 2, first + 10*each: 11, first + 10*each + 1: 12} {
		out = 0
		w := NewWriter(&out, FormatCSV)
		w.SetLimit(limit)
		rows := 0
		for range 50 {
			if w.Add(&row, texts) {
				rows++
			}
		}
		if err := w.Flush(); err != nil || rows != want {
			t.Errorf("limit %d: %d rows of %d bytes, want %d (%v)", limit, rows, each, want, err)
		}
	}
}

// counter counts the bytes written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// TestDecimals writes nine decimals of a second, and six as %f does, also of numbers that no run has.
func TestDecimals(t *testing.T) {
	for _, x := range []float64{0, 0.5, 1e-9, 4e-10, 6e-10, 12.3456789012, 999999.5, 1e6, 1e6 + 0.5, 3e18, -1, -0.25, 1e-6, 1.5e-6} {
		if got, want := string(appendSeconds([]byte("x"), x)), "x"+strconv.FormatFloat(x, 'f', 9, 64); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got, want := string(appendMicro([]byte("x"), x)), fmt.Sprintf("x%f", x); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := string(appendMicro(nil, x)); got != "0.000000" {
			t.Errorf("%v: %s", x, got)
		}
	}
	one, two := 1.5, 2.5
	if got := string(PredictedText(nil, &Row{Predicted: &one, High: &two})); got != "1.500000000,,2.500000000" {
		t.Error(got)
	}
	for name, want := range map[string]string{"f": "f", "a,b": `"a,b"`, `a"b`: `"a""b"`, "a\nb": "\"a\nb\""} {
		if got := string(EntryText(name)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := string(SizesText([]int64{1, -2}, FormatTab)) + string(SizesText([]int64{1, -2}, FormatCSV)); got != "1\t-21 -2" {
		t.Errorf("%q", got)
	}
}
