package device

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/shared/crash"
)

// Probe feels how much other work a processor is shared with, by working itself.
type Probe struct {
	Window time.Duration // how long it works
	MaxAge time.Duration // how long an answer is used; 0 asks each time

	mutex sync.Mutex
	tasks float64
	at    time.Time
}

// Measure returns the number of tasks of usual weight that compete for the processors of this
// process. A thread on each works over the window: one that had the share s of the time had 1/s
// - 1 competitors. Niced work counts by the time it takes away, work that waits for a disk not
// at all. The error is that of the context or of the clock.
func (p *Probe) Measure(ctx context.Context) (float64, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.at.IsZero() && time.Since(p.at) < p.MaxAge {
		return p.tasks, nil
	}
	cores := runtime.NumCPU()
	type share struct {
		others float64
		err    error
	}
	shares := make(chan share, cores)
	for range cores {
		crash.Go(func() {
			others, err := spin(ctx, p.Window)
			shares <- share{others, err}
		})
	}
	tasks, err := 0.0, error(nil)
	for range cores {
		s := <-shares
		tasks, err = tasks+s.others, cmp.Or(err, s.err)
	}
	if err != nil {
		return 0, err
	}
	p.tasks, p.at = tasks, time.Now()
	return tasks, nil
}

// spin works on a thread of its own.
func spin(ctx context.Context, window time.Duration) (others float64, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &before); err != nil {
		return 0, err
	}
	start := time.Now()
	for time.Since(start) < window && ctx.Err() == nil {
	}
	wall := time.Since(start)
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &after); err != nil {
		return 0, err
	}
	had := max(1, after.Nano()-before.Nano())
	return max(0, float64(wall)/float64(had)-1), ctx.Err()
}
