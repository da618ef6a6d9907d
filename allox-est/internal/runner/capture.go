package runner

import (
	"os"
	"sync"
	"time"

	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/timing"
)

const tailBytes = 8 << 10 // kept of each stream

// capture reads what a job prints while it runs: it parses all and keeps the
// tails.
type capture struct {
	stdout, stderr stream

	mu      sync.Mutex // both streams mark
	reader  progress.Reader
	seen    func([]progress.Mark)
	counted func(*progress.Reader)
	news    bool // since seen was called
}

func newCapture(c Command) (*capture, error) {
	out := &capture{reader: c.Reader, seen: c.Marked, counted: c.Counted}
	var copied sync.Mutex
	for _, s := range []*stream{&out.stdout, &out.stderr} {
		var err error
		if s.r, s.w, err = os.Pipe(); err != nil {
			out.close()
			return nil, err
		}
		s.parser.Choice, s.lines.All = c.Choice, c.Reader.Pattern != nil
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
		crash.Go(func() { c.read(s, start) })
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

// notify passes the marks on if there may be more than before.
func (c *capture) notify() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.news && c.counted != nil {
		c.counted(&c.reader)
	}
	if c.news && c.seen != nil {
		c.seen(c.reader.Marks())
	}
	c.news = false
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
	at     time.Duration // when the report that counts was complete
	tail   tail
	bytes  int64
	lines  progress.Splitter
	copy   func([]byte) // nil where nobody wants the output
}

func (c *capture) read(s *stream, start time.Time) {
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
		if k := s.parser.Completed(); k > complete {
			complete, s.at = k, now
		}
		c.lines(s, buf[:n], now, err != nil)
		if err != nil {
			return
		}
	}
}

// lines takes in the lines that were completed.
func (c *capture) lines(s *stream, b []byte, now time.Duration, end bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	take := func(line string) {
		c.news = true
		c.reader.Line(line, now.Seconds())
	}
	s.lines.Split(b, take)
	if end {
		s.lines.Rest(take)
	}
}

// mark writes down the progress that the job reported.
func (c *capture) mark(r *Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reader.End(r.Wall.Seconds())
	if c.counted != nil {
		c.counted(&c.reader) // the end may settle what counted
	}
	r.Marks, r.Unmarked, r.Costs = c.reader.Marks(), c.reader.Why(), c.reader.Costs()
	if units, early := c.reader.Stopped(); early {
		r.Stopped = units
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
