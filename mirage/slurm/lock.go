package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrInUse is returned when another process works on the folder.
var ErrInUse = errors.New("folder is in use")

// tryLock takes a lock on a file for as long as the file, or a copy of its
// descriptor in another process, is open. The error wraps ErrInUse.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// soonLock is tryLock that waits a second: a child of a killed process has its files
// open until it starts its program.
func soonLock(clock Clock, path string) (f *os.File, err error) {
	for range 50 {
		if f, err = tryLock(path); !errors.Is(err, ErrInUse) {
			break
		}
		_ = clock.Sleep(context.Background(), 20*time.Millisecond)
	}
	return f, err
}

// lock waits for a lock.
func lock(ctx context.Context, clock Clock, path string) (*os.File, error) {
	for {
		f, err := tryLock(path)
		if !errors.Is(err, ErrInUse) {
			return f, err
		}
		if err := clock.Sleep(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
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
