package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"syscall"
	"time"

	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/file"
)

// Log is a log that another program writes.
type Log struct {
	Path   string
	Reader *progress.Reader
	// Every is the time between two looks. Where the kernel reports what is written, lines
	// are read, and their times taken, as they come.
	Every time.Duration
	// Input, where it is not nil, is read instead of the file; the run ends with it.
	Input io.Reader
	// Proc is the folder of process information, as /proc: who writes the log. Empty where
	// that cannot be known.
	Proc string
	// Notice, where it is not nil, is called with what happens to the log: it is rotated,
	// cut, or partly left out because of its size.
	Notice func(text string)
}

// State is the progress of a log at a time.
type State struct {
	// Marks are the units done, in seconds since the first line whose time is known: by the
	// times in the lines that were there before, and by the clock for those that come.
	Marks []progress.Mark
	Old   float64 // the unit done when the reading began
	Ended bool    // nothing more comes: its writers closed it, or it is still
	Why   string  // it is taken to have ended
}

// The bounds of what is read of a log that is there already, in bytes, and of what says
// that it has ended: so many units or gaps between lines without a line, and seconds.
const (
	headBytes    = 2 << 20
	tailBytes    = 10 << 20
	stillUnits   = 10
	stillSeconds = 10
	closedGaps   = 2
	steadyLooks  = 2
	closedFor    = 500 * time.Millisecond
	goneFor      = 3 * time.Second
	headFor      = time.Second
	askEvery     = 500 * time.Millisecond // who writes the log
	quietLooks   = 3                      // pauses in one, of a log whose writes the kernel reports
)

// reading is the reading of one log.
type reading struct {
	Log
	lines  progress.Splitter
	clock  clock
	start  time.Time // of the reading of a stream
	begin  time.Time // when all was read that had been there
	offset float64   // seconds from the first known time to begin
	old    float64
	news   bool
	now    time.Time // when what is read came: its lines have one time
	last   time.Time // when the last line came
	gap    time.Duration
	asked  time.Time
	held   []holder
	seen   bool // all processes could be seen
	wrote  bool // a writer was seen
	writer holder
	dated  bool // the clock was compared with the date of a line that came
	steady int  // looks in a row at which the same writer had the log open
	warned bool
	absent time.Time
}

// Read follows the log. Look is called when the whole log was read, then
// whenever there may be more marks, and at the log's end. An error of it ends the reading,
// io.EOF as its good end.
func (l Log) Read(ctx context.Context, look func(State) error) error {
	r := reading{Log: l, lines: progress.Splitter{All: l.Reader.Pattern != nil}}
	err := r.read(ctx, look)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (r *reading) read(ctx context.Context, look func(State) error) error {
	var chunks chan []byte
	var f *file.Input
	info, err := os.Stat(r.Path)
	if r.Input == nil && err == nil && info.IsDir() {
		return &os.PathError{Op: "follow", Path: r.Path, Err: syscall.EISDIR}
	}
	if r.Input == nil && (err != nil || info.Mode().IsRegular()) {
		if f, err = file.Open(r.Path); err != nil {
			return err
		}
		defer func() { f.Close() }()
	} else {
		in := r.Input
		if in == nil {
			pipe, err := file.Open(r.Path)
			if err != nil {
				return err
			}
			defer pipe.Close()
			in = pipe
		}
		r.start, chunks = time.Now(), pump(ctx, in)
	}
	var wake waker
	if f != nil {
		wake = wakerOf(r.Path)
	}
	defer func() { wake.close() }()
	buf := make([]byte, 64<<10)
	for looked := (time.Time{}); ; {
		if f != nil {
			if err := r.drain(f, buf); err != nil {
				return err
			}
		}
		if r.begin.IsZero() {
			if f == nil {
				if err := r.head(ctx, chunks); err != nil {
					return err
				}
			}
			r.join(f)
		}
		pause := r.Every - time.Since(looked)
		if pause <= 0 {
			looked = time.Now()
			if r.news {
				r.news = false
				if err := look(State{Marks: r.Reader.Marks(), Old: r.old}); err != nil {
					return err
				}
			}
			if f != nil {
				next, err := r.moved(f)
				if errors.Is(err, errGone) {
					if err := r.drain(f, buf); err != nil {
						return err
					}
					return r.end(look, err.Error())
				}
				if err != nil {
					return err
				}
				if next != nil {
					f.Close()
					wake.close()
					f, wake = next, wakerOf(r.Path)
					continue
				}
				// Between two files of a rotation the log has no name for a moment.
				named := r.absent.IsZero() || time.Since(r.absent) > goneFor
				if why := r.endReason(f); why != "" && named {
					last := r.last // lines may have come since the file was read
					if err := r.drain(f, buf); err != nil {
						return err
					}
					if !r.last.Equal(last) {
						continue
					}
					return r.end(look, why)
				}
			}
			if pause = r.Every; wake.events != nil {
				pause *= quietLooks
			}
		}
		if err := r.wait(ctx, wake, chunks, pause); err != nil {
			if errors.Is(err, io.EOF) {
				return r.end(look, "its writer has closed it")
			}
			return err
		}
	}
}

// wait returns once something was written, or after a pause. Its error is io.EOF at the
// end of a stream.
func (r *reading) wait(ctx context.Context, wake waker, chunks chan []byte, pause time.Duration) error {
	select {
	case b, more := <-chunks:
		if !more {
			return io.EOF
		}
		r.now = time.Now()
		r.lines.Split(b, r.line)
	case <-wake.writes:
	case <-time.After(pause):
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// pump reads a stream as its parts come.
func pump(ctx context.Context, in io.Reader) chan []byte {
	chunks := make(chan []byte)
	crash.Go(func() {
		defer close(chunks)
		for {
			buf := make([]byte, 64<<10)
			n, err := in.Read(buf)
			if n > 0 {
				select {
				case chunks <- buf[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	return chunks
}

// head reads what a stream begins with, up to its first pause: it was there before, so
// the times in its lines count. The end of the stream is left to read.
func (r *reading) head(ctx context.Context, chunks chan []byte) error {
	longest := time.After(headFor)
	for {
		select {
		case b, more := <-chunks:
			if !more {
				return nil
			}
			r.lines.Split(b, r.line)
		case <-time.After(r.Every):
			return nil
		case <-longest:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drain reads a file to its present end.
func (r *reading) drain(f *file.Input, buf []byte) error {
	if info, err := f.Stat(); err == nil && r.begin.IsZero() && info.Size() > headBytes+tailBytes {
		defer r.notice(fmt.Sprintf("%s: of %d MB the first %d and the last %d were read", r.Path, info.Size()>>20, headBytes>>20, tailBytes>>20))
		for read := 0; read < headBytes; {
			n, err := f.Read(buf)
			r.lines.Split(buf[:n], r.line)
			if read += n; err != nil {
				return err
			}
		}
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return err
		}
		r.lines.Rest(func(string) {})
		skipped := false
		for !skipped { // the rest of a line
			n, err := f.Read(buf)
			for i, b := range buf[:n] {
				if b == '\n' || b == '\r' {
					r.lines.Split(buf[i+1:n], r.line)
					skipped = true
					break
				}
			}
			if err != nil {
				break
			}
		}
	}
	for {
		n, err := f.Read(buf)
		r.now = time.Now()
		r.lines.Split(buf[:n], r.line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line passes a line on, with its time.
func (r *reading) line(text string) {
	r.news = true
	if r.begin.IsZero() {
		at := r.clock.time(text)
		if !r.clock.set && !r.start.IsZero() {
			at = time.Since(r.start).Seconds()
			r.clock.last = at
		}
		r.Reader.Line(text, at)
		return
	}
	if r.clock.set && r.clock.kind <= unixStamp && !r.dated {
		if before := r.clock.stamp; r.clock.time(text) > 0 && r.clock.stamp != before {
			// The last line may be far older than the file's time.
			r.dated = true
			r.Reader.Pause(r.clock.last - r.since(r.now))
		}
	}
	r.gap = max(r.gap, r.now.Sub(r.last))
	r.last = r.now
	r.Reader.Line(text, r.since(r.now))
}

// since returns the seconds from the first known time to a time.
func (r *reading) since(at time.Time) float64 { return r.offset + at.Sub(r.begin).Seconds() }

// join ends the reading of what was there: the clock goes on where its times end.
func (r *reading) join(f *file.Input) {
	r.begin, r.last, r.news = time.Now(), time.Now(), true
	r.old = r.Reader.Reached()
	if f == nil {
		r.offset = r.clock.last
		return
	}
	if info, err := f.Stat(); err == nil && info.ModTime().Before(r.begin) {
		r.last = info.ModTime()
	}
	if r.clock.set {
		r.offset = r.clock.last + r.begin.Sub(r.last).Seconds()
	}
}

func (r *reading) notice(text string) {
	if r.Notice != nil {
		r.Notice(text)
	}
}

// errGone is the end of a log whose name is gone, and that no program writes any more.
var errGone = errors.New("the log was removed, and no program writes it")

// moved follows a log that was rotated or cut: it returns the file that now has its name,
// or nil where it is the same.
func (r *reading) moved(f *file.Input) (*file.Input, error) {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if opened.Size() < at {
		r.notice(r.Path + ": the log was cut; it is read again from its beginning")
		_, err := f.Seek(0, io.SeekStart)
		return nil, err
	}
	named, err := os.Stat(r.Path)
	switch {
	case err != nil && r.absent.IsZero():
		r.absent = time.Now()
		return nil, nil
	case err != nil:
		if held, _ := writers(r.Proc, opened); len(held) == 0 && min(time.Since(r.absent), time.Since(r.last)) > goneFor {
			return nil, errGone
		}
		return nil, nil
	case os.SameFile(opened, named):
		r.absent = time.Time{}
		return nil, nil
	}
	r.absent, r.held, r.wrote = time.Time{}, nil, false
	next, err := file.Open(r.Path)
	if err == nil {
		r.notice(r.Path + ": the log was rotated; the new file is followed")
	}
	return next, err
}

// endReason says why a log that is read to its end has ended; empty where it has not.
func (r *reading) endReason(f *file.Input) string {
	still := time.Since(r.last)
	if time.Since(r.asked) >= askEvery {
		r.asked = time.Now()
		r.findWriters(f)
	}
	full := r.Reader.Full()
	closed := r.seen && len(r.held) == 0
	left := r.wrote && (r.steady >= steadyLooks || !r.writer.alive()) // it does not open the log for each line
	switch {
	case closed && full && (left || !r.wrote && r.Reader.Reached() >= r.Reader.Length()) && still > closedFor:
		return "no program writes it any more"
	case closed && left && still > max(closedFor, closedGaps*r.gap):
		return "its writer has closed it"
	case closed && !r.wrote && !r.warned && still > closedGaps*time.Second:
		r.warned = true
		r.notice(r.Path + ": no program has the log open for writing")
	case closed && !r.wrote && still > max(closedFor, r.unit(stillUnits)):
		return "no program writes it"
	case full && still > r.unit(stillUnits):
		return fmt.Sprintf("nothing was written for %v", still.Round(time.Second))
	}
	return ""
}

// findWriters looks who writes the log. A file of another user may have writers that cannot be
// seen.
func (r *reading) findWriters(f *file.Input) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	for _, h := range r.held {
		if h.hasOpen(info) {
			r.writer = h
			r.steady++
			return
		}
	}
	r.held, r.seen = writers(r.Proc, info)
	if len(r.held) > 0 {
		r.wrote, r.writer, r.steady = true, r.held[0], 0
	}
	r.seen = r.wrote || (r.seen || r.Proc != "" && onlyOwnerWrites(info)) && local(r.Path)
}

// unit returns the time of some units, but not less than stillSeconds, nor than as many
// gaps between lines.
func (r *reading) unit(times int) time.Duration {
	seconds := float64(stillSeconds)
	if m := r.Reader.Marks(); len(m) > 1 {
		first, last := m[0], m[len(m)-1]
		seconds = max(seconds, float64(times)*(last.Seconds-first.Seconds)/max(1e-9, last.Number-first.Number))
	}
	seconds = max(seconds, float64(times)*r.gap.Seconds())
	return time.Duration(min(seconds, math.MaxInt32) * float64(time.Second))
}

// end settles what was open.
func (r *reading) end(look func(State) error, why string) error {
	r.now = r.last
	r.lines.Rest(r.line)
	r.Reader.End(r.since(r.last))
	return look(State{Marks: r.Reader.Marks(), Old: r.old, Ended: true, Why: why})
}
