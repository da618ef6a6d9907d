package main

import (
	"math"
	"sync"
	"time"

	"github.com/foretime/foretime/chamtool/internal/balance"
)

// The decisions that the library asks for, on its communication thread. Loads
// go through the library as microseconds, since they are 32-bit integers.

const microseconds = 1e6

// moveSeconds is the cost of moving one task; a task that saves less is not moved.
const moveSeconds = 1e-4

func toLoad(seconds float64) int {
	return int(math.Min(math.Max(seconds*microseconds, 0), math.MaxInt32))
}

// loadOf returns the predicted microseconds of the queued tasks; those that came
// carry their seconds with them.
func loadOf(own, came []uint64) int {
	c := running.Load()
	if c == nil {
		return len(own) + len(came)
	}
	sum := 0.0
	for _, s := range c.session.Seconds(own) {
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
	return c.session.Seconds([]uint64{token})[0]
}

// decisions holds the state that this rank keeps between two decisions.
type decisions struct {
	mu  sync.Mutex
	way balance.InTransit
}

// transfers returns the tasks that this rank should give away now. The caller holds the lock.
func (c *consumer) transfers(load []int32, now float64) []balance.Transfer {
	loads := make([]float64, len(load))
	for i, l := range load {
		loads[i] = float64(l) / microseconds
	}
	c.decisions.way.AddTo(loads, now)
	s := balance.Situation{
		Loads: loads, Workers: c.session.Threads(), TaskSeconds: c.session.MeanSeconds(),
		MoveSeconds: moveSeconds, Every: c.decisions.way.SinceLast(now),
	}
	return balance.TransfersFrom(c.rank, s.Transfers())
}

// choose writes the tasks to give away, as indexes of tokens, and the ranks that get them.
func choose(load []int32, tokens []uint64, chosen, to []int32) int {
	c := running.Load()
	if c == nil || c.rank >= len(load) {
		return 0
	}
	c.decisions.mu.Lock()
	defer c.decisions.mu.Unlock()
	times := c.session.Seconds(tokens)
	now := time.Since(c.began).Seconds()
	moves := balance.Moves(times, c.transfers(load, now), moveSeconds, c.config.MovesAtOnce)
	for n, m := range moves {
		chosen[n], to[n] = int32(m.Task), int32(m.To)
		c.decisions.way.Send(now, m.To, times[m.Task])
	}
	return len(moves)
}

// train answers once, when the library has seen as many iterations as its own
// TIME2TRAIN says. The models learn all the time, so there is nothing to do but look.
func train(iteration, mode int) bool {
	c := running.Load()
	return c != nil && (mode == taskByTask || len(c.session.Loads()) >= 2)
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
		return copy(values, c.session.Forecast(1))
	case allIterations:
		known := c.session.Loads()
		n := copy(values, known)
		if most := min(c.config.Iterations, len(values)); n < most {
			n += copy(values[n:most], c.session.Forecast(most-n))
		}
		return n
	case taskByTask:
		return copy(values, c.session.PredictAnnounced())
	}
	return 0
}

// tasksPerRank returns this rank's number in TASKS_PER_RANK, or the number of tasks that it
// created in an iteration so far.
func tasksPerRank(int) int {
	c := running.Load()
	if c == nil {
		return 0
	}
	if c.rank < len(c.config.TasksPerRank) {
		return c.config.TasksPerRank[c.rank]
	}
	return len(c.session.PredictAnnounced())
}
