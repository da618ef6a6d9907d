package jobs

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/shared/timing"
)

// Burner is a training job that trains nothing: it spends exactly the given time, the same for
// a seed on every machine, which gives estimates a truth to compare with. Times are in seconds.
type Burner struct {
	Epochs                 int
	Setup, Epoch, Teardown float64

	Noise float64 // relative standard deviation of each of them
	Seed  uint64

	// Report says when the time-writer report is printed: "end" (the default),
	// "epoch" (at every epoch and at the end) or "none".
	Report string
	// Lines prints "epoch I/N" at the end of every epoch.
	Lines bool
}

// check says what is wrong. Errors wrap ErrOption.
func (b Burner) check() error {
	for _, option := range []struct {
		name  string
		value float64
	}{{"setup", b.Setup}, {"epoch", b.Epoch}, {"teardown", b.Teardown}, {"noise", b.Noise}} {
		if !(option.value >= 0) || math.IsInf(option.value, 0) {
			return fmt.Errorf("%w: %s: %v, want a number from 0", ErrOption, option.name, option.value)
		}
	}
	if b.Epochs < 0 {
		return fmt.Errorf("%w: epochs: %d, want a number from 0", ErrOption, b.Epochs)
	}
	if !slices.Contains([]string{"", "end", "epoch", "none"}, b.Report) {
		return fmt.Errorf("%w: report: %q, want end, epoch or none", ErrOption, b.Report)
	}
	return nil
}

// Segments returns the seconds of the set-up, of each epoch and of the
// teardown.
func (b Burner) Segments() []float64 {
	rng := rand.New(rand.NewPCG(b.Seed, 0x9e3779b97f4a7c15))
	noisy := func(x float64) float64 { return max(0, x*(1+b.Noise*rng.NormFloat64())) }
	segments := []float64{noisy(b.Setup)}
	for range b.Epochs {
		segments = append(segments, noisy(b.Epoch))
	}
	return append(segments, noisy(b.Teardown))
}

// Run spends the time on a machine and prints to out as Report and Lines say. It
// ends early with ctx's error.
func (b Burner) Run(ctx context.Context, m Machine, out io.Writer) error {
	if err := b.check(); err != nil {
		return err
	}
	w := timing.NewTimeWriter(out, m.Now)
	w.Start()
	segments := b.Segments()
	for i, seconds := range segments {
		if err := m.Spend(ctx, time.Duration(seconds*float64(time.Second))); err != nil {
			return err
		}
		if err := w.LogUpdate(); err != nil {
			return err
		}
		last := i == len(segments)-1
		if i > 0 && !last && b.Lines {
			if _, err := fmt.Fprintf(out, "epoch %d/%d\n", i, b.Epochs); err != nil {
				return err
			}
		}
		if b.Report != "none" && (last || b.Report == "epoch") {
			if err := w.PrintResults(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Machine spends a burner's time. One goroutine uses it.
type Machine interface {
	Now() time.Time
	// Spend takes the given time. For what one Spend takes too long the next one makes up, by
	// at most a tenth of its own time.
	Spend(ctx context.Context, d time.Duration) error
}

// Sleeper returns a Machine that sleeps: its times hold on a busy machine too, but for delays
// of more than a tenth.
func Sleeper() Machine { return &sleeper{due: time.Now()} }

type sleeper struct{ due time.Time }

func (s *sleeper) Now() time.Time { return time.Now() }

func (s *sleeper) Spend(ctx context.Context, d time.Duration) error {
	s.due = s.due.Add(d)
	if least := time.Now().Add(d - d/10); s.due.Before(least) {
		s.due = least
	}
	timer := time.NewTimer(time.Until(s.due))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Spinner returns a Machine that computes on one thread, which the calling
// goroutine then keeps, until it has used the processor time.
func Spinner() Machine {
	runtime.LockOSThread() // its clock is the thread's
	return &spinner{due: threadTime()}
}

type spinner struct{ due time.Duration }

func (s *spinner) Now() time.Time { return time.Now() }

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
