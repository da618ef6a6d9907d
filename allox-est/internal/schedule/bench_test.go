package schedule

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkReplay runs whole workloads under every policy on 80 CPU and 20
// GPU nodes. at=once lets all jobs arrive at time 0; at=times is the
// simulator's generator, 10 users with a tenth of the jobs each.
func BenchmarkReplay(b *testing.B) {
	for _, at := range []string{"once", "times"} {
		for _, n := range []int{50, 200, 1000, 3000, 10000} {
			w, err := Generator{Seed: 1, ErrorSD: 0.1, Spread: 0.8, Jobs: n / 10}.Generate()
			if err != nil {
				b.Fatal(err)
			}
			for i := range w.Jobs {
				if at == "once" {
					w.Jobs[i].Arrival = 0
				}
			}
			for _, name := range Policies.Names() {
				b.Run(fmt.Sprintf("policy=%s/at=%s/jobs=%d", name, at, n), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						p, err := New(name, Settings{})
						if err != nil {
							b.Fatal(err)
						}
						if _, err := Replay(context.Background(), w.Jobs, Cluster{CPUNodes: 80, GPUNodes: 20}, p, nil); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkLowerBound computes the bound alone.
func BenchmarkLowerBound(b *testing.B) {
	w, err := Generator{Seed: 1}.Generate()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		boundOf(w.Jobs, Cluster{CPUNodes: 20, GPUNodes: 20})
	}
}
