package main

import (
	"math"
	"sync"
	"time"

	"github.com/foretime/foretime/chamtool/balance"
)

// The decisions that the library asks for, on its communication thread. Loads
// go through the library as microseconds, since they are 32-bit integers.

const microseconds = 1e6

func toLoad(seconds float64) int {
	return int(math.Min(math.Max(seconds*microseconds, 0), math.MaxInt32))
}

// loadOf is the predicted microseconds of the queued tasks; those that came
// carry their seconds with them.
func loadOf(own, came []uint64) int {
	c := running.Load()
	if c == nil {
		return len(own) + len(came)
	}
	sum := 0.0
	for _, s := range c.session.Seconds(own, c.attach) {
		sum += s
	}
	for _, word := range came {
		s := math.Float64frombits(word)
		if !(s > 0 && s < 1e6) { // it has started, or came without
			s = c.session.MeanSeconds()
		}
		sum += s
	}
	return toLoad(sum)
}

func secondsOf(token uint64) float64 {
	c := running.Load()
	if c == nil {
		return 0
	}
	return c.session.Seconds([]uint64{token}, c.attach)[0]
}

// transfers is what this rank is to give now, by the offload table.
func (c *consumer) transfers(load []int32) []balance.Transfer {
	loads, mean := make([]float64, len(load)), 0.0
	for i, l := range load {
		loads[i] = float64(l) / microseconds
		mean += loads[i] / float64(len(load))
	}
	c.way.addTo(loads)
	cost := c.config.MigrationCost.Seconds()
	var own []balance.Transfer
	// A receiver is given a quarter of what is left on average, and at least
	// what it works off until the decision after the next; see package simulate
	// for what that is worth.
	horizon := max(mean/4, 4*c.session.MeanSeconds()+cost, c.way.sinceLast()*2*float64(c.session.Threads()))
	for _, t := range balance.Stock(balance.Table(loads, cost), loads, horizon) {
		if t.From == c.rank {
			own = append(own, t)
		}
	}
	return own
}

// onTheWay is what was sent so lately that the receivers' loads do not show it
// yet.
type onTheWay struct {
	mu      sync.Mutex
	sent    []parcel
	decided time.Time // when the last decision was asked for
}

// sinceLast is the seconds since the last decision, without end at the first.
func (w *onTheWay) sinceLast() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.decided
	w.decided = time.Now()
	if before.IsZero() {
		return math.Inf(1)
	}
	return w.decided.Sub(before).Seconds()
}

type parcel struct {
	at      time.Time
	to      int
	seconds float64
}

// shown is how long a parcel takes to be in the receiver's load.
const shown = 10 * time.Millisecond

func (w *onTheWay) add(to int, seconds float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, parcel{time.Now(), to, seconds})
}

func (w *onTheWay) addTo(loads []float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.sent[:0]
	for _, p := range w.sent {
		if time.Since(p.at) < shown {
			loads[p.to] += p.seconds
			kept = append(kept, p)
		}
	}
	w.sent = kept
}

// offload tells how many tasks to give to each rank.
func offload(counts, load []int32, local int) {
	c := running.Load()
	if c == nil || c.rank >= len(load) || len(counts) != len(load) {
		return
	}
	each := c.session.MeanSeconds()
	for _, t := range c.transfers(load) {
		n := min(int(t.Now/each), local)
		counts[t.To] = int32(n)
		local -= n
		c.way.add(t.To, float64(n)*each)
	}
}

// choose tells which tasks to give to which rank: places in tokens.
func choose(load []int32, tokens []uint64, chosen, to []int32) (n int) {
	c := running.Load()
	if c == nil || c.rank >= len(load) {
		return 0
	}
	times := c.session.Seconds(tokens, c.attach)
	sent := make([]int, len(load))
	for _, t := range c.transfers(load) {
		picked := balance.Pick(times, t, c.config.MigrationCost.Seconds())
		for _, i := range picked[:min(len(picked), c.config.MovesAtOnce-sent[t.To])] {
			sent[t.To]++
			chosen[n], to[n] = int32(i), int32(t.To)
			n++
			c.way.add(t.To, times[i])
			times[i] = 0 // no later transfer picks it
		}
	}
	return n
}

// train is asked once, when the library has seen enough iterations. The models
// learn all the time, so there is nothing to do but look.
func train(iteration, mode int) bool {
	c := running.Load()
	return c != nil && (mode == taskByTask || len(c.session.Loads(c.attach)) >= 2)
}

// The modes of the patched library's prediction.
const (
	nextIteration = 1
	allIterations = 2
	taskByTask    = 3
)

// predict fills in what the mode asks for: the next load, the loads of all
// iterations, or the seconds of each local task.
func predict(iteration, mode int, values []float64) int {
	c := running.Load()
	if c == nil {
		return 0
	}
	switch mode {
	case nextIteration:
		return copy(values, c.session.Forecast(1, c.attach))
	case allIterations:
		known := c.session.Loads(c.attach)
		n := copy(values, known)
		if most := min(c.config.Iterations, len(values)); n < most {
			n += copy(values[n:most], c.session.Forecast(most-n, c.attach))
		}
		return n
	case taskByTask:
		return copy(values, c.session.Announced(c.attach))
	}
	return 0
}

// tasksPerRank is what TASKS_PER_RANK says of this rank, else what it created
// in an iteration so far.
func tasksPerRank(int) int {
	c := running.Load()
	if c == nil {
		return 0
	}
	if c.rank < len(c.config.TasksPerRank) {
		return c.config.TasksPerRank[c.rank]
	}
	return len(c.session.Announced(c.attach))
}
