package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	// Proc is the directory of process information, as /proc: who writes the log. Empty where
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
	Ended bool    // nothing more comes: its writers have closed it
	Why   string  // it is taken to have ended
}

// The bounds of what is read of a log that is there already, in bytes, and of how long it is
// waited for.
const (
	headBytes  = 2 << 20
	tailBytes  = 10 << 20
	headFor    = time.Second
	goneFor    = 3 * time.Second
	quietLooks = 3 // pauses in one, of a log whose writes the kernel reports
)

// reading is the reading of one log.
type reading struct {
	Log
	writers
	dates
	lines  progress.Splitter
	begin  time.Time // when all was read that had been there
	offset float64   // seconds from the first known time to begin
	old    float64
	news   bool
	now    time.Time // when what is read came: its lines have one time
	woken  time.Time // when the file was last written or closed, or the stream ended
	looked time.Time
	absent time.Time
}

// dates are the times in the lines of a log.
type dates struct {
	clock    clock
	start    time.Time // of the reading of a stream
	stamp    float64   // the first that came, and when
	stamped  time.Time
	compared bool // with the clock
}

// Read follows the log. Look is called when the whole log was read, then
// whenever there may be more marks, and at the log's end. An error of it ends the reading,
// io.EOF as its good end.
func (l Log) Read(ctx context.Context, look func(State) error) error {
	r := reading{Log: l, lines: progress.Splitter{All: l.Reader.Pattern != nil}}
	err := r.follow(ctx, look)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// follow reads a file, a pipe or the input.
func (r *reading) follow(ctx context.Context, look func(State) error) error {
	if r.Input != nil {
		return r.readStream(ctx, r.Input, look)
	}
	info, err := os.Stat(r.Path)
	if err == nil && info.IsDir() {
		return &os.PathError{Op: "follow", Path: r.Path, Err: syscall.EISDIR}
	}
	f, err := file.Open(r.Path)
	if err != nil {
		return err
	}
	if info != nil && !info.Mode().IsRegular() {
		defer f.Close()
		return r.readStream(ctx, f, look)
	}
	return r.readFile(ctx, f, look)
}

// readStream reads a stream until its end.
func (r *reading) readStream(ctx context.Context, in io.Reader, look func(State) error) error {
	r.start = time.Now()
	chunks := pump(ctx, in)
	if err := r.head(ctx, chunks); err != nil {
		return err
	}
	r.join(nil)
	for {
		if err := r.show(look); err != nil {
			return err
		}
		select {
		case b, more := <-chunks:
			if !more {
				if time.Since(r.begin) > r.Every { // otherwise all of it was there before
					r.woken = time.Now()
				}
				return r.end(look, "its writer has closed it")
			}
			r.now = time.Now()
			r.lines.Split(b, r.line)
		case <-time.After(r.Every):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readFile reads a file, and those that get its name, until their writers have closed it.
func (r *reading) readFile(ctx context.Context, f *file.Input, look func(State) error) error {
	wake := wakerOf(r.Path)
	defer func() {
		f.Close()
		wake.close()
	}()
	for {
		if err := r.drain(f); err != nil {
			return err
		}
		if r.begin.IsZero() {
			r.join(f)
		}
		pause := r.Every - time.Since(r.looked)
		if pause <= 0 {
			next, why, err := r.look(f, look)
			if err != nil {
				return err
			}
			if next != nil {
				f.Close()
				wake.close()
				f, wake = next, wakerOf(r.Path)
				continue
			}
			if why != "" {
				return r.end(look, why)
			}
			pause = r.Every
			if wake.events != nil {
				pause *= quietLooks
			}
		}
		select {
		case <-wake.writes:
			r.woken = time.Now()
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look shows what is new and returns the file that has the log's name now, if it is another
// one, or why the log has ended.
func (r *reading) look(f *file.Input, look func(State) error) (next *file.Input, why string, err error) {
	if err := r.show(look); err != nil {
		return nil, "", err
	}
	r.looked = time.Now()
	next, err = r.findMoved(f)
	switch {
	case errors.Is(err, errGone):
		why, err = err.Error(), nil
	case err != nil || next != nil:
		return next, "", err
	case r.absent.IsZero() || time.Since(r.absent) > goneFor: // between two files of a rotation the log has no name
		why = r.endReason(f, time.Now())
	}
	if why == "" {
		return nil, "", nil
	}
	last := r.last // lines may have come since the file was read
	if err := r.drain(f); err != nil {
		return nil, "", err
	}
	if !r.last.Equal(last) {
		return nil, "", nil
	}
	return nil, why, nil
}

// show passes the marks on if there may be more than before.
func (r *reading) show(look func(State) error) error {
	if !r.news || time.Since(r.looked) < r.Every {
		return nil
	}
	r.news = false
	r.looked = time.Now()
	return look(State{Marks: r.Reader.Marks(), Old: r.old})
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

// drain reads a file to its present end; the middle of a large one, that was there before, is
// left out.
func (r *reading) drain(f *file.Input) error {
	info, err := f.Stat()
	if err != nil || !r.begin.IsZero() || info.Size() <= headBytes+tailBytes {
		return r.read(f, r.line)
	}
	defer r.notice(fmt.Sprintf("%s: of %d MB the first %d and the last %d were read", r.Path, info.Size()>>20, headBytes>>20, tailBytes>>20))
	if err := r.read(io.LimitReader(f, headBytes), r.line); err != nil {
		return err
	}
	if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
		return err
	}
	r.lines.Rest(func(string) {})
	isCut := true
	return r.read(f, func(text string) {
		if !isCut {
			r.line(text)
		}
		isCut = false
	})
}

// read reads to the present end.
func (r *reading) read(in io.Reader, take func(string)) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		r.now = time.Now()
		r.lines.Split(buf[:n], take)
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
	r.compare(text)
	r.gap = max(r.gap, r.now.Sub(r.last))
	r.last = r.now
	r.Reader.Line(text, r.since(r.now))
}

// Stamps are compared with the clock over so many seconds; those that run faster or slower by
// more than a factor are simulated.
const (
	compareSeconds  = 5
	simulatedFactor = 3
)

// compare compares the stamps of lines that come with the clock: those that run at another speed
// are no times.
func (r *reading) compare(text string) {
	if !r.clock.set || r.compared || r.clock.kind > dayStamp {
		return
	}
	before := r.clock.stamp
	if r.clock.time(text) <= 0 || r.clock.stamp == before {
		return
	}
	if r.stamped.IsZero() {
		r.stamp, r.stamped = r.clock.last, r.now
		return
	}
	seconds := r.now.Sub(r.stamped).Seconds()
	if seconds < compareSeconds {
		return
	}
	r.compared = true
	if speed := (r.clock.last - r.stamp) / seconds; speed > simulatedFactor || speed < 1.0/simulatedFactor {
		r.Reader.ForgetTimes()
		r.notice(r.Path + ": its dates are simulated ones; only lines that come have times")
	}
}

// since returns the seconds from the first known time to a time.
func (r *reading) since(at time.Time) float64 { return r.offset + at.Sub(r.begin).Seconds() }

// join ends the reading of what was there: the clock goes on where its times end.
func (r *reading) join(f *file.Input) {
	r.begin = time.Now()
	r.last = r.begin
	r.news = true
	r.old = r.Reader.LastUnit()
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

// findMoved follows a log that was rotated or cut: it returns the file that now has its name,
// or nil where it is the same.
func (r *reading) findMoved(f *file.Input) (*file.Input, error) {
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
		if held, _ := holdersOf(r.Proc, opened); len(held) == 0 && min(time.Since(r.absent), time.Since(r.last)) > goneFor {
			return nil, errGone
		}
		return nil, nil
	case os.SameFile(opened, named):
		r.absent = time.Time{}
		return nil, nil
	}
	r.absent = time.Time{}
	r.held = nil
	r.wrote = false
	next, err := file.Open(r.Path)
	if err == nil {
		r.notice(r.Path + ": the log was rotated; the new file is followed")
	}
	return next, err
}

// end settles what was open.
func (r *reading) end(look func(State) error, why string) error {
	r.now = r.last
	r.lines.Rest(r.line)
	closed := r.since(r.last)
	if r.woken.After(r.last) {
		closed = r.since(r.woken)
	}
	r.Reader.End(closed)
	return look(State{Marks: r.finish(r.Reader.Marks(), closed), Old: r.old, Ended: true, Why: why})
}

// lastUnits is the number of units within which the last one and what follows it end. After
// more, the marks count from a later run's begin than the lines.
const lastUnits = 3

// finish returns the marks of a log that was closed at a time, with the end of the last unit if
// that was named: a unit counted at its beginning ends with the log, another one with its last
// line.
func (r *reading) finish(marks []progress.Mark, closed float64) []progress.Mark {
	n, units := len(marks), r.Reader.Length()
	if n == 0 || !r.Reader.Full() {
		return marks
	}
	last := marks[n-1]
	end := progress.Mark{Number: units, Of: units, Seconds: last.Seconds}
	if last.Number >= units {
		marks = marks[:n-1]
		closed = r.since(r.last)
	}
	if closed-last.Seconds < r.unit(lastUnits).Seconds() {
		end.Seconds = max(end.Seconds, closed)
	}
	return append(marks, end)
}
