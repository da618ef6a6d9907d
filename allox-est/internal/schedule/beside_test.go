package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// assign solves the same with SciPy: a column for each place of each machine's
// queue. Reading is not timed.
const assign = `
import json, sys, time, numpy as np
from scipy.optimize import linear_sum_assignment
jobs, kinds = json.load(sys.stdin)
start = time.perf_counter()
times = np.array(jobs)[:, kinds]
places = np.arange(1, len(jobs)+1)
cost = (times[:, :, None]*places).reshape(len(jobs), -1)
rows, columns = linear_sum_assignment(cost)
print(1000*(time.perf_counter()-start), cost[rows, columns].sum())
`

// BenchmarkBesideSciPy makes the best plan of 200 jobs on 16 CPU and 4 GPU nodes in
// turn with SciPy; both must cost the same.
func BenchmarkBesideSciPy(b *testing.B) {
	const interpreter = "/usr/bin/python3"
	if exec.Command(interpreter, "-c", "import scipy").Run() != nil {
		b.Skip("needs SciPy: install with apt-get install python3-scipy")
	}
	kinds := make([]int, 20)
	for i := range kinds[16:] {
		kinds[16+i] = 1
	}
	var times [][Devices]float64
	for _, j := range randomJobs(200, rand.New(rand.NewPCG(1, 1))) {
		times = append(times, j.Reported)
	}
	asked, err := json.Marshal([]any{times, kinds})
	if err != nil {
		b.Fatal(err)
	}
	var ours, theirs float64
	for b.Loop() {
		start := time.Now()
		p := &plan{}
		p.update(context.Background(), [Devices][]float64{make([]float64, 16), make([]float64, 4)}, randomJobs(200, rand.New(rand.NewPCG(1, 1))))
		ours += 1000 * time.Since(start).Seconds()
		cmd := exec.Command(interpreter, "-c", assign)
		cmd.Stdin = strings.NewReader(string(asked))
		out, err := cmd.Output()
		var took, cost float64
		if _, scan := fmt.Sscan(string(out), &took, &cost); err != nil || scan != nil {
			b.Fatal(err, scan)
		}
		theirs += took
		if sum := p.cost(); math.Abs(sum-cost) > 1e-6*cost {
			b.Fatalf("a plan that costs %v, SciPy's %v", sum, cost)
		}
	}
	b.ReportMetric(ours/float64(b.N), "ms")
	b.ReportMetric(theirs/float64(b.N), "scipy-ms")
	b.ReportMetric(0, "ns/op") // of no meaning
}
