package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/progress"
)

// TestClock reads the times that lines of many forms carry.
func TestClock(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  []float64
	}{
		{"date and time", []string{"2031-06-12 23:59:58,500 - INFO", "no time", "2031-06-13 00:00:01,000 - INFO"}, []float64{0, 0, 2.5}},
		{"time of day past midnight", []string{"[23:59:50] a", "[00:00:10] b"}, []float64{0, 20}},
		{"seconds since 1970", []string{`{"time": 1795444547.5, "step": 1}`, `{"time": 1795444549.0, "step": 2}`}, []float64{0, 1.5}},
		{"bars, one an epoch", []string{"| 1/9 [00:02<00:09]", "| 9/9 [00:20<00:00]", "| 1/9 [00:02<00:09]"}, []float64{0, 18, 20}},
		{"elapsed", []string{`"elapsed_time": "0:00:12", a`, `"elapsed_time": "0:01:02", a`}, []float64{0, 50}},
		{"bars of hours", []string{"| 1/9 [58:57<1:00:09]", "| 2/9 [1:01:02<00:09]", "| 3/9 [2:01:02<00:09]"}, []float64{0, 125, 3725}},
		{"elapsed for hours", []string{`"elapsed_time": "0:58:12", a`, `"elapsed_time": "2:01:02", a`}, []float64{0, 3770}},
		{"time of day", []string{"[21:58:50] a", "[22:01:05] b", "[23:01:05] b"}, []float64{0, 135, 3735}},
		{"a date after bars", []string{"| 1/9 [00:02<00:09]", "| 3/9 [00:06<00:09]", "2031-06-12 10:00:00 a", "2031-06-12 10:00:05 a", "| 4/9 [00:07<00:09]"}, []float64{0, 4, 4, 9, 9}},
		{"none", []string{"epoch 1", "time per iteration (ms): 139.1"}, []float64{-1, -1}},
		{"the clock is set back", []string{"2031-10-26 02:59:50 a", "2031-10-26 03:00:00 a", "2031-10-26 02:00:10 a", "2031-10-26 02:00:20 a"}, []float64{0, 10, 10, 20}},
		{"a first line of another clock", []string{"2031-06-12 10:11:00 b", "2031-06-12 10:00:10 a", "2031-06-12 10:00:20 a"}, []float64{0, 0, 10}},
		{"a line of another clock", []string{"2031-06-12 10:00:00 a", "2031-06-12 10:00:10 a", "2031-06-12 10:00:50 b", "2031-06-12 10:00:20 a", "2031-06-12 10:00:30 a"}, []float64{0, 10, 50, 20, 30}},
		{"back in time", []string{"2031-06-12 10:00:09 a", "2031-06-12 10:00:05 b"}, []float64{0, 0}},
	} {
		var c clock
		for i, line := range tt.lines {
			if got := c.time(line); got != tt.want[i] {
				t.Errorf("%s: line %d at %v, want %v", tt.name, i+1, got, tt.want[i])
			}
		}
	}
}

// TestNoClock: dates of a simulation, and those after a step, are no times.
func TestNoClock(t *testing.T) {
	for _, line := range []string{
		"      120 2001-01-01 08:00:00.00  1.0E+00",
		"Timing for main: time 2001-01-01_06:02:00 on domain 1: 0.2 elapsed",
		"model date = 2001-01-01 00:00:00",
	} {
		if kind, _ := readStamp(line); kind == dateStamp {
			t.Errorf("%q has a date", line)
		}
	}
}

// TestSimulatedDates forgets the times of lines whose dates run faster than the clock.
func TestSimulatedDates(t *testing.T) {
	for _, tt := range []struct {
		name  string
		speed time.Duration // of the dates, against the clock
		known bool
	}{{"a clock", 1, true}, {"a simulation", 3600, false}} {
		t.Run(tt.name, func(t *testing.T) {
			day := time.Date(2031, 6, 12, 0, 0, 0, 0, time.UTC)
			line := func(i int) string {
				return fmt.Sprintf("%s step %d/90 loss 0.5", day.Add(time.Duration(i)*tt.speed*time.Second).Format("2006-01-02 15:04:05"), i)
			}
			begin := time.Now()
			r := reading{Log: Log{Reader: &progress.Reader{}}}
			for i := range 20 {
				r.line(line(i))
			}
			r.begin, r.now, r.offset = begin, begin, r.clock.last
			for i := 20; i < 40; i++ {
				r.now = begin.Add(time.Duration(i-20) * time.Second)
				r.line(line(i))
			}
			if marks := r.Reader.Marks(); (len(marks) > 0 && marks[0].Number < 20) != tt.known {
				t.Errorf("marks begin with %+v", marks[:min(len(marks), 1)])
			}
		})
	}
}

// TestStill: a log that is full and still has not ended while a program may write it.
func TestStill(t *testing.T) {
	for _, tt := range []struct {
		name       string
		seen, held bool
		want       string
		said       string // once in each pause
	}{
		{"a program has it open", true, true, "", "log: nothing was written for 1h0m0s; a program still has it open"},
		{"programs cannot be seen", false, false, "", "log: nothing was written for 1h0m0s; whether a program still writes it cannot be seen"},
		{"no program has it open", true, false, "no program writes it any more", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			said := ""
			log := Log{Path: "log", Reader: &progress.Reader{Units: 3}, Notice: func(text string) { said += text }}
			r := reading{Log: log, writers: writers{seen: tt.seen, last: time.Now().Add(-time.Hour), asked: time.Now()}}
			if tt.held {
				r.held = []holder{{}}
			}
			for i := 1; i <= 3; i++ {
				r.Reader.Line(fmt.Sprintf("epoch %d/3 0.5", i), float64(i))
			}
			for range 2 {
				if why := r.endReason(nil, time.Now()); why != tt.want {
					t.Errorf("%q, want %q", why, tt.want)
				}
			}
			if said != tt.said {
				t.Errorf("said %q, want %q", said, tt.said)
			}
		})
	}
}

// hours writes stamped lines of epochs, one an hour.
func hours(from, to int) string {
	var b strings.Builder
	at := time.Date(2031, 6, 12, 0, 0, 0, 0, time.UTC)
	for e := from; e <= to; e++ {
		fmt.Fprintf(&b, "%s INFO epoch %d/20 loss 0.5\n", at.Add(time.Duration(e)*time.Hour).Format("2006-01-02 15:04:05"), e)
	}
	return b.String()
}

// write appends a text to a file.
func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestPast checks that the times in a log's lines answer at once: before anything new came.
func TestPast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	write(t, path, hours(1, 9))
	l := Log{Path: path, Reader: &progress.Reader{}, Every: time.Millisecond}
	err := l.Read(t.Context(), func(s State) error {
		if n := len(s.Marks); n < 9 || s.Marks[n-1].Seconds-s.Marks[0].Seconds != 8*3600 || s.Marks[n-1].Number != 9 {
			t.Errorf("marks %v, want 9 over 8 hours", s.Marks)
		}
		return io.EOF
	})
	if err != nil {
		t.Error(err)
	}
	// The same, of a stream.
	l = Log{Input: strings.NewReader(hours(1, 9)), Reader: &progress.Reader{}, Every: time.Minute}
	if err := l.Read(t.Context(), func(s State) error {
		if n := len(s.Marks); n < 9 || s.Marks[n-1].Seconds-s.Marks[0].Seconds != 8*3600 {
			t.Errorf("marks %v of a stream, want 9 over 8 hours", s.Marks)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestMoves follows a log that is cut, rotated, and renamed below a link.
func TestMoves(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "train.log")
	for name, move := range map[string]func(){
		"cut":     func() { _ = os.Truncate(path, 0) },
		"rotated": func() { _ = os.Rename(path, path+".1") },
		"link": func() {
			_ = os.Remove(path)
			_ = os.Symlink(filepath.Join(dir, "next.log"), path)
			write(t, filepath.Join(dir, "next.log"), "")
		},
	} {
		os.Remove(path)
		write(t, path, "epoch 1/9 0.5\nepoch 2/9 0.5\n")
		var noticed string
		l := Log{Path: path, Reader: &progress.Reader{Units: 9}, Every: time.Millisecond, Notice: func(text string) { noticed += text }}
		looks, before := 0, -1.0
		err := l.Read(t.Context(), func(s State) error {
			switch looks++; looks {
			case 1:
				write(t, path, "epoch 3/9 0.5\n")
			case 2:
				before = s.Marks[len(s.Marks)-1].Number
				move()
				write(t, path, "epoch 4/9 0.5\n")
			default:
				if last := s.Marks[len(s.Marks)-1].Number; last != 4 || before != 3 {
					t.Errorf("%s: %v, then %v", name, before, last)
				}
				return io.EOF
			}
			return nil
		})
		if err != nil || noticed == "" {
			t.Errorf("%s: %v, noticed %q", name, err, noticed)
		}
	}
}

// TestEnds checks when a log counts as ended: with its writer's last file, not with its
// last unit.
func TestEnds(t *testing.T) {
	dir := t.TempDir()
	path, proc := filepath.Join(dir, "train.log"), filepath.Join(dir, "proc")
	fd := filepath.Join(proc, "7", "fd", "3")
	for _, folder := range []string{"fd", "fdinfo"} {
		if err := os.MkdirAll(filepath.Join(proc, "7", folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, path, "epoch 1/3 0.5\n")
	write(t, filepath.Join(proc, "7", "fdinfo", "3"), "pos:\t0\nflags:\t0100001\n")
	if err := os.Symlink(path, fd); err != nil {
		t.Fatal(err)
	}
	l := Log{Path: path, Reader: &progress.Reader{}, Every: time.Millisecond, Proc: proc}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	var closed atomic.Bool
	err := l.Read(ctx, func(s State) error {
		switch {
		case s.Ended && !closed.Load():
			t.Error("ended while a program writes the log")
		case s.Ended:
			return io.EOF
		case len(s.Marks) == 0 && s.Old == 0:
			write(t, path, "epoch 2/3 0.5\nepoch 3/3 0.5\n")
			time.AfterFunc(1500*time.Millisecond, func() { closed.Store(true); os.Remove(fd) })
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	// A reader of the log, or one that has another file open, does not write it.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[string]int{"0100000": 0, "0100001": 1, "02": 1} {
		os.Remove(filepath.Join(proc, "7", "fdinfo", "3"))
		write(t, filepath.Join(proc, "7", "fdinfo", "3"), "flags:\t"+flags+"\n")
		os.Remove(fd)
		if err := os.Symlink(path, fd); err != nil {
			t.Fatal(err)
		}
		if held, _ := holdersOf(proc, info); len(held) != want {
			t.Errorf("flags %s: %d writers, want %d", flags, len(held), want)
		}
	}
}

// TestRemoved reads a log to its end whose name is gone, or whose folder is renamed, while a
// program writes it.
func TestRemoved(t *testing.T) {
	for name, remove := range map[string]func(path string) error{
		"removed": os.Remove,
		"renamed": func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".moved") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "run", "train.log")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, path, "epoch 1/9 0.5\n")
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			l := Log{Path: path, Reader: &progress.Reader{Units: 9}, Every: time.Millisecond, Proc: "/proc"}
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
			defer stop()
			looks := 0
			var last State
			err = l.Read(ctx, func(s State) error {
				last = s
				if looks++; looks > 1 {
					return nil
				}
				time.AfterFunc(goneFor+time.Second/2, func() {
					fmt.Fprint(f, "epoch 2/9 0.5\nepoch 3/9 0.5\n")
					f.Close()
				})
				return remove(path)
			})
			if n := len(last.Marks); err != nil || !last.Ended || n == 0 || last.Marks[n-1].Number != 3 {
				t.Errorf("%+v, %v", last, err)
			}
		})
	}
}

// TestLastLines reads lines that come after the file was read, just before its end is seen.
func TestLastLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	write(t, path, "epoch 1/3 0.5\nepoch 2/3 0.5\nepoch 3/3 0.5\n")
	before := time.Now().Add(-2 * stillSeconds * time.Second)
	if err := os.Chtimes(path, before, before); err != nil {
		t.Fatal(err)
	}
	l := Log{Path: path, Reader: &progress.Reader{Units: 3}, Every: time.Millisecond, Proc: "/proc"}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	looks := 0
	err := l.Read(ctx, func(State) error {
		if looks++; looks == 1 { // no program has written the log for a while, and all units are done
			write(t, path, "<TIME_WRITTER_OUTPUT>[0.5, 1.0, 1.0, 1.0, 0.5]</TIME_WRITTER_OUTPUT>\n")
		}
		return nil
	})
	if counted := l.Reader.Describe(); err != nil || counted != "time-writer reports" {
		t.Errorf("%q, %v", counted, err)
	}
}

// TestLastUnit reads a log that names units at their beginning: the last one ends with the log.
func TestLastUnit(t *testing.T) {
	in, out := io.Pipe()
	begun := make(chan bool) // the last unit's first line was read
	seen := sync.OnceFunc(func() { close(begun) })
	go func() {
		for i := range 4 {
			fmt.Fprintf(out, "Epoch %d\n", i)
			if i == 3 {
				<-begun
			}
			time.Sleep(60 * time.Millisecond)
			fmt.Fprintf(out, "train_loss -0.%d\n", i)
		}
		out.Close()
	}()
	var last State
	l := Log{Path: "log", Input: in, Reader: &progress.Reader{Units: 4}, Every: time.Millisecond}
	err := l.Read(t.Context(), func(s State) error {
		last = s
		if n := len(s.Marks); n > 0 && s.Marks[n-1].Number == 3 {
			seen()
		}
		return nil
	})
	n := len(last.Marks)
	if err != nil || n < 2 || !last.Ended || last.Marks[n-1].Number != 4 || last.Marks[n-1].Seconds < last.Marks[n-2].Seconds+0.05 {
		t.Errorf("%+v, %v", last, err)
	}
}

// TestNoNameForAMoment waits for the next file of a log that was removed.
func TestNoNameForAMoment(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "train.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, "epoch 1/9 0.5")
	l := Log{Path: path, Reader: &progress.Reader{Units: 9}, Every: time.Millisecond, Proc: "/proc"}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	looks := 0
	err = l.Read(ctx, func(s State) error {
		if looks++; looks == 1 {
			time.AfterFunc(5*askEvery, func() {
				f.Close()
				os.Remove(path)
			})
			time.AfterFunc(7*askEvery, func() { write(t, path, "epoch 2/9 0.5\n") })
		}
		if s.Ended {
			t.Errorf("ended: %s", s.Why)
		}
		if n := len(s.Marks); n > 0 && s.Marks[n-1].Number == 2 {
			return io.EOF
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestOneTime checks that lines which were read together have one time: their order says
// nothing of how long a unit took.
func TestOneTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.log")
	write(t, path, "start\n")
	looks := 0
	l := Log{Path: path, Reader: &progress.Reader{Units: 9}, Every: time.Millisecond}
	err := l.Read(t.Context(), func(s State) error {
		if looks++; looks == 1 {
			write(t, path, "epoch 1/9 0.5\nepoch 2/9 0.5\nepoch 3/9 0.5\n")
			return nil
		}
		if len(s.Marks) != 1 || s.Marks[0].Number != 3 {
			t.Errorf("marks %v, want one", s.Marks)
		}
		return io.EOF
	})
	if err != nil {
		t.Error(err)
	}
}

// TestOpenedForEachLine checks that a log whose writer opens it for each line has not ended
// while that program lives.
func TestOpenedForEachLine(t *testing.T) {
	dir := t.TempDir()
	path, proc := filepath.Join(dir, "train.log"), filepath.Join(dir, "proc")
	fd := filepath.Join(proc, "7", "fd", "3")
	for _, folder := range []string{"fd", "fdinfo"} {
		if err := os.MkdirAll(filepath.Join(proc, "7", folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, path, "Epoch 1/3\n")
	write(t, filepath.Join(proc, "7", "fdinfo", "3"), "flags:\t0100001\n")
	if err := os.Symlink(path, fd); err != nil {
		t.Fatal(err)
	}
	l := Log{Path: path, Reader: &progress.Reader{}, Every: time.Millisecond, Proc: proc}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	looks := 0
	err := l.Read(ctx, func(s State) error {
		if looks++; looks == 1 {
			write(t, path, "Epoch 2/3\n")
			time.AfterFunc(200*time.Millisecond, func() { os.Remove(fd) })
		}
		if s.Ended {
			t.Errorf("ended: %s", s.Why)
		}
		return nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
