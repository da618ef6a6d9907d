package job

import (
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/task"
)

// Two threads over 10 s that computed 8 s and waited 10 s.
func TestLosses(t *testing.T) {
	graph := func(span float64) *Graph {
		return &Graph{Graph: task.Graph{Work: 9, Span: span, Overhead: 1, Stalls: 6}, Parallelism: 9 / span}
	}
	short := 5e-7
	for name, tt := range map[string]struct {
		graph      *Graph
		processors int
		functions  []Function
		seconds    []float64
		names      []string
		advice     string // of the first
	}{
		"no graph":              {nil, 0, nil, []float64{10, 2}, []string{"wait", "outside"}, "more tasks"},
		"no processor":          {graph(1), 1, nil, []float64{6, 3, 2, 1}, []string{"stopped", "wait", "outside", "handing"}, "2 threads share 1 processor: set OMP_NUM_THREADS=1"},
		"other programs":        {graph(1), 2, nil, []float64{6, 3, 2, 1}, []string{"stopped", "wait", "outside", "handing"}, "other programs"},
		"a chain does not stop": {graph(9), 2, nil, []float64{9, 2, 1}, []string{"wait", "outside", "handing"}, "enough for 1 thread:"},
		"two kinds, not logged": {nil, 0, []Function{{Name: "f", Tasks: 50, Seconds: 5e-5}, {Name: "g", Tasks: 50, Seconds: 4e-5}}, []float64{10, 2}, []string{"wait", "outside"}, "tasks of 1 µs"},
		"short tasks":           {nil, 0, []Function{{Name: "f", Tasks: 100, Median: &short}}, []float64{10, 2}, []string{"wait", "outside"}, "tasks of 0.5 µs"},
	} {
		f := Figures{Tasks: 100, Functions: tt.functions, Lost: LostTime{Wall: 10, Threads: 2, Processors: tt.processors, Computing: 8, Waiting: 10, Graph: tt.graph}}
		got := f.Losses()
		if len(got) != len(tt.names) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, l := range got {
			if !near(l.Seconds, tt.seconds[i]) || !near(l.Share, tt.seconds[i]/20) || !strings.Contains(l.Name, tt.names[i]) {
				t.Errorf("%s: %+v, want %v s of %s", name, l, tt.seconds[i], tt.names[i])
			}
		}
		if !strings.Contains(got[0].Advice, tt.advice) {
			t.Errorf("%s: %q lacks %q", name, got[0].Advice, tt.advice)
		}
	}
	rare := Figures{Tasks: 100, Functions: []Function{{Name: "f", Tasks: 1, Median: &short}}, Lost: LostTime{Wall: 10, Threads: 2, Waiting: 30}}
	if got := rare.Losses(); len(got) != 1 || got[0].Share != 1 || strings.Contains(got[0].Advice, "µs") {
		t.Errorf("waits before the first task, one short task: %+v", got)
	}
	if got := (Figures{}).Losses(); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}
