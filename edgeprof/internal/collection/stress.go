package collection

import (
	"sync/atomic"
	"time"

	"github.com/foretime/foretime/shared/crash"
)

// stressPeriod is the length of one busy and one idle time of a stressed core.
const stressPeriod = 10 * time.Millisecond

// stress keeps some cores busy for a share of the time, until the function it
// returns is called; that one waits until all have stopped. The load is of this
// process's own threads, so it ends with it at the latest.
func stress(cores int, share float64) (stop func()) {
	var done atomic.Bool
	var all crash.Group
	for range cores {
		all.Go(func() error {
			busy := time.Duration(share * float64(stressPeriod))
			for !done.Load() {
				start := time.Now()
				for time.Since(start) < busy && !done.Load() {
				}
				time.Sleep(stressPeriod - busy)
			}
			return nil
		})
	}
	return func() {
		done.Store(true)
		_ = all.Wait() // none fails
	}
}
