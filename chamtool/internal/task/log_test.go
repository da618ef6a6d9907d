package task

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ptr(x float64) *float64 { return &x }

func TestReadLayouts(t *testing.T) {
	tests := []struct {
		name            string
		format          Format
		text            string
		rows, loads     int
		dropped         int
		wantFirst       string // of the diagnostics
		empty, unusable bool
	}{
		{"tab", FormatTab, "1\t2709792\t2599.966000\t0.418714\t0.000000\n2\t8\t0\t0.5\t-0.1\n167.9\t0.0\n\n", 2, 1, 0, "", false, false},
		{"many sizes", FormatTab, "1\t8\t16\t24\t2600\t0.1\t0\n", 1, 0, 0, "", false, false},
		{"bad lines", FormatTab, "x\t8\t1\t0.1\t0\n1\t8\t1\t-2\t0\n1\t8\t1\tNaN\t0\n1\t8.5\t1\t1\t0\n1\t2\t3\n9\t8\t2600\t0.25\t0\n9\t8\t12992\t0.25\t0\n", 1, 0, 6, `log:1: "x" is not a task number`, false, false},
		{"no line", FormatTab, "", 0, 0, 0, "", true, false},
		{"no good line", FormatTab, "hello\n", 0, 0, 0, "", true, false},
		{"start times of no clock", FormatCSV, LogHeader + "0,0,local,e,8,0,,1e308,,0.2,,,\n0,0,local,e,8,0,,-1e300,,0.2,,,\n0,0,local,e,8,0,,0.1,1e308,0.2,,,\n0,0,local,e,8,0,,0.1,,1e300,,,\n0,0,local,e,8,0,,-3.5,,0.2,,,\n", 1, 0, 4, "log:2: start_seconds 1e+308: want at most 1e+09", false, false},
		{"csv without a column", FormatCSV, "a,b\n1,2\n", 0, 0, 0, "", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := ReadLog(strings.NewReader(tt.text), "log", Options{Format: tt.format})
			if tt.empty || tt.unusable {
				if err == nil || errors.Is(err, ErrEmpty) != tt.empty {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Rows) != tt.rows || len(l.Loads) != tt.loads || l.Counts.Dropped != tt.dropped || len(l.Diagnostics) != tt.dropped {
				t.Errorf("%d rows, %d loads, %d dropped", len(l.Rows), len(l.Loads), l.Counts.Dropped)
			}
			if tt.dropped > 0 && l.Diagnostics[0].Error() != tt.wantFirst {
				t.Errorf("first diagnostic %q", l.Diagnostics[0])
			}
			if l.Counts.Read != l.Counts.Used+l.Counts.Dropped {
				t.Errorf("%v do not add up", l.Counts)
			}
		})
	}
}

// What is written reads back equal, to the nanosecond.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		when := rapid.Map(rapid.Int64Range(1, 1<<50), func(n int64) float64 { return float64(n) / 1e9 })
		frequency := rapid.Map(rapid.Int64Range(0, 5000), func(n int64) *float64 {
			if n < 100 {
				return nil
			}
			return ptr(float64(n))
		})
		optional := func(name string) *float64 {
			if rapid.Bool().Draw(t, name) {
				return ptr(when.Draw(t, name))
			}
			return nil
		}
		var want []Row
		var out bytes.Buffer
		w := NewWriter(&out, FormatCSV)
		for range rapid.IntRange(1, 20).Draw(t, "rows") {
			r := Row{
				Iteration: rapid.IntRange(0, 1000).Draw(t, "iteration"), Lane: rapid.IntRange(0, 99).Draw(t, "lane"),
				Flag: "local", Entry: rapid.StringMatching(`[a-z",:+ ]{1,12}`).Draw(t, "entry"),
				Sizes: rapid.SliceOfN(rapid.Int64(), 1, 5).Draw(t, "sizes"), Core: rapid.IntRange(-1, 500).Draw(t, "core"),
				MHz: frequency.Draw(t, "mhz"), Start: when.Draw(t, "start"), Queue: optional("queue"), Seconds: when.Draw(t, "seconds"),
				Predicted: optional("predicted"),
			}
			w.Add(&r, &Texts{EntryText(r.Entry), SizesText(r.Sizes, FormatCSV), PredictedText(nil, &r)})
			want = append(want, r)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		l, err := ReadLog(&out, "log", Options{Format: FormatCSV})
		if err != nil {
			t.Fatal(err)
		}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a)) })
		if diff := cmp.Diff(want, l.Rows, near); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestTabLayout(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, FormatTab)
	w.Add(&Row{Task: 7, MHz: ptr(2599.966), Seconds: 0.418714}, &Texts{Sizes: SizesText([]int64{8, 16}, FormatTab)})
	w.Add(&Row{Task: 8, Seconds: 0.25, Predicted: ptr(0.125)}, &Texts{Sizes: SizesText([]int64{8, 16}, FormatTab)})
	w.Iteration(167.927926, 0)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "7\t8\t16\t2599.966000\t0.418714\t0.000000\n8\t8\t16\t0.000000\t0.250000\t0.125000\n167.927926\t0.000000\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestAppendFixed(t *testing.T) {
	for _, tt := range []struct {
		x    float64
		want string
	}{
		{0, "0.000000000"}, {1, "1.000000000"}, {1e-9, "0.000000001"}, {0.999999999, "0.999999999"}, {0.9999999999, "1.000000000"},
		{123456.789, "123456.789000000"}, {1e6, "1000000.000000000"}, {-0.5, "-0.500000000"}, {math.NaN(), "0.000000000"}, {math.Inf(1), "0.000000000"},
	} {
		if got := string(appendSeconds(nil, tt.x)); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.x, got, tt.want)
		}
	}
}

type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.left {
		return 0, errors.New("no space left on device")
	}
	f.left -= len(b)
	return len(b), nil
}

// A disk that fills ends the log once, and the rest is counted.
func TestFullDisk(t *testing.T) {
	w := NewWriter(&full{left: 300}, FormatCSV)
	row := &Row{Seconds: 1}
	failures := 0
	for range 10 {
		w.Add(row, &Texts{[]byte("e"), []byte("8"), PredictedText(nil, row)})
		if w.Flush() != nil {
			failures++
		}
	}
	if failures != 1 || w.failed == nil || w.Lost() == 0 || w.Lost() >= 10 {
		t.Errorf("%d failures, %d lost, error %v", failures, w.Lost(), w.failed)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("1\t2709792\t2599.966000\t0.418714\t0.000000\n167.9\t0.0\n", 0)
	f.Add(LogHeader+"0,0,local,e,8 8,0,,0.1,,0.2,\n", 1)
	f.Fuzz(func(t *testing.T, text string, format int) {
		formats := []Format{FormatTab, FormatCSV}
		l, err := ReadLog(strings.NewReader(text), "log", Options{Format: formats[uint(format)%2]})
		if err != nil {
			return
		}
		if l.Counts.Used == 0 || l.Counts.Read != l.Counts.Used+l.Counts.Dropped {
			t.Errorf("counts %+v", l.Counts)
		}
		for _, r := range l.Rows {
			if !(r.Seconds > 0) || math.IsInf(r.Seconds, 0) {
				t.Errorf("a run of %v s", r.Seconds)
			}
		}
		for _, x := range l.Loads {
			if !(x > 0) || math.IsInf(x, 0) {
				t.Errorf("a load of %v s", x)
			}
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	w := NewWriter(discard{}, FormatCSV)
	row := &Row{Iteration: 12, Lane: 3, Flag: "local", Core: 7, MHz: ptr(2599.966), Start: 12.345678912, Queue: ptr(0.00123), Seconds: 0.000123456, Predicted: ptr(0.000125)}
	entry, sizes := []byte("app:dgemm"), []byte("80000 80000 80000")
	b.ReportAllocs()
	for b.Loop() {
		w.Add(row, &Texts{entry, sizes, PredictedText(nil, row)})
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// Rows that were buffered when the disk was full are lost, and counted.
func TestBufferedRowsAreLost(t *testing.T) {
	w := NewWriter(&full{}, FormatCSV)
	for range 5 {
		w.Add(&Row{Seconds: 1}, &Texts{[]byte("e"), []byte("8"), nil})
	}
	if w.Flush() == nil || w.Lost() != 5 {
		t.Errorf("%d lost, want 5", w.Lost())
	}
}
