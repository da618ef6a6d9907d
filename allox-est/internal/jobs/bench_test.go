package jobs

import (
	"fmt"
	"runtime"
	"testing"
)

// One epoch of each job, of the size that it has by default.
func BenchmarkEpoch(b *testing.B) {
	for _, name := range Names() {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("job=%s/threads=%d", name, threads), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				j := jobs()[name]
				o, err := Options{Epochs: 1, Seed: 1}.fill(j)
				if err != nil {
					b.Fatal(err)
				}
				t, err := j.setUp(o)
				if err != nil {
					b.Fatal(err)
				}
				defer t.backend.Finalize()
				for b.Loop() {
					if _, err := t.epoch(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
