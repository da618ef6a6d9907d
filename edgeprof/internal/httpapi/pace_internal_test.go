package httpapi

import (
	"os"
	"testing"
	"time"
)

// connection delivers so many bytes every so often, and breaks off at its deadline.
type connection struct {
	now, deadline time.Time
	bytes         int
	every         time.Duration
}

func (c *connection) Read(p []byte) (int, error) {
	if c.now = c.now.Add(c.every); c.now.After(c.deadline) {
		c.now = c.deadline
		return 0, os.ErrDeadlineExceeded
	}
	return min(c.bytes, len(p)), nil
}

func TestPacedUpload(t *testing.T) {
	begin := time.Unix(1000, 0)
	for _, c := range []struct {
		name    string
		bytes   int
		every   time.Duration
		seconds int // until the connection breaks
	}{
		{"one byte, then nothing", 1, time.Hour, 10},
		{"a byte every nine seconds", 1, 9 * time.Second, 10},
		{"900 bytes a second", 900, time.Second, 91},
		{"1100 bytes a second", 1100, time.Second, 300},
		{"a pause of eleven seconds", 1 << 20, 11 * time.Second, 10},
		{"a pause of nine seconds", 1 << 20, 9 * time.Second, 300},
	} {
		way := &connection{now: begin, bytes: c.bytes, every: c.every}
		p := &paced{
			body: way, begin: begin, until: begin.Add(5 * time.Minute), now: func() time.Time { return way.now },
			deadline: func(at time.Time) error { way.deadline = at; return nil },
		}
		var err error
		for buffer := make([]byte, 2<<20); err == nil; {
			_, err = p.Read(buffer)
		}
		if got := int(way.now.Sub(begin).Seconds()); got != c.seconds {
			t.Errorf("%s: broken off after %d s, want %d", c.name, got, c.seconds)
		}
	}
}
