package schedule

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkReplay runs whole workloads under every policy on 80 CPU and 20
// GPU nodes. at=once lets all jobs arrive at time 0.
func BenchmarkReplay(b *testing.B) {
	for _, at := range []string{"once", "times"} {
		for _, n := range []int{50, 200, 1000} {
			jobs := generate(n)
			for i := range jobs {
				if at == "once" {
					jobs[i].Arrival = 0
				}
			}
			for _, name := range Policies.Names() {
				b.Run(fmt.Sprintf("policy=%s/at=%s/jobs=%d", name, at, n), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := Replay(context.Background(), jobs, Cluster{80, 20}, named(name)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
