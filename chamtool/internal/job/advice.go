package job

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/shared/plural"
)

const (
	// shortTaskSeconds is the median time, in seconds, below which creating and scheduling a task
	// with LLVM's runtime costs as much as the task itself.
	shortTaskSeconds = 2e-6
	// shortRegionSeconds is the time of a region in which its threads wait for one another about
	// as long as they compute.
	shortRegionSeconds = 2e-5
	// chainParallelism is the parallelism per thread below which waiting comes from the graph of tasks.
	chainParallelism = 1.5
	// lockAdvice is for locks that threads wait for.
	lockAdvice = "one thread at a time passes there (critical, ordered, a lock): hold it for less work, or give threads results of their own (reduction) or each part of the data its own lock"
	// evenBalance is the balance from which loads count as even.
	evenBalance = 0.95
)

// advise returns the name of a loss and one way to make it smaller.
func (f *Figures) advise(j *Job, p *lostPlace) (name, advice string) {
	place := cmp.Or(p.place, "other places")
	switch p.kind {
	case event.Computing.String():
		return "not running in " + place, f.processorAdvice(j)
	case event.Serial.String():
		advice = fmt.Sprintf("one of %s computes there: let more of it run in parallel", plural.Count(f.mostThreads(), "thread"))
		if p.place == "" {
			return "one thread after the last region", advice
		}
		return "one thread before " + place, advice
	case event.InMPI.String():
		return "in MPI at " + place, f.mpiAdvice(j, p)
	}
	if p.kind == event.Locked.String() {
		return "waiting for the lock at " + place, lockAdvice
	}
	region := j.region(p.place)
	if region.runs > 0 {
		place = "the end of " + place
	}
	return "waiting at " + place, f.waitAdvice(j, region)
}

// mostThreads returns the most threads of a rank.
func (f *Figures) mostThreads() (most int) {
	for _, r := range f.Times.Ranks {
		most = max(most, r.Thread)
	}
	return most
}

// findCrowding returns how to give each thread a processor, "" if all have one.
func (f *Figures) findCrowding(j *Job) string {
	threads := map[string]int{}
	for _, r := range f.Times.Ranks {
		s := j.rankSummary(r.Rank)
		threads[s.Host] += r.Thread
		if s.Processors == 0 || r.Thread <= s.Processors {
			continue
		}
		share := fmt.Sprintf("%d threads share %s: ", r.Thread, plural.Count(s.Processors, "processor"))
		if len(j.Ranks) > 1 && s.Online > s.Processors {
			return share + "the launcher binds each rank; start the ranks with mpirun --bind-to none, or with as many processors as threads each"
		}
		return share + fmt.Sprintf("set OMP_NUM_THREADS=%d", s.Processors)
	}
	for _, r := range f.Times.Ranks {
		s := j.rankSummary(r.Rank)
		if s.Online > 0 && threads[s.Host] > s.Online {
			return fmt.Sprintf("%d threads of %s share %s: start fewer ranks there, or set a smaller OMP_NUM_THREADS", threads[s.Host], plural.Count(len(j.Ranks), "rank"), plural.Count(s.Online, "processor"))
		}
	}
	return ""
}

// processorAdvice returns what may have stopped threads, which the CPU time does not tell.
func (f *Figures) processorAdvice(j *Job) string {
	if advice := f.findCrowding(j); advice != "" {
		return advice
	}
	for _, r := range f.Times.Ranks {
		s := j.rankSummary(r.Rank)
		if s.Others != nil && *s.Others+float64(r.Thread) > float64(s.Online) {
			return fmt.Sprintf("the threads slept, or waited for a file, a lock of the system or a processor, of which other programs kept %.2g of %d busy", *s.Others, s.Online)
		}
		if s.Others == nil {
			return "the threads slept, or waited for a processor, a file or a lock of the system"
		}
	}
	return "the threads slept, or waited for a file, a lock of the system or memory that is touched for the first time"
}

// mpiAdvice returns what makes waiting in MPI at a place shorter.
func (f *Figures) mpiAdvice(j *Job, p *lostPlace) string {
	t := f.Times
	if t.Efficiency == nil {
		return "it is unknown whether the ranks are even: " + j.missing()
	}
	if t.RankBalance >= evenBalance {
		if crowded := f.findCrowding(j); crowded != "" {
			return crowded
		}
		return "the ranks are even: fewer and larger messages, or calls that do not block while threads compute"
	}
	load := func(r ThreadTime) float64 { return r.Useful / float64(r.Thread) }
	most := slices.MaxFunc(t.Ranks, func(a, b ThreadTime) int { return cmp.Compare(load(a), load(b)) })
	if 2*p.ranks[most.Rank] > p.seconds {
		return fmt.Sprintf("mostly rank %d waits there, which also computes most: for something else than the work of another rank", most.Rank)
	}
	return fmt.Sprintf("the ranks wait for rank %d, whose threads compute %.3g s on average, those of all ranks %.3g s: give it less of the data, or more threads", most.Rank, load(most), t.RankBalance*load(most))
}

// region sums up the runs of a parallel region on all ranks.
type region struct {
	runs    int     // of one thread
	loop    bool    // it has a work-sharing loop
	dynamic bool    // whose schedule is known not to be static
	single  bool    // it has a single construct
	longest float64 // seconds that one thread computed in it
	balance float64 // least of the ranks: mean over most of the seconds of their threads
}

// region returns the parallel region at a place, which has no runs if none is there.
func (j *Job) region(place string) region {
	r := region{balance: 1}
	for _, rank := range j.Ranks {
		var most, sum float64
		threads := 0
		for _, t := range rank.Summary.Times {
			if t.Kind != event.Computing.String() || t.Place != place {
				continue
			}
			r.runs = max(r.runs, t.Count)
			r.loop = r.loop || t.Loop
			r.dynamic = r.dynamic || t.Dynamic
			r.single = r.single || t.Single
			most = max(most, t.Seconds-t.Stopped)
			sum += t.Seconds - t.Stopped
			threads++
		}
		r.longest = max(r.longest, most)
		if most > 0 {
			r.balance = min(r.balance, sum/float64(threads)/most)
		}
	}
	return r
}

// waitAdvice returns what makes waiting in barriers and for tasks shorter.
func (f *Figures) waitAdvice(j *Job, r region) string {
	if crowded := f.findCrowding(j); crowded != "" {
		return crowded
	}
	if f.Tasks > 0 {
		return f.taskAdvice()
	}
	switch mean := r.longest / float64(max(1, r.runs)); {
	case r.runs > 0 && mean < shortRegionSeconds:
		return fmt.Sprintf("each of %d runs computes for %.2g µs, about what a barrier takes: one region around several of them, or fewer threads (num_threads)", r.runs, 1e6*mean)
	case r.dynamic:
		return "a smaller chunk in the schedule clause of the loop"
	case r.loop && r.balance < evenBalance:
		return fmt.Sprintf("the same thread always has the most work (balance %.2f): schedule(dynamic) or schedule(guided) for the loop", r.balance)
	case r.loop:
		return "another thread is late each time: schedule(dynamic), and no other programs on these processors"
	case r.single:
		return "one thread executes the single construct meanwhile: divide it into tasks, or add nowait"
	}
	return "spread the work between the barriers more evenly over the threads"
}

// taskAdvice returns what makes threads wait less for tasks.
func (f *Figures) taskAdvice() string {
	if fn := f.shortest(); fn != nil {
		if depth := f.enoughDepth(); depth > 0 {
			all := f.Depths[depth-1]
			return fmt.Sprintf("fewer, larger tasks: create them only down to depth %d, where there are %d of %.3g ms with all below them; those of %s take %.2g µs", depth, all.Tasks, 1e3*f.workFrom(depth)/float64(all.Tasks), fn.Name, fn.typicalSeconds()*1e6)
		}
		return fmt.Sprintf("fewer, larger tasks: the %d of %s take %.2g µs, about what creating one takes", fn.Tasks, fn.Name, fn.typicalSeconds()*1e6)
	}
	g := f.Lost.Graph
	if g != nil && g.Parallelism < chainParallelism*float64(f.Lost.Threads) { // tasks that were created were not ready
		enough := max(1, int(g.Parallelism+0.5))
		advice := fmt.Sprintf("the longest chain takes %.3g of %.3g s of work, which on average is enough for %s: break it up", g.Span, g.Work, plural.Count(enough, "thread"))
		if enough < f.Lost.Threads && !g.Loops {
			advice += ", or use fewer threads"
		}
		return advice
	}
	if u := f.Lost.Function; u != nil {
		return "more tasks at a time, or a more even spread: the tasks of " + u.Function + " are the most uneven"
	}
	return "more tasks at a time, or a more even spread"
}

const (
	// enoughTasks is the number of tasks for each thread and iteration that leave none idle for long.
	enoughTasks = 16
	// longTaskSeconds is the time of a task of which creating it is a small part.
	longTaskSeconds = 5e-5
)

// enoughDepth returns the least depth with enough tasks for all threads, of which each has enough
// work; 0 if there is none, or none below it.
func (f *Figures) enoughDepth() int {
	for depth := 1; depth < len(f.Depths); depth++ {
		tasks := f.Depths[depth-1].Tasks
		if tasks >= enoughTasks*f.Lost.Threads*max(1, f.Iterations) && f.workFrom(depth) >= longTaskSeconds*float64(tasks) {
			return depth
		}
	}
	return 0
}

// workFrom returns the seconds of the tasks from a depth on.
func (f *Figures) workFrom(depth int) (seconds float64) {
	for _, d := range f.Depths[depth-1:] {
		seconds += d.Work
	}
	return seconds
}

// Losses returns the thread time in which nothing was computed, largest first. Without the
// times of threads it has the waits for tasks only.
func (f Figures) Losses() []Loss {
	if f.Times != nil {
		return f.Times.Losses
	}
	all := float64(f.Lost.Threads) * f.Lost.Wall
	if !(f.Lost.Waiting >= minLossShare*all) || all == 0 {
		return nil
	}
	waiting := min(f.Lost.Waiting, all) // waits may begin before the first task does
	return []Loss{{Name: "threads wait with nothing to run", Seconds: waiting, Share: waiting / all, Advice: f.taskAdvice()}}
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
		tasks += fn.Tasks
		if most == nil || fn.Tasks > most.Tasks {
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
