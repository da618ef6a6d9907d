package follow

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/timing"
)

// ErrEnded is returned where a log ends, removed or cut, before the run does.
var ErrEnded = errors.New("the log was removed or cut")

// Log is a log that another program writes. Of lines with the same first group of
// the pattern, one after the other, the first counts. Where time-writer reports come
// before any such line they mark the epochs.
type Log struct {
	Path    string
	Pattern *regexp.Regexp // of the lines that mark epochs
	Epochs  int            // of the run
	Every   time.Duration  // between two looks at its end
}

// Read follows the log. Old is called once with how many of its lines marked epochs
// when it was first read, then mark for each that comes, with the time since then;
// an error of either ends the reading, io.EOF as its good end.
func (l Log) Read(ctx context.Context, old func(n int) error, mark func(at time.Duration) error) error {
	f, err := os.Open(l.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	in, part, m, n := bufio.NewReader(f), "", marker{pattern: l.Pattern, epochs: l.Epochs}, 0
	begin, live := time.Now(), false
	tick := time.NewTicker(l.Every)
	defer tick.Stop()
	for {
		line, err := readLine(in)
		part += line
		switch {
		case err == nil:
			ends := m.ends(part, time.Since(begin))
			part = ""
			if !live {
				n += len(ends)
				continue
			}
			for _, at := range ends {
				if err := mark(at); err != nil {
					return ended(err)
				}
			}
		case !errors.Is(err, io.EOF):
			return err
		default:
			if !live {
				live, begin = true, time.Now()
				if err := old(n); err != nil {
					return ended(err)
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
}

// readLine reads what is left of a line, which ends with a newline or, as a bar's
// do, with a carriage return.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		b, err := in.ReadByte()
		if err != nil || b == '\n' || b == '\r' {
			return string(line), err
		}
		line = append(line, b)
	}
}

// ended is a caller's error, nil for its good end.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// gone says whether a file that was read to its end has been removed or cut.
func gone(f *os.File, path string) error {
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

// marker finds the lines that mark epochs.
type marker struct {
	pattern *regexp.Regexp
	epochs  int
	last    string
	lines   bool // mark, not the reports
	reports Reports
	at      time.Duration // of the last mark
}

// ends are the times at which epochs ended that a line tells, none before those
// of the lines before it.
func (m *marker) ends(line string, now time.Duration) []time.Duration {
	if m.marks(line) {
		m.at = now
		return []time.Duration{now}
	}
	if m.lines || !strings.Contains(line, timing.CloseTag) {
		return nil
	}
	out, err := timing.ParseOutput(strings.NewReader(line), timing.Last)
	if err != nil {
		return nil
	}
	ends := m.reports.Ended(now, out.Laps(), m.epochs)
	for i := range ends {
		m.at = max(m.at, ends[i])
		ends[i] = m.at
	}
	return ends
}

func (m *marker) marks(line string) bool {
	found := m.pattern.FindStringSubmatch(line)
	if found == nil {
		return false
	}
	if len(found) > 1 {
		group := strings.Join(found[1:], "") // of alternatives one is there
		if m.lines && group == m.last {
			return false
		}
		m.last = group
	}
	m.lines = true
	return true
}
