package follow

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/history"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/progress"
)

// TestTrackerPast follows a job of 20 units of 0.3 s and a teardown of 4 s: the past runs
// tell the teardown, also when the last unit is done.
func TestTrackerPast(t *testing.T) {
	var at []float64
	for i := range 20 {
		at = append(at, 1+0.3*float64(i+1))
	}
	run := history.Run{Marks: ends(20, at...), Units: 20, Seconds: at[19] + 4, SameScript: true}
	for _, runs := range []int{0, 1, 3, 12} {
		tr := Tracker{Job: estimate.Job{Epochs: 20}}
		for range runs {
			tr.Past.Runs = append(tr.Past.Runs, run)
		}
		u, _, err := tr.Estimate(ends(20, at[:10]...))
		if err != nil || u.Total == nil {
			t.Fatal(err, u)
		}
		want := at[19]
		if runs > 0 {
			want += 4
		}
		if math.Abs(u.Total.Value-want) > 0.05 || !u.Total.Contains(want) {
			t.Errorf("%d past runs: %+v, want %v", runs, u.Total, want)
		}
		u, updated, err := tr.Estimate(ends(20, at...))
		if err != nil || !updated || (u.Left != nil) != (runs > 0) || u.Left != nil && math.Abs(u.Left.Value-4) > 1e-9 {
			t.Errorf("%d past runs, all units done: %+v, left %+v: %v", runs, u, u.Left, err)
		}
		tr.Ended = true
		if u, _, _ := tr.Estimate(ends(20, at...)); u.Left == nil || u.Left.Value != 0 {
			t.Errorf("%d past runs, ended: %+v", runs, u.Left)
		}
	}
}

// TestTrackerPastDiffers corrects a run whose work trebles late by runs that did the same.
func TestTrackerPastDiffers(t *testing.T) {
	course := func(unit float64) []float64 {
		var at []float64
		now := 0.0
		for i := range 40 {
			if now += unit; i >= 30 {
				now += 2 * unit
			}
			at = append(at, now)
		}
		return at
	}
	tr := Tracker{Job: estimate.Job{Epochs: 40}}
	for i := range 10 {
		at := course(1 + 0.01*float64(i))
		tr.Past.Runs = append(tr.Past.Runs, history.Run{Block: strconv.Itoa(i), Marks: ends(40, at...), Units: 40, Seconds: at[39]})
	}
	at := course(1.04)
	u, _, err := tr.Estimate(ends(40, at[:12]...))
	if err != nil || !u.Total.Contains(at[39]) || math.Abs(u.Total.Value/at[39]-1) > 0.1 {
		t.Errorf("%+v, took %v: %v", u.Total, at[39], err)
	}
}

// TestTrackerExpect predicts a run by the durations of past ones before it shows progress.
func TestTrackerExpect(t *testing.T) {
	tr := Tracker{}
	if u, ok := tr.Expect(3); ok {
		t.Errorf("without a past: %+v", u)
	}
	tr.Past.Runs = []history.Run{{Seconds: 60}, {Seconds: 62}}
	u, ok := tr.Expect(10)
	if !ok || math.Abs(u.Total.Value-61) > 1 || math.Abs(u.Left.Value-51) > 1 || !u.Total.Contains(66) {
		t.Errorf("after 10 s: %+v, total %+v", u, u.Total)
	}
	u, updated, err := tr.Estimate(ends(20, 5))
	if err != nil || !updated || u.Total == nil || math.Abs(u.Total.Value-61) > 1 {
		t.Errorf("after one unit: %+v: %v", u, err)
	}
}

// TestTrackerEarlyStop follows a run of at most 100 units; two of three past runs ended by
// themselves after 40 and 50 of them.
func TestTrackerEarlyStop(t *testing.T) {
	var at []float64
	for i := range 100 {
		at = append(at, float64(i+1))
	}
	tr := Tracker{Job: estimate.Job{Epochs: 100}}
	for i, units := range []int{40, 50, 100} {
		run := history.Run{Block: strconv.Itoa(i), Marks: ends(100, at[:units]...), Units: float64(units), Seconds: at[units-1]}
		if units < 100 {
			run.Stopped = 100
		}
		tr.Past.Runs = append(tr.Past.Runs, run)
	}
	for _, tt := range []struct {
		done       int
		value, low float64 // the least low end
	}{{20, 50, 40}, {45, 100, 50}, {60, 100, 98}} {
		u, _, err := tr.Estimate(ends(100, at[:tt.done]...))
		if err != nil || u.Total == nil || math.Abs(u.Total.Value-tt.value) > 4 || u.Total.Low > tt.low+1 || u.Total.High < 99 {
			t.Errorf("after %d units: total %+v, want %v from %v to 100: %v", tt.done, u.Total, tt.value, tt.low, err)
		}
	}
}

// TestOlderRun follows a run after an older one in the same log: its times count from its
// own begin, whether its first lines were there already or come.
func TestOlderRun(t *testing.T) {
	day := time.Date(2031, 6, 12, 0, 0, 0, 0, time.UTC)
	lines := func(form string, begin time.Time, each time.Duration, from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "%s INFO "+form+" loss 0.5\n", begin.Add(time.Duration(i)*each).Format("2006-01-02 15:04:05.000"), i)
		}
		return b.String()
	}
	for _, form := range []string{"epoch %d/40", "step %d/40", "Epoch [%d/40]"} {
		for _, there := range []int{0, 10} {
			path := filepath.Join(t.TempDir(), "train.log")
			next := day.Add(5 * time.Hour)
			write(t, path, lines(form, day, time.Minute, 1, 40)+lines(form, next, 2*time.Second, 1, there))
			if there == 0 {
				before := time.Now().Add(-5 * time.Hour)
				if err := os.Chtimes(path, before, before); err != nil {
					t.Fatal(err)
				}
			}
			l := Log{Path: path, Reader: &progress.Reader{}, Every: time.Millisecond}
			looks, tr := 0, Tracker{}
			var last Update
			err := l.Read(t.Context(), func(s State) error {
				if u, updated, err := tr.Estimate(s.Marks); err != nil {
					return err
				} else if updated {
					last = u
				}
				if looks++; looks > 1 {
					return io.EOF
				}
				write(t, path, lines(form, next, 2*time.Second, there+1, 25))
				return nil
			})
			// Those that come have the clock's time.
			if err != nil || last.Done != 25 || last.Elapsed > 60 {
				t.Errorf("%s, %d there: %+v, %v", form, there, last, err)
			}
		}
	}
}

// TestTrackerOpen follows a run of 9 or 10 units: the interval has both, also after the
// ninth, and no end is said.
func TestTrackerOpen(t *testing.T) {
	tr := Tracker{Job: estimate.Job{}}
	var marks []progress.Mark
	for i := range 10 {
		marks = append(marks, progress.Mark{Number: float64(i), Of: 10, Least: 9, Seconds: 2 + 3*float64(i)})
		u, _, err := tr.Estimate(marks)
		if err != nil {
			t.Fatal(err)
		}
		if i < 4 {
			continue
		}
		if u.Total == nil || !u.Total.Contains(29) || !u.Total.Contains(32) || u.Left.Value <= 0 || u.Least != 9 {
			t.Errorf("after %d units: %+v, total %+v", i, u, u.Total)
		}
	}
}

// TestTrackerStages follows a run whose work trebles in its second half, as told: the past run
// shows the stage to come.
func TestTrackerStages(t *testing.T) {
	var at []float64
	now := 0.0
	for i := range 40 {
		now += 1
		if i >= 20 {
			now += 2
		}
		at = append(at, now)
	}
	job := estimate.Job{Epochs: 40, Stages: jobspec.Stages{{Name: "a", From: 0, To: 20}, {Name: "b", From: 20, To: 40}}}
	tr := Tracker{Job: job, Past: history.Past{Runs: []history.Run{{Block: "a", Marks: ends(40, at...), Units: 40, Seconds: now}}}}
	u, _, err := tr.Estimate(ends(40, at[:10]...))
	if err != nil || u.Total == nil || math.Abs(u.Total.Value/now-1) > 0.03 {
		t.Errorf("%+v, total %+v, want %v: %v", u, u.Total, now, err)
	}
}

// TestUnsteadyMachine follows runs of three minutes on a machine that becomes faster, slower, or
// another one and then the old one: the intervals hold the end nine times in ten at each share,
// and the misses are on both sides.
func TestUnsteadyMachine(t *testing.T) {
	for _, tt := range []struct {
		name  string
		speed func(at float64) float64 // seconds of a unit
	}{
		{"faster", func(at float64) float64 { return 1 + 0.4*math.Exp(-at/40) }},
		{"slower", func(at float64) float64 { return 1.4 - 0.4*math.Exp(-at/40) }},
		{"returns", func(at float64) float64 { return 1 + 0.25*math.Sin(at/25) }},
		{"returns from slow", func(at float64) float64 { return 1 - 0.25*math.Sin(at/25) }},
	} {
		var at []float64
		now := 0.0
		for range 180 {
			now += tt.speed(now)
			at = append(at, now)
		}
		tr := Tracker{Job: estimate.Job{Epochs: 180}}
		below, above, told := 0, 0, 0
		for done := 10; done < 180; done += 10 {
			u, _, err := tr.Estimate(ends(180, at[:done]...))
			if err != nil {
				t.Fatal(err)
			}
			if u.Total == nil || u.Refused != "" {
				continue
			}
			told++
			if now < u.Total.Low {
				below++
			}
			if now > u.Total.High {
				above++
			}
		}
		t.Logf("%s: %d intervals, the end %d times below and %d times above", tt.name, told, below, above)
		if told < 4 || 10*(below+above) > told {
			t.Errorf("%s: %d below and %d above of %d", tt.name, below, above, told)
		}
	}
}
