package burner

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Machine is what a burner spends its time on.
type Machine interface {
	Now() time.Time
	// Begin is called once, before the first Spend, by the goroutine that spends.
	Begin()
	// Spend takes the given time, counted from the end of the Spend before, so
	// that what one takes too long the next makes up for.
	Spend(ctx context.Context, d time.Duration) error
}

// Sleeper returns a Machine that sleeps: its times hold on a busy machine too.
func Sleeper() Machine { return &sleeper{} }

type sleeper struct{ due time.Time }

func (s *sleeper) Now() time.Time { return time.Now() }
func (s *sleeper) Begin()         { s.due = time.Now() }

func (s *sleeper) Spend(ctx context.Context, d time.Duration) error {
	s.due = s.due.Add(d)
	timer := time.NewTimer(time.Until(s.due))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Spinner returns a Machine that computes on one thread until it has used the
// processor time.
func Spinner() Machine { return &spinner{} }

type spinner struct{ due time.Duration }

func (s *spinner) Now() time.Time { return time.Now() }

func (s *spinner) Begin() {
	runtime.LockOSThread() // its clock is the thread's
	s.due = threadTime()
}

func (s *spinner) Spend(ctx context.Context, d time.Duration) error {
	s.due += d
	for x := 1.0; threadTime() < s.due; {
		if err := ctx.Err(); err != nil {
			return err
		}
		for range 2000 {
			x = x*1.0000001 + 1e-9
		}
		runtime.KeepAlive(x)
	}
	return nil
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
