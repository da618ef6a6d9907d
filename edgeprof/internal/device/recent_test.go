package device

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counted is a source that waits for leave before it answers.
type counted struct {
	asked atomic.Int64
	leave chan error
}

func (c *counted) Devices(ctx context.Context) ([]Device, []Exclusion, error) {
	n := c.asked.Add(1)
	select {
	case err := <-c.leave:
		return []Device{{Node: fmt.Sprint(n)}}, nil, err
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

func TestRecent(t *testing.T) {
	now := time.Unix(1000, 0)
	source := &counted{leave: make(chan error, 1)}
	r := &CachedSource{Source: source, MaxAge: time.Second, Now: func() time.Time { return now }}
	read := func(want string) {
		t.Helper()
		devices, _, err := r.Devices(t.Context())
		if err != nil || devices[0].Node != want {
			t.Errorf("%v, %v, want reading %s", devices, err, want)
		}
	}
	source.leave <- nil
	read("1")
	now = now.Add(999 * time.Millisecond)
	read("1")
	now = now.Add(time.Millisecond)
	source.leave <- nil
	read("2")
	now = now.Add(-time.Hour) // the clock was set back
	source.leave <- nil
	read("3")

	now = now.Add(time.Minute)
	broken := errors.New("down")
	source.leave <- broken
	if _, err := r.Read(t.Context()); !errors.Is(err, broken) {
		t.Errorf("%v, want the source's error", err)
	}
	source.leave <- nil
	read("5") // an error is not kept
}

// Fifty callers cost one reading; one who leaves does not end it for others.
func TestRecentIsShared(t *testing.T) {
	source := &counted{leave: make(chan error)}
	r := &CachedSource{Source: source, MaxAge: time.Hour, Now: time.Now}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Read(left); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got, err := r.Read(t.Context()); err != nil || got.Devices[0].Node != "1" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	source.leave <- nil
	all.Wait()
	if n := source.asked.Load(); n != 1 {
		t.Errorf("%d readings", n)
	}
}

func TestRecentTimeout(t *testing.T) {
	r := &CachedSource{Source: &counted{leave: make(chan error)}, Timeout: time.Millisecond, Now: time.Now}
	if _, err := r.Read(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want a timeout", err)
	}
}

type panics struct{}

func (panics) Devices(context.Context) ([]Device, []Exclusion, error) { panic("boom") }

func TestRecentPanic(t *testing.T) {
	r := &CachedSource{Source: panics{}, Now: time.Now}
	if _, err := r.Read(t.Context()); err == nil || !strings.HasSuffix(err.Error(), ": boom") {
		t.Errorf("%v, want the panic", err)
	}
}
