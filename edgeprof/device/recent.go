package device

import (
	"context"
	"sync"
	"time"

	"github.com/foretime/foretime/shared/crash"
)

// Recent answers from the last reading of a source while that is fresh, so that
// many callers at once cost one reading. An error is never kept: a source that
// fails is asked again by the next caller.
type Recent struct {
	Source Source
	// MaxAge is how long a reading is used; 0 means it is shared only by those
	// who wait for it together.
	MaxAge time.Duration
	// Timeout bounds one reading, whoever waits for it; 0 means no bound.
	Timeout time.Duration
	Now     func() time.Time

	mutex   sync.Mutex
	last    *Reading
	running *reading
}

// Reading is what a source said at one moment.
type Reading struct {
	Devices  []Device
	Excluded []Excluded
	At       time.Time // when it was asked
}

// reading is one under way; done is closed when the rest is set.
type reading struct {
	done   chan struct{}
	result *Reading
	err    error
}

var _ Source = (*Recent)(nil)

// Read returns a reading of at most MaxAge, or joins the one under way, or
// starts one. It gives up waiting when ctx ends; the reading goes on for others.
func (r *Recent) Read(ctx context.Context) (*Reading, error) {
	run, fresh := r.join(ctx)
	if fresh != nil {
		return fresh, nil
	}
	select {
	case <-run.done:
		return run.result, run.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join returns a fresh reading, or one under way.
func (r *Recent) join(ctx context.Context) (*reading, *Reading) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	now := r.Now()
	if r.last != nil && now.Sub(r.last.At) < r.MaxAge && !now.Before(r.last.At) {
		return nil, r.last
	}
	if r.running == nil {
		r.running = &reading{done: make(chan struct{})}
		under := r.running
		crash.Go(func() { r.ask(context.WithoutCancel(ctx), under, now) })
	}
	return r.running, nil
}

func (r *Recent) ask(ctx context.Context, run *reading, now time.Time) {
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	run.result, run.err = r.read(ctx, now)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.last, r.running = run.result, nil
	close(run.done)
}

// read asks the source. Its panic is an error: it must not end a service.
func (r *Recent) read(ctx context.Context, now time.Time) (got *Reading, err error) {
	defer crash.Guard(&err)
	devices, excluded, err := r.Source.Devices(ctx)
	if err != nil {
		return nil, err
	}
	return &Reading{devices, excluded, now}, nil
}

// Devices is [Recent.Read] as a [Source]. Callers share the lists and must not
// change them.
func (r *Recent) Devices(ctx context.Context) ([]Device, []Excluded, error) {
	reading, err := r.Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	return reading.Devices, reading.Excluded, nil
}
