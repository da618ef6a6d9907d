package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lock waits for a lock on a file, which lasts for as long as the file, or a copy of its
// descriptor in another process, is open.
func lock(ctx context.Context, clock Clock, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			if err = clock.Sleep(ctx, 100*time.Millisecond); err == nil {
				continue
			}
		}
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
}

// Clock tells the time and lets it pass.
type Clock interface {
	Now() time.Time
	// Sleep returns early with the context's error when it is done.
	Sleep(ctx context.Context, d time.Duration) error
}

// Wall is the clock on the wall.
type Wall struct{}

// Now implements Clock.
func (Wall) Now() time.Time { return time.Now() }

// Sleep implements Clock.
func (Wall) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return ctx.Err()
	}
}
