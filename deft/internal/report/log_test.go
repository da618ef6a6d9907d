package report

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/dataset"
)

func logFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const header = "start_timestamp_ns,end_timestamp_ns,jct_ms,max_allocated_gpu_memory_allocated_byte,max_reserved_gpu_memory_byte"

func TestLoadLog(t *testing.T) {
	tests := []struct {
		name    string
		lines   []string
		times   []float64
		span    float64
		dropped int
	}{
		{"as written today", []string{header, "0,900000000,900.5,1,2", "1000000000,1040000000,40.25,1,2", "2000000000,2050000000,50,1,2"}, []float64{40.25, 50}, 1.05, 0},
		{"without memory", []string{"start_timestamp_ns,end_timestamp_ns,jct_ms", "0,1,9", "5,2000000005,2"}, []float64{2}, 2, 0},
		{"another order", []string{"jct_ms,end_timestamp_ns,start_timestamp_ns", "9,1,0", "2,1000000000,0"}, []float64{2}, 1, 0},
		{"one bad row", []string{header, "0,1,9,1,2", "0,1,nine,1,2", "0,1000000000,4,1,2"}, []float64{4}, 1, 1},
		{"killed while writing", []string{header, "0,1,9,1,2", "0,1000000000,4,1,2", "7,1"}, []float64{4}, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := LoadLog(logFile(t, tt.lines...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.times, l.Times()); diff != "" || l.Span() != tt.span || len(l.Diagnostics) != tt.dropped || l.WarmUp.Ms < 9 {
				t.Errorf("%+v %s", l, diff)
			}
		})
	}
}

func TestLoadLogRefuses(t *testing.T) {
	for _, lines := range [][]string{{header}, {header, "0,1,9,1,2"}} {
		if _, err := LoadLog(logFile(t, lines...)); !errors.Is(err, ErrNoJobs) {
			t.Errorf("%q: %v", lines, err)
		}
	}
	if _, err := LoadLog(logFile(t, header, "0,1,9,1,2", "5,3,9,1,2")); err == nil || !strings.Contains(err.Error(), "job 1 ends before its start") {
		t.Error(err)
	}
	if _, err := LoadLog(logFile(t, "a,b", "1,2")); err == nil {
		t.Error("no error")
	}
}

func TestSaveAndLoadLog(t *testing.T) {
	n := int64(1 << 40)
	jobs := []Job{{0, 5e9, 5000.125, &n, &n}, {6e9, 7e9, 1000, &n, &n}}
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := dataset.Save(path, jobs, dataset.Options{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), header+"\n0,5000000000,5000.125,1099511627776,1099511627776\n") {
		t.Errorf("%s %v", text, err)
	}
	l, err := LoadLog(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(jobs, append([]Job{l.WarmUp}, l.Jobs...)); diff != "" {
		t.Error(diff)
	}
}

// Reference: NumPy 1.24.2, numpy.percentile([4, 1, 3, 2], [50, 95, 99]).
func TestSummarize(t *testing.T) {
	s, err := Summarize([]float64{4, 1, 3, 2})
	if err != nil {
		t.Fatal(err)
	}
	if s.Count != 4 || s.Mean != 2.5 || s.P50 != 2.5 || math.Abs(s.P95-3.85) > 1e-12 || math.Abs(s.P99-3.97) > 1e-12 || s.Min != 1 || s.Max != 4 {
		t.Errorf("%+v", s)
	}
	if s, err := Summarize([]float64{7}); err != nil || s.P50 != 7 || s.P99 != 7 {
		t.Error(s, err)
	}
	if _, err := Summarize(nil); !errors.Is(err, ErrNoJobs) {
		t.Error(err)
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Summarize([]float64{1, bad}); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestSummaryIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := Summarize(rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 50).Draw(t, "ms"))
		if err != nil {
			t.Fatal(err)
		}
		if !(s.Min <= s.P50 && s.P50 <= s.P95 && s.P95 <= s.P99 && s.P99 <= s.Max) {
			t.Fatalf("%+v", s)
		}
	})
}
