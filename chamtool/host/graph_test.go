package host_test

import (
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/job"
)

// A chain of dependences has a parallelism of 1, and balance saves nothing. A wavefront of 24
// by 24 blocks has at most 12, trees have more, with one thread as with two.
func TestRealGraph(t *testing.T) {
	needOpenMP(t)
	program := filepath.Join(t.TempDir(), "graphs")
	compile(t, "", "clang", "-fopenmp", "-O2", "-g", "-Wall", "-Werror", "-o", program, "testdata/graphs.c", "-lm")
	for _, tt := range []struct {
		name        string
		least, most float64 // parallelism
	}{{"chain", 0.99, 1.1}, {"wave", 1.3, 13}, {"cholesky", 1.3, 30}, {"health", 1.3, 1000}, {"sort", 1.3, 200}, {"strassen", 1.3, 1000}} {
		for _, threads := range []string{"1", "2"} {
			t.Run(tt.name+"/"+threads, func(t *testing.T) {
				_, logs := underOMPT(t, []string{"OMP_NUM_THREADS=" + threads}, program, tt.name)
				j, err := job.Load(t.Context(), logs)
				if err != nil {
					t.Fatal(err)
				}
				l := j.Figures().Lost
				if l.Graph == nil || l.Saving == nil || l.Saving.AtMost {
					t.Fatalf("no graph: %+v", l)
				}
				if p := l.Graph.Parallelism; p < tt.least || p > tt.most {
					t.Errorf("parallelism %.2f, want %v to %v: %+v", p, tt.least, tt.most, l.Graph)
				}
				if l.Saving.High > l.Wall || tt.name == "chain" && l.Saving.Seconds != 0 {
					t.Errorf("saving %+v of %v s", l.Saving, l.Wall)
				}
				if inside := l.Computing; l.Graph.Work < 0.98*inside {
					t.Errorf("work %v s, less than the %v s in tasks", l.Graph.Work, inside)
				}
			})
		}
	}
}
