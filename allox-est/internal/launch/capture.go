package launch

import (
	"errors"
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

// newCapture returns a capture that reads what a job prints.
func newCapture(c Command) (*capture, error) {
	out := &capture{reader: c.Reader, seen: c.Marked, counted: c.Counted}
	var copied sync.Mutex
	for _, s := range out.streams() {
		r, w, err := os.Pipe()
		if err != nil {
			out.close()
			return nil, err
		}
		s.w, s.done = w, make(chan struct{})
		s.lines.All = c.Reader.Pattern != nil
		s.sources = []source{{r, func(b []byte) {
			if c.Output != nil {
				copied.Lock()
				defer copied.Unlock()
				_, _ = c.Output.Write(b) // the job goes on where nobody reads
			}
		}}}
	}
	return out, nil
}

// newRelayedCapture returns a capture that a relay feeds, which outlives this process. If
// there is none, or it is killed, the capture reads the job's output itself.
func newRelayedCapture(c Command, relay []string) (*capture, error) {
	out, err := newCapture(c)
	if err != nil {
		return nil, err
	}
	user, ok := c.Output.(*os.File)
	if !ok {
		return out, nil
	}
	taps, err := startRelay(relay, c.Env, user, [2]*os.File{out.stdout.sources[0].file, out.stderr.sources[0].file})
	for i, s := range out.streams() {
		if err == nil {
			s.sources = append([]source{{taps[i], nil}}, s.sources...)
		} else if taps[i] != nil {
			taps[i].Close()
		}
	}
	return out, nil
}

func (c *capture) streams() []*stream { return []*stream{&c.stdout, &c.stderr} }

// follow starts reading; the job has been started and holds the writing ends.
func (c *capture) follow(start time.Time) {
	for _, s := range c.streams() {
		s.w.Close()
		s.w = nil
		crash.Go(func() { c.read(s, start) })
	}
}

// wait waits for both streams to end, at most for the given time: a process
// that goes on may hold them. It reports whether they ended.
func (c *capture) wait(grace time.Duration) bool {
	deadline := time.Now().Add(grace)
	ended := true
	for _, s := range c.streams() {
		for _, from := range s.sources {
			_ = from.file.SetReadDeadline(deadline)
		}
		<-s.done
		ended = ended && s.ended
	}
	return ended
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
	for _, s := range c.streams() {
		for _, from := range s.sources {
			from.file.Close()
		}
		if s.w != nil {
			s.w.Close()
		}
	}
}

// stream is one of a job's two outputs.
type stream struct {
	sources []source
	w       *os.File // the job's end
	done    chan struct{}
	ended   bool // no process holds it any more
	parser  timing.Parser
	at      time.Duration // when the report that counts was complete
	tail    tail
	lines   progress.Splitter
}

// source is a pipe from which a stream is read, the next one after its end.
type source struct {
	file *os.File
	copy func([]byte) // nil if a relay shows the output
}

func (c *capture) read(s *stream, start time.Time) {
	defer close(s.done)
	buf := make([]byte, 64<<10)
	complete := 0
	for i, from := range s.sources {
		for {
			n, err := from.file.Read(buf)
			now := time.Since(start)
			s.tail.write(buf[:n])
			if from.copy != nil && n > 0 {
				from.copy(buf[:n])
			}
			_, _ = s.parser.Write(buf[:n])
			if k := s.parser.CountReports(); k > complete {
				complete, s.at = k, now
			}
			if err != nil && i == len(s.sources)-1 {
				c.lines(s, buf[:n], now, true)
				s.ended = !errors.Is(err, os.ErrDeadlineExceeded)
				return
			}
			c.lines(s, buf[:n], now, false)
			if err != nil {
				break
			}
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
	r.Marks = c.reader.Marks()
	r.Unmarked = c.reader.Why()
	if units, early := c.reader.FindEarlyEnd(); early {
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
