package job

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/foretime/foretime/shared/plural"
)

// Loss is thread time in which no task computed.
type Loss struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // of all threads together
	Share   float64 `json:"share"`   // of the time of all threads
	Advice  string  `json:"advice"`
}

const (
	// shortTaskSeconds is the median time, in seconds, below which creating and scheduling a task
	// with LLVM's runtime costs as much as the task itself.
	shortTaskSeconds = 2e-6
	// chainParallelism is the parallelism per thread below which waiting comes from the graph of tasks.
	chainParallelism = 1.5
	// minLossShare is the least share of the threads' time that is a loss.
	minLossShare = 0.01
)

// Losses returns the thread time that no task used, largest first: waiting with nothing to run,
// threads without a processor, handing tasks over, and everything outside of tasks and waits,
// which is serial code and the creation of tasks. Without a graph the first three are one.
func (f Figures) Losses() []Loss {
	all := float64(f.Lost.Threads) * f.Lost.Wall
	if !(all > 0) {
		return nil
	}
	losses := append(f.waits(), f.outside(all))
	for i := range losses { // waits may begin before the first task does
		losses[i].Seconds = min(losses[i].Seconds, all)
	}
	losses = slices.DeleteFunc(losses, func(l Loss) bool { return l.Seconds < minLossShare*all })
	for i := range losses {
		losses[i].Share = losses[i].Seconds / all
	}
	slices.SortStableFunc(losses, func(a, b Loss) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return losses
}

// waits splits the time in taskwaits and barriers.
func (f Figures) waits() []Loss {
	idle := Loss{Name: "threads wait with nothing to run", Seconds: f.Lost.Waiting, Advice: "more tasks at a time, or a more even spread"}
	if u := f.Lost.Function; u != nil {
		idle.Advice += ": the tasks of " + u.Function + " are the most uneven"
	}
	if fn := f.shortest(); fn != nil {
		idle.Advice = fmt.Sprintf("fewer, larger tasks: tasks of %.2g µs end faster than others are created", fn.typicalSeconds()*1e6)
	}
	g := f.Lost.Graph
	if g == nil {
		return []Loss{idle}
	}
	over := Loss{Name: "handing over tasks that were ready", Seconds: min(g.Overhead, idle.Seconds)}
	over.Advice = fmt.Sprintf("fewer, larger tasks: each costs %.3g µs of thread time to hand over", 1e6*over.Seconds/float64(max(1, f.Tasks)))
	idle.Seconds -= over.Seconds
	if g.Parallelism < chainParallelism*float64(f.Lost.Threads) { // tasks that were created were not ready
		enough := max(1, int(g.Parallelism+0.5))
		idle.Advice = fmt.Sprintf("the longest chain takes %.3g of %.3g s of work, which on average is enough for %s: break it up", g.Span, g.Work, plural.Count(enough, "thread"))
		if enough < f.Lost.Threads {
			idle.Advice += ", or use fewer threads"
		}
		return []Loss{idle, over}
	}
	stalls := Loss{Name: "threads stopped while tasks were ready", Seconds: min(g.Stalls, idle.Seconds)}
	idle.Seconds -= stalls.Seconds
	if stalls.Advice = "stop other programs on these processors"; f.Lost.Processors < f.Lost.Threads {
		stalls.Advice = fmt.Sprintf("%d threads share %s: set OMP_NUM_THREADS=%d", f.Lost.Threads, plural.Count(f.Lost.Processors, "processor"), f.Lost.Processors)
	}
	return []Loss{idle, over, stalls}
}

// outside returns the time outside of tasks and waits.
func (f Figures) outside(all float64) Loss {
	l := Loss{Name: "outside of tasks: serial code, creating tasks", Seconds: max(0, all-f.Lost.Computing-f.Lost.Waiting), Advice: "let tasks do what one thread does between them"}
	if fn := f.shortest(); fn != nil {
		l.Advice = fmt.Sprintf("fewer, larger tasks: %s has %d of %.2g µs, and each takes %.2g µs of thread time outside of tasks", fn.Name, fn.Tasks, fn.typicalSeconds()*1e6, 1e6*l.Seconds/float64(max(1, f.Tasks)))
	}
	return l
}

// shortest returns the function with the most short tasks, if most tasks are short.
func (f Figures) shortest() *Function {
	var most *Function
	tasks := 0
	for i := range f.Functions {
		fn := &f.Functions[i]
		if fn.typicalSeconds() >= shortTaskSeconds {
			continue
		}
		if tasks += fn.Tasks; most == nil || fn.Tasks > most.Tasks {
			most = fn
		}
	}
	if 2*tasks <= f.Tasks {
		return nil
	}
	return most
}

// typicalSeconds returns the median time of a task, or the mean of a function without rows.
func (f *Function) typicalSeconds() float64 {
	if f.Median != nil {
		return *f.Median
	}
	return f.Seconds / float64(max(1, f.Tasks))
}
