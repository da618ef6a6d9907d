package replay_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/replay"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

func log(t *testing.T, text string) *task.Log {
	t.Helper()
	l, err := task.ReadLog(strings.NewReader(text), "log", task.Options{Format: task.FormatTab})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func tables(logs ...*task.Log) (out []*replay.Table) {
	for _, l := range logs {
		table := replay.NewTable(l.Name)
		for i := range l.Rows {
			table.Add(&l.Rows[i])
		}
		out = append(out, table)
	}
	return out
}

// A log of two sizes is predicted from the tenth run on, and each log is a
// rank that learns by itself.
func TestRun(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "%d\t%d\t0\t%.6f\t0\n", i, 1000*(1+i%2), 0.001*float64(1+i%2))
	}
	l := log(t, b.String())
	r, err := replay.Run(t.Context(), tables(l, l), replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Tasks != 1000 || r.Test != 980 || r.Train != 20 || *r.MAPE > 0.5 || r.Unseen.Test != 0 {
		t.Errorf("%+v", r)
	}
}

func TestNoRuns(t *testing.T) {
	l := log(t, "1.5\t0\n")
	if _, err := replay.Run(t.Context(), tables(l), replay.Options{}); !errors.Is(err, replay.ErrNoRuns) {
		t.Error(err)
	}
}

// Cores that change their frequency: times that follow it are predicted by it,
// and those that do not are left as they are.
func TestFrequency(t *testing.T) {
	median := func(follows bool) (speed, history float64) {
		var b strings.Builder
		for i := range 2000 {
			mhz, seconds := []float64{1200, 3000, 2000}[i%37%3], 0.010*float64(1+i%2)
			if follows {
				seconds *= 3000 / mhz
			}
			fmt.Fprintf(&b, "%d\t%d\t%f\t%.6f\t0\n", i, 1000*(1+i%2), mhz, seconds*(1+0.02*math.Sin(float64(i))))
		}
		r, err := replay.Run(t.Context(), tables(log(t, b.String())), replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return float64(*r.MedianAPE), float64(*r.Baselines["history"].MedianAPE)
	}
	if speed, history := median(true); speed > 6 || history < 20 {
		t.Errorf("median error %.1f %%, of the plain median %.1f %%", speed, history)
	}
	if speed, history := median(false); speed > history+0.5 {
		t.Errorf("median error %.1f %% where times do not follow, of the plain median %.1f %%", speed, history)
	}
}

// play replays a log in the CSV layout.
func play(t *testing.T, text string) *replay.Outcome {
	t.Helper()
	l, err := task.ReadLog(strings.NewReader(text), "log", task.Options{Format: task.FormatCSV})
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Run(t.Context(), tables(l), replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Objects that each have a load of their own and are seen once a phase, with no
// size that tells them apart: what all objects taught of the models holds for
// each, so that ours is as good as the best plain rule, whichever that is.
func TestManyObjects(t *testing.T) {
	const many = 300
	for _, growth := range []float64{0, 0.1} {
		random := rand.New(rand.NewPCG(1, 1))
		loads := make([]float64, many)
		for i := range loads {
			loads[i] = 0.01 * math.Exp(0.8*random.NormFloat64())
		}
		r := play(t, objects(many, 4, func(object, phase int) float64 {
			return loads[object] * math.Exp(0.05*random.NormFloat64()) * math.Pow(1+growth, float64(phase))
		}))
		best := min(float64(*r.Baselines["history"].MedianAPE), float64(*r.Baselines["last_value"].MedianAPE))
		if got := float64(*r.MedianAPE); got > 1.05*best || r.Coverage == nil || float64(*r.Coverage) < 0.85 || float64(*r.Coverage) > 0.97 {
			t.Errorf("growth %v: median error %.2f %%, the better plain rule %.2f %%, coverage %v", growth, got, best, r.Coverage)
		}
	}
}

// objects is a log of objects that are a function each, without sizes, and run once
// a phase; load is the seconds of one in a phase.
func objects(n, phases int, load func(object, phase int) float64) string {
	var b strings.Builder
	b.WriteString(task.LogHeader)
	at := 0.0
	for phase := range phases {
		begun := at
		for i := range n {
			seconds := load(i, phase)
			fmt.Fprintf(&b, "%d,0,local,object%d,,0,,%.9f,%.9f,%.9f,,,\n", phase, i, at, at-begun, seconds)
			at += seconds
		}
	}
	return b.String()
}

// When the machine becomes twice as slow, ten functions that run tell of it for the
// hundreds that have not run since.
func TestStepOfManyFunctions(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	base := make([]float64, 200)
	for i := range base {
		base[i] = 0.001 * math.Exp(random.NormFloat64())
	}
	l, err := task.ReadLog(strings.NewReader(objects(200, 8, func(object, phase int) float64 {
		slow := 1.0
		if phase >= 4 {
			slow = 2
		}
		return base[object] * slow * math.Exp(0.03*random.NormFloat64())
	})), "log", task.Options{Format: task.FormatCSV})
	if err != nil {
		t.Fatal(err)
	}
	var misses []float64
	_, err = replay.Run(t.Context(), tables(l), replay.Options{OnPrediction: func(predicted uncertainty.Prediction, actual float64) {
		misses = append(misses, math.Abs(predicted.Value-actual)/actual)
	}})
	if err != nil {
		t.Fatal(err)
	}
	misses = misses[len(misses)-4*200+10 : len(misses)-3*200] // after ten tasks of the slow phase
	if middle, most := stats.Median(misses), stats.Quantile(misses, 0.95); middle > 0.06 || most > 0.15 {
		t.Errorf("after the step: %.3f in the middle, %.3f at 95 of 100", middle, most)
	}
}

// A first phase that sets objects up takes a dozen times as long; the last value
// repeats that for every object, and ours for a few.
func TestSetUpPhase(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	base := make([]float64, 150)
	for i := range base {
		base[i] = 0.001 * math.Exp(random.NormFloat64())
	}
	r := play(t, objects(150, 8, func(object, phase int) float64 {
		if phase == 0 {
			return 12 * base[object] * math.Exp(0.2*random.NormFloat64())
		}
		return base[object] * math.Exp(0.05*random.NormFloat64())
	}))
	last, plain := r.Baselines["last_value"], r.Baselines["history"]
	if float64(*r.WAPE) > 0.35*float64(min(*last.WAPE, *plain.WAPE)) || float64(*r.MedianAPE) > 1.1*float64(min(*last.MedianAPE, *plain.MedianAPE)) {
		t.Errorf("WAPE %.1f, median %.2f %%; last value %.1f, %.2f; plain median %.1f, %.2f", *r.WAPE, *r.MedianAPE, *last.WAPE, *last.MedianAPE, *plain.WAPE, *plain.MedianAPE)
	}
}

// An iteration far away is as near as the next one.
func TestFarIteration(t *testing.T) {
	text := task.LogHeader
	for i := range 40 {
		text += fmt.Sprintf("%d,0,local,f,8,0,,%.3f,0,0.001,,,\n", i/20*4_000_000_000, 0.002*float64(i))
	}
	if r := play(t, text); r.Tasks != 40 || r.Test != 30 {
		t.Errorf("%d tasks, %d judged", r.Tasks, r.Test)
	}
}

// The rules that predictions are held against know what had ended when a task
// started, and no more: of two tasks that run at once neither knows the other.
func TestBaselinesDoNotLookAhead(t *testing.T) {
	text := task.LogHeader
	for i := range 200 { // pairs of equal length, each pair another one
		seconds := []float64{0.001, 0.004}[i/2%2]
		text += fmt.Sprintf("0,%d,local,f,8,%d,,%.4f,0,%.4f,,,\n", i%2, i%2, 0.005*float64(i/2)+0.0001*float64(i%2), seconds)
	}
	r := play(t, text)
	if last := r.Baselines["last_value"]; !(math.Abs(float64(*last.MAPE)-(300+75)/2) <= 1) {
		t.Errorf("the last value misses by %.1f %%, want all of it", *last.MAPE)
	}
	if mean := r.Baselines["starpu"]; !(math.Abs(float64(*mean.MAPE)-(150+37.5)/2) <= 30) {
		t.Errorf("the mean misses by %.1f %%", *mean.MAPE)
	}
}

// Threads that share a core are stopped amid a task, for many times its length,
// and often amid the next one too. Whoever expects the next stall is right half of
// the time, and answers fifty times too much in the other half; no choice of
// models may lose to the plain median there by more than half (three to eight times
// without the guard).
func TestStalls(t *testing.T) {
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		b.WriteString(task.LogHeader)
		at, slow, stall := 0.0, 1.0, 1.0
		for i := range 2000 {
			if random.Float64() < 0.03 { // the core's other thread came or went
				slow = []float64{1, 1.3}[random.IntN(2)]
			}
			if again := stall > 1; random.Float64() < 0.08 || again && random.Float64() < 0.5 {
				stall = 10 * math.Exp(2*random.Float64())
			} else {
				stall = 1
			}
			seconds := 0.0005 * slow * stall * math.Exp(0.02*random.NormFloat64())
			fmt.Fprintf(&b, "%d,0,local,f,80000,0,,%.9f,%.9f,%.9f,,,\n", i/100, at, at, seconds)
			at += seconds
		}
		r := play(t, b.String())
		plain := r.Baselines["history"]
		if r.MAPE == nil || float64(*r.MAPE) > 1.5*float64(*plain.MAPE) || float64(*r.MedianAPE) > 1.1*float64(*plain.MedianAPE) {
			t.Errorf("seed %d: MAPE %.1f, median %.2f %%; the plain median %.1f, %.2f %%", seed, *r.MAPE, *r.MedianAPE, *plain.MAPE, *plain.MedianAPE)
		}
	}
}

// Threads whose cores differ, as a mobile processor's do: a task's time is told by
// which of them runs it.
func TestWorkers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString(task.LogHeader)
	var free [4]float64 // when each thread is done
	for i := range 2000 {
		lane := 0
		for k, at := range free {
			if at < free[lane] {
				lane = k
			}
		}
		size := []int{10_000, 40_000, 90_000}[random.IntN(3)]
		seconds := 1e-8 * float64(size) * []float64{1, 1, 1.8, 0.7}[lane] * math.Exp(0.03*random.NormFloat64())
		fmt.Fprintf(&b, "%d,%d,local,f,%d,0,,%.9f,%.9f,%.9f,,,\n", i/200, lane, size, free[lane], free[lane], seconds)
		free[lane] += seconds
	}
	r := play(t, b.String())
	if got, plain := float64(*r.MedianAPE), float64(*r.Baselines["history"].MedianAPE); got > 5 || plain < 8 {
		t.Errorf("median error %.1f %%, of the plain median %.1f %%", got, plain)
	}
}

// The worker decides the time of one function and chance that of the other: each function is
// served by its own experts.
func TestFunctionsOfTwoKinds(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	var b strings.Builder
	b.WriteString(task.LogHeader)
	var free [2]float64 // when each thread is done
	for i := range 6000 {
		lane := 0
		if free[1] < free[0] {
			lane = 1
		}
		seconds := 1e-3 * math.Exp(0.4*random.NormFloat64())
		if i%2 == 0 {
			seconds = 1e-3 * []float64{2, 1}[lane] * math.Exp(0.05*random.NormFloat64())
		}
		fmt.Fprintf(&b, "%d,%d,local,f%d,1000,0,,%.9f,%.9f,%.9f,,,\n", i/200, lane, i%2, free[lane], free[lane], seconds)
		free[lane] += seconds
	}
	r := play(t, b.String())
	if got, plain := float64(*r.MAPE), float64(*r.Baselines["history"].MAPE); got > 0.85*plain {
		t.Errorf("MAPE %.1f %%, of the plain median %.1f %%", got, plain)
	}
}

// Of a log of 400 runs whose times double in the middle, the second half alone is scored.
func TestSkip(t *testing.T) {
	text := task.LogHeader
	for i := range 400 {
		text += fmt.Sprintf("0,0,local,f,8,0,,%.4f,,%.4f,,,\n", 0.01*float64(i), 0.001*float64(1+i/200))
	}
	l, err := task.ReadLog(strings.NewReader(text), "log", task.Options{Format: task.FormatCSV})
	if err != nil {
		t.Fatal(err)
	}
	scored := 0
	r, err := replay.Run(t.Context(), tables(l), replay.Options{Skip: 0.5, OnPrediction: func(_ uncertainty.Prediction, actual float64) {
		if scored++; actual != 0.002 {
			t.Errorf("a run of %v s was scored", actual)
		}
	}})
	if err != nil || r.Test != 200 || scored != 200 || r.Train != 200 {
		t.Fatalf("%+v, %d scored, %v", r, scored, err)
	}
	for _, skip := range []float64{-0.1, 1, math.NaN()} {
		if _, err := replay.Run(t.Context(), tables(l), replay.Options{Skip: skip}); !errors.Is(err, replay.ErrFraction) {
			t.Errorf("skip %v: %v", skip, err)
		}
	}
}

// Wrong start times put all runs at once on one thread: none has ended when another starts.
func TestOverlap(t *testing.T) {
	text := task.LogHeader + strings.Repeat("0,0,local,f,8,0,,0.5,,1,,,\n", 3000)
	l, err := task.ReadLog(strings.NewReader(text), "log", task.Options{Format: task.FormatCSV})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Run(t.Context(), tables(l), replay.Options{}); !errors.Is(err, replay.ErrUnpredicted) {
		t.Error(err)
	}
}

// The memory of a replay stays below 200 bytes a run.
func TestMemory(t *testing.T) {
	const runs = 200_000
	table := replay.NewTable("log")
	at := 0.0
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range runs {
		seconds := 1e-4 * float64(1+i%7)
		queue := 1e-5
		table.Add(&task.Row{Iteration: i / 1000, Lane: i % 2, Flag: "local", Entry: "f", Sizes: task.Sizes{int64(i % 7)}, Start: at, Seconds: seconds, Queue: &queue})
		at += seconds
	}
	most := uint64(0)
	_, err := replay.Run(t.Context(), []*replay.Table{table}, replay.Options{Progress: func(n int) {
		if n > runs-50 && most == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			most = after.HeapAlloc - before.HeapAlloc
		}
	}})
	if err != nil || most == 0 || most > 200*runs {
		t.Errorf("%d bytes a run, %v", most/runs, err)
	}
}

// The tiles of a factorisation carry the indices of their loops, so no sizes run twice. On
// shared cores several tasks are stopped together, for many times their length, and the tasks
// after them are not. No rule may be a tenth better.
func TestStallsOfNewSizes(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 5))
		var b strings.Builder
		b.WriteString(task.LogHeader)
		var free [4]float64 // when each thread is done
		slow, stopped := 1.0, 0
		for i := range 4000 {
			lane := 0
			for k, at := range free {
				if at < free[lane] {
					lane = k
				}
			}
			if random.IntN(100) == 0 {
				slow = 1 + random.Float64()
			}
			seconds := 0.0005 * slow * math.Exp(0.04*random.NormFloat64())
			if stopped > 0 || random.IntN(60) == 0 {
				stopped = (stopped + 1) % 4 // four in a row
				seconds += 0.004 + 0.02*random.Float64()
			}
			fmt.Fprintf(&b, "0,%d,local,tile,%d %d %d,0,,%.9f,%.9f,%.9f,,,\n", lane, i/400, i/20%20, i%20+i/400, free[lane], free[lane], seconds)
			free[lane] += seconds
		}
		r := play(t, b.String())
		plain, last := r.Baselines["history"], r.Baselines["last_value"]
		if float64(*r.MAPE) > 1.1*float64(*plain.MAPE) || float64(*r.MedianAPE) > 1.1*float64(*last.MedianAPE) {
			t.Errorf("seed %d: MAPE %.1f, median %.2f %%; the plain median %.1f, %.2f %%; the last value %.1f, %.2f %%", seed, *r.MAPE, *r.MedianAPE, *plain.MAPE, *plain.MedianAPE, *last.MAPE, *last.MedianAPE)
		}
	}
}
