package session_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/session"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
	"github.com/foretime/foretime/shared/stats"
)

type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }

func settings(t testing.TB, values map[string]string) *config.Config {
	c, warnings := config.Read(func(name string) (string, bool) { v, ok := values[name]; return v, ok })
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return c
}

// ticking is a clock whose every reading is a microsecond later.
func ticking() func() (uint64, uint64) {
	var mu sync.Mutex
	now := uint64(1000)
	return func() (uint64, uint64) {
		mu.Lock()
		defer mu.Unlock()
		now += 1000
		return now, now
	}
}

// these returns rings that stay the same.
func these(rings ...*ringtest.Ring) func() []*event.Ring {
	return func() []*event.Ring { return ringtest.List(rings...) }
}

// write puts a task of the given nanoseconds into a ring.
func write(r *ringtest.Ring, token, at, ns uint64, size int64) {
	writeOf(r, 0x100, token, at, ns, size)
}

func writeOf(r *ringtest.Ring, entry, token, at, ns uint64, size int64) {
	var s event.Slot
	ringtest.SetHeader(&s, event.Create, event.Local, 1, 0)
	s[event.WordTicks], s[event.WordToken], s[event.WordEntry] = at, token, entry
	r.Push(&s, []int64{size})
	r.Start()
	ringtest.SetHeader(&s, event.Run, event.Local, 0, ringtest.Place(0, 0))
	s[event.WordTicks], s[event.WordEnd] = at+10, at+10+ns
	r.Push(&s, nil)
}

func TestSession(t *testing.T) {
	logs := map[string]*memory{}
	r := ringtest.New(1 << 12)
	s := session.New(session.Options{
		Rings: these(r), Config: settings(t, map[string]string{"CHAMTOOL_LOG_FORMAT": "csv,tab"}), Rank: 3, Ranks: 4, Dialect: event.Upstream,
		Clock: ticking(), Symbol: func(uint64) (string, string) { return "app:work", "b1" },
		Create: func(name string) (io.WriteCloser, error) { logs[name] = &memory{}; return logs[name], nil },
	})
	for i := range uint64(200) {
		write(r, i+1, 10_000*i, 1000*(1+i%4), int64(100*(1+i%4)))
		s.Drain()
	}
	sum := s.Close()
	if sum.Created != 200 || sum.Ended != 200 || sum.Predicted != 190 || sum.Rank != 3 {
		t.Errorf("%+v", sum)
	}
	// Times that depend on the size alone are learned to the clock's exactness.
	if m := float64(*sum.MedianAPE); m > 1 {
		t.Errorf("median APE %v %%", m)
	}
	if n := strings.Count(logs["chamtool_rank_3.csv"].String(), "\n"); n != 201 {
		t.Errorf("%d lines of CSV", n)
	}
	if n := strings.Count(logs["chamtool_logfile_rank_3.csv"].String(), "\n"); n != 200 {
		t.Errorf("%d lines of tab", n)
	}
	if s.Drain() != 0 {
		t.Error("a closed session takes events")
	}
}

// The times of threads keep the kinds of loops and constructs of their places, and the time that
// a thread was stopped.
func TestTimes(t *testing.T) {
	times := []event.PlaceTime{
		{Kind: event.Computing, Place: 0x100, Count: 5, Ticks: 4e6, Measured: 3e6, CPU: 1e6, Work: 1 << 1},
		{Kind: event.Computing, Place: 0x100, Count: 6, Ticks: 2e6, Measured: 1e6, CPU: 3e6, Work: 1 << 10},
		{Kind: event.Computing, Work: 1 << 11}, {Kind: event.Waiting, Work: 1 << 3}, {Kind: event.Waiting, Work: 1 << 4},
	}
	s := session.New(session.Options{
		Rings: these(ringtest.New(64)), Config: settings(t, nil), Ranks: 1, Dialect: event.Upstream,
		Clock: ticking(), Symbol: func(uint64) (string, string) { return "app:work", "b1" },
		Times: func(*event.Ring) []event.PlaceTime { return times },
	})
	s.Drain()
	want := []summary.PlaceTime{
		{Kind: "computing", Place: "app:work", Count: 5, Seconds: 4e-3, Stopped: 2e-3, Loop: true},
		{Kind: "computing", Place: "app:work", Count: 6, Seconds: 2e-3, Loop: true},
		{Kind: "computing", Loop: true, Dynamic: true}, {Kind: "waiting", Single: true}, {Kind: "waiting", Single: true},
	}
	if diff := cmp.Diff(want, s.Close().Times, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

func TestNoLogIsAWarning(t *testing.T) {
	r := ringtest.New(64)
	s := session.New(session.Options{
		Rings: these(r), Config: settings(t, nil), Clock: ticking(),
		Create: func(string) (io.WriteCloser, error) { return nil, errors.New("read-only file system") },
	})
	write(r, 1, 0, 1000, 8)
	s.Drain()
	s.Drain()
	if sum := s.Close(); len(sum.Warnings) != 1 || sum.Ended != 1 {
		t.Errorf("%+v", sum)
	}
}

// A run that the clock cannot tell the length of is counted, and nothing else
// waits for it.
func TestRunsOfNoLength(t *testing.T) {
	r := ringtest.New(1 << 12)
	s := session.New(session.Options{Rings: these(r), Config: settings(t, nil), Clock: ticking()})
	s.Drain()
	for i := range uint64(60) {
		write(r, i+1, 10_000*i, 1000*(i%3), 8)
	}
	s.Drain()
	if sum := s.Close(); sum.Ended != 60 || sum.TooShort != 20 || sum.Predicted != 30 {
		t.Errorf("%d ended, %d too short, %d predicted, want 60, 20 and 60-20-10", sum.Ended, sum.TooShort, sum.Predicted)
	}
}

// Nothing is predicted before as many iterations as the original tool's
// variable names.
func TestFirstIterations(t *testing.T) {
	for name, want := range map[string]int{"TIME2TRAIN": 50, "": 90} {
		r := ringtest.New(1 << 12)
		s := session.New(session.Options{Rings: these(r), Config: settings(t, map[string]string{name: "5"}), Clock: ticking()})
		none := 0
		for i := range uint64(10) {
			for j := range uint64(10) {
				write(r, 10*i+j+1, 100_000*i+10_000*j, 1000*(1+j), 8)
			}
			var end event.Slot
			ringtest.SetHeader(&end, event.WaitEnd, event.Local, 0, 0)
			r.Push(&end, nil)
			s.Drain()
			s.Drain()
			if s.Forecast(1) == nil {
				none++
			}
		}
		if sum := s.Close(); sum.Predicted != want || sum.Iterations != 10 || name != "" && none != 4 {
			t.Errorf("%s: %d predicted, want %d; %d iterations, %d without a forecast", name, sum.Predicted, want, sum.Iterations, none)
		}
	}
}

// Loads that the patched library tells, summed or not, from threads whose rings
// are read one after the other.
func TestToldLoads(t *testing.T) {
	const iterations = 20
	for name, summed := range map[string]bool{"added up": true, "apart": false} {
		rings := []*ringtest.Ring{ringtest.New(1 << 12), ringtest.New(1 << 12)}
		s := session.New(session.Options{Rings: these(rings...), Config: settings(t, nil), Clock: ticking(), Dialect: event.Patched})
		sum := 0.0
		want := make([]float64, iterations)
		for i := range iterations {
			want[i] = 1e-4 * (1 + 0.3*float64(i)) // grows by far more than it doubles
			sum += want[i]
			write(rings[i%2], uint64(i+1), uint64(1e6*float64(i)), uint64(1e9*want[i]), 8)
			var load event.Slot
			ringtest.SetHeader(&load, event.Load, event.Local, 0, int32(i))
			load[event.WordValue] = math.Float64bits(want[i])
			if summed {
				load[event.WordValue] = math.Float64bits(sum)
			}
			rings[i*7%3%2].Push(&load, nil)
			for _, r := range rings {
				var end event.Slot
				ringtest.SetHeader(&end, event.WaitEnd, event.Local, 0, 0)
				r.Push(&end, nil)
			}
		}
		s.Drain()
		s.Drain()
		got := s.Loads()
		if len(got) != iterations {
			t.Fatalf("%s: %d loads of %d", name, len(got), iterations)
		}
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-9) {
				t.Errorf("%s: iteration %d: %v s, want %v", name, i, got[i], want[i])
			}
		}
	}
}

// Writers and a reader at once; run under the race detector.
func TestConcurrent(t *testing.T) {
	const tasks = 3000
	rings := []*ringtest.Ring{ringtest.New(1 << 8), ringtest.New(1 << 14)}
	s := session.New(session.Options{Rings: these(rings...), Config: settings(t, nil), Clock: ticking()})
	var writers sync.WaitGroup
	for lane, r := range rings {
		writers.Go(func() {
			for i := range uint64(tasks) {
				write(r, uint64(lane+1)<<40|i+1, i*1000, 500, 8)
			}
		})
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			s.Drain()
			s.Flush()
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	writers.Wait()
	close(stop)
	<-done
	s.Drain()
	sum := s.Close()
	if got := sum.Created + sum.Started + sum.Ended + sum.Dropped; got != 2*3*tasks {
		t.Errorf("%d events of %d: %+v", got, 2*3*tasks, sum)
	}
}

// A task through the whole path costs a fraction of a microsecond.
func BenchmarkTask(b *testing.B) {
	c, _ := config.Read(func(string) (string, bool) { return "", false })
	now := uint64(1000)
	r := ringtest.New(1 << 14)
	s := session.New(session.Options{
		Rings: these(r), Config: c, Clock: func() (uint64, uint64) { now += 1e6; return now, now }, Symbol: func(uint64) (string, string) { return "app:work", "b1" },
		Create: func(string) (io.WriteCloser, error) { return &discard{}, nil },
	})
	b.ReportAllocs()
	i := uint64(0)
	for b.Loop() {
		i++
		write(r, i, 10_000*i, 90_000+i%8*1000+i%97, int64(100*(1+i%8)))
		if i%2048 == 0 {
			s.Drain()
		}
	}
}

// The same with two threads at once, whose runs are told in the order of time, and
// as many tasks between two readings as there are in a running program.
func BenchmarkLanes(b *testing.B) {
	c, _ := config.Read(func(string) (string, bool) { return "", false })
	now := uint64(1000)
	rings := []*ringtest.Ring{ringtest.New(1 << 14), ringtest.New(1 << 14)}
	s := session.New(session.Options{
		Rings: these(rings...), Config: c, Clock: func() (uint64, uint64) { now += 1e6; return now, now }, Symbol: func(uint64) (string, string) { return "app:work", "b1" },
		Create: func(string) (io.WriteCloser, error) { return &discard{}, nil },
	})
	at := []uint64{10_000, 60_000}
	b.ReportAllocs()
	i := uint64(0)
	for b.Loop() {
		i++
		lane := i % 2
		ns := 95_000 + i*7%11*1000 + i%97*5
		write(rings[lane], (lane+1)<<40|i, at[lane], ns, int64(100*(1+i*7%11)))
		if at[lane] += ns + 200; i%6000 == 0 {
			s.Drain()
		}
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

// Each iteration's load is forecast before it begins, and stands in the log of
// the original tool's layout.
func TestIterationForecasts(t *testing.T) {
	log := &memory{}
	r := ringtest.New(1 << 12)
	s := session.New(session.Options{
		Rings: these(r), Config: settings(t, map[string]string{"CHAMTOOL_LOG_FORMAT": "tab"}), Clock: ticking(),
		Create: func(string) (io.WriteCloser, error) { return log, nil },
	})
	s.Drain()
	at := uint64(1e6)
	for i := range uint64(20) {
		ns := 1_000_000 * (1 + i%2)
		write(r, i+1, at, ns, 8)
		at += ns + 100
		var end event.Slot
		ringtest.SetHeader(&end, event.WaitEnd, event.Local, 0, 0)
		end[event.WordTicks] = at
		r.Push(&end, nil)
		s.Drain()
	}
	s.Close()
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	for i, line := range lines[len(lines)-10:] { // odd iterations take two milliseconds
		if want := []string{"0.001000\t0.001000", "0.002000\t0.002000"}[i%2]; line != want {
			t.Errorf("line %q, want %q", line, want)
		}
	}
}

// After all tasks take twice as long, the middle error is under 15 % within 30
// tasks of each function, whatever sizes ran since.
func TestStep(t *testing.T) {
	for name, sizes := range map[string]int64{"few sizes": 8, "many sizes": 300} {
		var misses []float64
		runs, after := 0, 0
		r, draw, at := ringtest.New(1<<12), rand.New(rand.NewPCG(4, 4)), uint64(1e6)
		s := session.New(session.Options{
			Rings: these(r), Config: settings(t, nil), Clock: ticking(),
			OnRun: func(_ uint64, p perfmodel.Prediction, r task.Run) {
				if runs++; runs > 1000 {
					after++
				}
				if after > 60 && after <= 160 { // thirty of each of two functions
					misses = append(misses, math.Abs(p.Value-r.Seconds)/r.Seconds)
				}
			},
		})
		s.Drain()
		for i := range uint64(1200) {
			size := 1 + draw.Int64N(sizes)
			ns := 1e6 * math.Pow(float64(size), 1.3) * math.Exp(0.05*draw.NormFloat64())
			if i >= 1000 {
				ns *= 2
			}
			writeOf(r, 0x100+i%2, i+1, at, uint64(ns), 1000*size)
			at += uint64(ns) + 100
			s.Drain()
		}
		s.Close()
		if m := stats.Median(misses); m > 0.15 {
			t.Errorf("%s: the middle error after the step is %.1f %%", name, 100*m)
		}
	}
}
