package follow

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/foretime/foretime/allox-est/internal/mark"
	"github.com/foretime/foretime/shared/file"
)

// ErrEnded is returned where a log ends, removed or cut, before the run does.
var ErrEnded = errors.New("the log was removed or truncated")

// Log is a log that another program writes.
type Log struct {
	Path   string
	Reader *mark.Reader
	Every  time.Duration // between two looks at its end
}

// Read follows the log. Look is called when all that stands in it was read, with
// the number of the unit done by then, and then whenever there may be more marks;
// their times are since the first look. An error of it ends the reading, io.EOF as
// its good end.
func (l Log) Read(ctx context.Context, look func(marks []mark.Mark, old float64) error) error {
	f, err := file.Open(l.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	tick := time.NewTicker(l.Every)
	defer tick.Stop()
	lines := mark.Splitter{All: l.Reader.Pattern != nil}
	var begin time.Time // of the first look
	buf, old, news := make([]byte, 64<<10), 0.0, true
	for {
		n, err := f.Read(buf)
		lines.Split(buf[:n], func(text string) {
			news = true
			at := -1.0 // of a line before the first look
			if !begin.IsZero() {
				at = time.Since(begin).Seconds()
			}
			l.Reader.Line(text, at)
		})
		switch {
		case err == nil:
			continue
		case !errors.Is(err, io.EOF):
			return err
		}
		if begin.IsZero() {
			begin, old = time.Now(), l.Reader.Reached()
		}
		if news {
			news = false
			if err := look(l.Reader.Marks(), old); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if err := gone(f, l.Path); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// gone says whether a file that was read to its end has been removed or cut.
func gone(f *file.Input, path string) error {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	if named, err := os.Stat(path); err != nil || !os.SameFile(opened, named) || opened.Size() < at {
		return &os.PathError{Op: "follow", Path: path, Err: ErrEnded}
	}
	return nil
}
