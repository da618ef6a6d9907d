package job

import (
	"cmp"
	"fmt"
	"slices"
)

// Loss is thread time in which no task computed.
type Loss struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // of all threads together
	Share   float64 `json:"share"`   // of the time of all threads
	Advice  string  `json:"advice"`
}

const (
	// shortTask is the median time, in seconds, below which creating and scheduling a task
	// with LLVM's runtime costs as much as the task itself.
	shortTask = 2e-6
	// chained is the parallelism per thread below which waiting comes from the graph of tasks.
	chained = 1.5
	// notable is the least share of the threads' time that is a loss.
	notable = 0.01
)

// Losses returns where the threads' time went other than into tasks, most first: waiting
// with nothing to run, and everything outside of tasks and waits, which is serial code,
// and the creation and scheduling of tasks.
func (f Figures) Losses() []Loss {
	all := float64(f.Lost.Threads) * f.Lost.Wall
	if !(all > 0) {
		return nil
	}
	waiting := Loss{Name: "threads wait with nothing to run", Seconds: f.Lost.Waiting, Advice: "more tasks at a time, or a more even spread"}
	if u := f.Lost.Function; u != nil {
		waiting.Advice += ": the tasks of " + u.Function + " are the most uneven"
	}
	if g := f.Lost.Graph; g != nil && g.Parallelism < chained*float64(f.Lost.Threads) {
		waiting.Advice = fmt.Sprintf("the longest chain of tasks takes %.3g of %.3g s of work, so %.3g threads have work on average: break it up", g.Span, g.Work, g.Parallelism)
	}
	outside := Loss{Name: "outside of tasks: serial code, creating tasks", Seconds: max(0, all-f.Lost.Computing-f.Lost.Waiting), Advice: "let tasks do what one thread does between them"}
	if fn := shortest(f.Functions); fn != nil {
		outside.Advice = fmt.Sprintf("fewer, larger tasks: %s has %d of %.2g µs in the middle, and each takes %.2g µs of thread time outside of tasks", fn.Name, fn.Tasks, *fn.Median*1e6, 1e6*outside.Seconds/float64(f.Tasks))
	}
	losses := slices.DeleteFunc([]Loss{waiting, outside}, func(l Loss) bool { return l.Seconds < notable*all })
	for i := range losses {
		losses[i].Share = losses[i].Seconds / all
	}
	slices.SortStableFunc(losses, func(a, b Loss) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return losses
}

// shortest returns the function with the most tasks that are short, or nil.
func shortest(functions []Function) *Function {
	var most *Function
	for i := range functions {
		if f := &functions[i]; f.Median != nil && *f.Median < shortTask && (most == nil || f.Tasks > most.Tasks) {
			most = f
		}
	}
	return most
}
