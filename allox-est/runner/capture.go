package runner

import (
	"bytes"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/timing"
)

const (
	tailBytes = 8 << 10 // kept of each stream
	lineBytes = 4 << 10 // of a line that is matched
)

// capture reads what a job prints while it runs: it parses all and keeps the
// tails.
type capture struct {
	stdout, stderr stream
	marks          marks
}

func newCapture(c Command) (*capture, error) {
	out := &capture{marks: marks{pattern: c.Marks, seen: c.Marked, reported: c.Reported}}
	var copied sync.Mutex
	for _, s := range []*stream{&out.stdout, &out.stderr} {
		var err error
		if s.r, s.w, err = os.Pipe(); err != nil {
			out.close()
			return nil, err
		}
		s.parser.Choice = c.Choice
		if c.Output != nil {
			s.copy = func(b []byte) {
				copied.Lock()
				defer copied.Unlock()
				_, _ = c.Output.Write(b) // the job goes on where nobody reads
			}
		}
		s.done = make(chan struct{})
	}
	return out, nil
}

// follow starts reading; the job has been started and holds the writing ends.
func (c *capture) follow(start time.Time) {
	for _, s := range []*stream{&c.stdout, &c.stderr} {
		s.w.Close()
		s.w = nil
		crash.Go(func() { s.follow(start, &c.marks) })
	}
}

// wait waits for both streams to end, at most for the given time: a process
// that could not be killed may hold them.
func (c *capture) wait(grace time.Duration) {
	deadline := time.Now().Add(grace)
	for _, s := range []*stream{&c.stdout, &c.stderr} {
		_ = s.r.SetReadDeadline(deadline)
		<-s.done
	}
}

func (c *capture) close() {
	for _, s := range []*stream{&c.stdout, &c.stderr} {
		for _, f := range []*os.File{s.r, s.w} {
			if f != nil {
				f.Close()
			}
		}
	}
}

// stream is one of a job's two outputs.
type stream struct {
	r, w   *os.File
	done   chan struct{}
	parser timing.Parser
	costs  costs
	at     time.Duration // when the report that counts was complete
	tail   tail
	bytes  int64
	line   []byte
	copy   func([]byte) // nil where nobody wants the output
}

func (s *stream) follow(start time.Time, m *marks) {
	defer close(s.done)
	buf := make([]byte, 64<<10)
	complete := 0
	for {
		n, err := s.r.Read(buf)
		now := time.Since(start)
		s.bytes += int64(n)
		s.tail.write(buf[:n])
		if s.copy != nil && n > 0 {
			s.copy(buf[:n])
		}
		_, _ = s.parser.Write(buf[:n])
		s.costs.write(buf[:n])
		if k := s.parser.Completed(); k > complete {
			complete, s.at = k, now
			m.report(now, &s.parser)
		}
		if m.pattern != nil {
			s.lines(buf[:n], now, m)
		}
		if err != nil {
			return
		}
	}
}

// lines cuts the output at newlines and carriage returns.
func (s *stream) lines(b []byte, now time.Duration, m *marks) {
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\r\n")
		part := b
		if i >= 0 {
			part = b[:i]
		}
		if room := lineBytes - len(s.line); room > 0 {
			s.line = append(s.line, part[:min(room, len(part))]...)
		}
		if i < 0 {
			return
		}
		m.match(s.line, now)
		s.line = s.line[:0]
		b = b[i+1:]
	}
}

// marks collects when lines that mark an epoch came.
type marks struct {
	pattern *regexp.Regexp
	seen    func(at time.Duration, group string)

	reported func(at time.Duration, laps []float64)

	mu   sync.Mutex // both streams mark
	last string
	at   []time.Duration
}

func (m *marks) match(line []byte, now time.Duration) {
	if len(line) == 0 {
		return
	}
	found := m.pattern.FindSubmatch(line)
	if found == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(found) > 1 {
		group := string(bytes.Join(found[1:], nil)) // of alternatives one is there
		if len(m.at) > 0 && group == m.last {
			return
		}
		m.last = group
	}
	m.at = append(m.at, now)
	if m.seen != nil {
		m.seen(now, m.last)
	}
}

// report tells of a complete report.
func (m *marks) report(now time.Duration, p *timing.Parser) {
	if m.reported == nil {
		return
	}
	if out, err := p.Output(); err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.reported(now, out.Laps())
	}
}

// tail keeps the last bytes written to it.
type tail struct{ b []byte }

func (t *tail) write(p []byte) {
	if len(p) >= tailBytes {
		t.b = append(t.b[:0], p[len(p)-tailBytes:]...)
		return
	}
	if over := len(t.b) + len(p) - tailBytes; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	t.b = append(t.b, p...)
}
