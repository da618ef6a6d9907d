package main

// #include "tool.h"
import "C"

import (
	"math"
	"sync"
	"time"
	"unsafe"

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

// answer answers a question of the library.
func (c *consumer) answer(question unsafe.Pointer) {
	q := (*C.struct_question)(question)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(q.words)), int(q.local+q.stolen))
	switch q.what {
	case C.ASK_LOAD:
		q.n = C.int32_t(c.loadOf(words[:q.local], words[q.local:]))
	case C.ASK_MOVES:
		q.n = C.int32_t(c.choose(ints(q.loads, c.ranks), words, ints(q.chosen, len(words)), ints(q.ranks, len(words))))
	case C.ASK_SECONDS:
		q.seconds = C.double(c.session.Seconds([]uint64{uint64(q.token)})[0])
	case C.ASK_TRAIN: // once, when TIME2TRAIN iterations have ended; the models learn all the time
		if q.mode == taskByTask || len(c.session.Loads()) >= 2 {
			q.n = 1
		}
	case C.ASK_PREDICT:
		q.n = C.int32_t(c.predict(int(q.mode), unsafe.Slice((*float64)(unsafe.Pointer(q.values)), int(q.room))))
	case C.ASK_TASKS_PER_RANK:
		q.n = C.int32_t(c.tasksPerRank())
	}
}

// ints returns C's array as a slice; it is C's memory.
func ints(p *C.int32_t, n int) []int32 { return unsafe.Slice((*int32)(unsafe.Pointer(p)), n) }

// loadOf returns the predicted microseconds of the queued tasks; those that came
// carry their seconds with them.
func (c *consumer) loadOf(own, came []uint64) int {
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
func (c *consumer) choose(load []int32, tokens []uint64, chosen, to []int32) int {
	if c.rank >= len(load) {
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

// The modes of the patched library's prediction.
const (
	nextIteration = 1
	allIterations = 2
	taskByTask    = 3
)

// predict fills in what the mode asks for: the next load, the loads of all
// iterations, or the seconds of each local task.
func (c *consumer) predict(mode int, values []float64) int {
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
func (c *consumer) tasksPerRank() int {
	if c.rank < len(c.config.TasksPerRank) {
		return c.config.TasksPerRank[c.rank]
	}
	return len(c.session.PredictAnnounced())
}
