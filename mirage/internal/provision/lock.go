package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/foretime/foretime/shared/file"
)

// lock waits for a lock on a file, which lasts for as long as the file, or a copy of its
// descriptor in another process, is open. The error wraps [file.ErrNoLocks] together with
// an open file if its file system has none.
func lock(ctx context.Context, clock Clock, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := file.TryLock(f)
		if err == nil || errors.Is(err, file.ErrNoLocks) {
			return f, err
		}
		if errors.Is(err, file.ErrInUse) {
			if err = clock.Sleep(ctx, 100*time.Millisecond); err == nil {
				continue
			}
			err = fmt.Errorf("%s: %w", path, err)
		}
		f.Close()
		return nil, err
	}
}

// Clock returns the time and waits.
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
