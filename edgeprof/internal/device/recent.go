package device

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/foretime/foretime/shared/crash"
)

// CachedSource answers from the last reading of a source while that is fresh: many callers at once
// cost one reading. An error is never kept: the next caller reads a failing source again.
type CachedSource struct {
	Source Source
	// MaxAge is the greatest age of a reading; 0 means it is shared only by those
	// who wait for it together.
	MaxAge time.Duration
	// Timeout bounds one reading, whoever waits for it; 0 means no bound.
	Timeout time.Duration
	Now     func() time.Time

	last    atomic.Pointer[Reading]
	running singleflight.Group
}

// Reading is a source's answer at one moment.
type Reading struct {
	Devices  []Device
	Excluded []Exclusion
	Time     time.Time // when it was asked
}

var _ Source = (*CachedSource)(nil)

// Read returns a reading of at most MaxAge, or joins the one under way, or
// starts one. It gives up waiting when ctx ends; the reading goes on for others.
func (r *CachedSource) Read(ctx context.Context) (*Reading, error) {
	now := r.Now()
	if last := r.fresh(now); last != nil {
		return last, nil
	}
	running := r.running.DoChan("", func() (any, error) {
		if last := r.fresh(now); last != nil { // a reading ended in between
			return last, nil
		}
		return r.read(context.WithoutCancel(ctx), now)
	})
	select {
	case got := <-running:
		reading, _ := got.Val.(*Reading)
		return reading, got.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fresh returns the last reading, or nil if it is too old at a moment.
func (r *CachedSource) fresh(now time.Time) *Reading {
	if last := r.last.Load(); last != nil && now.Sub(last.Time) < r.MaxAge && !now.Before(last.Time) {
		return last
	}
	return nil
}

// read reads the source. Its panic is an error: it must not end a service.
func (r *CachedSource) read(ctx context.Context, now time.Time) (got *Reading, err error) {
	defer crash.Guard(&err)
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	devices, excluded, err := r.Source.Devices(ctx)
	if err != nil {
		return nil, err
	}
	got = &Reading{devices, excluded, now}
	r.last.Store(got)
	return got, nil
}

// Devices reads the devices as [CachedSource.Read] does. Callers share the lists and must not
// change them.
func (r *CachedSource) Devices(ctx context.Context) ([]Device, []Exclusion, error) {
	reading, err := r.Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	return reading.Devices, reading.Excluded, nil
}
