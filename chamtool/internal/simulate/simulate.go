package simulate

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/balance"
)

// Policy is a way to balance.
type Policy string

// The ways to balance.
const (
	None      Policy = "none"
	Reactive  Policy = "reactive"  // a task at an exchange from each longer queue to a shorter one, as the runtime does
	Proactive Policy = "proactive" // the offload table over predicted seconds
)

// Parameters say how moving tasks goes. Times are in seconds.
type Parameters struct {
	MigrationCost  float64 // of the sender's communication thread a task
	MigrationDelay float64 // from sent to there
	Interval       float64 // between exchanges of loads; 0 is two milliseconds, as the runtime does on a busy machine, or less for short programs
}

// usualInterval is the seconds between two exchanges of loads in the runtime.
const usualInterval = 0.002

// simulation is the state of an iteration. Tasks are numbers.
type simulation struct {
	p                 Parameters
	policy            Policy
	taskSeconds       float64   // mean
	actual, predicted []float64 // seconds of each task
	ranks             []rank
	events            events
	sequence          int
	now, last         float64
	open              int // tasks not ended
	migrations        int
}

type rank struct {
	movable  []int32 // tasks that may leave, in the order they run
	received []int32 // tasks that came and stay; they run first
	workers  int     // threads
	running  int     // tasks, at most one a worker
	waiting  float64 // predicted seconds in movable and received
	coming   float64 // predicted seconds on their way here
	sender   float64 // when the communication thread is free
}

// What happens.
const (
	ended = iota
	arrived
	exchange
)

type event struct {
	at       float64
	sequence int
	kind     int
	rank     int
	task     int32
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(e[i].at, e[j].at), cmp.Compare(e[i].sequence, e[j].sequence)) < 0
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

func (s *simulation) schedule(seconds float64, e event) {
	e.at, e.sequence = seconds, s.sequence
	s.sequence++
	heap.Push(&s.events, e)
}

func (s *simulation) play(ctx context.Context) error {
	if s.policy == Proactive {
		s.table() // before anything runs
	}
	for i := range s.ranks {
		s.next(i)
	}
	if s.policy != None {
		s.schedule(s.p.Interval, event{kind: exchange})
	}
	for n := 0; s.open > 0; n++ {
		if n%16 == 0 && ctx.Err() != nil { // an exchange of thousands of ranks takes milliseconds
			return ctx.Err()
		}
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		switch e.kind {
		case ended:
			s.end(e.rank)
		case arrived:
			s.arrive(e.rank, e.task)
		case exchange:
			if s.policy == Reactive {
				s.react()
			} else {
				s.table()
			}
			s.schedule(s.nextExchange(), event{kind: exchange})
		}
	}
	return nil
}

// nextExchange returns the time of the next exchange of loads. If nothing happens for a
// thousand intervals, they are skipped, since no exchange would change anything.
func (s *simulation) nextExchange() float64 {
	next := s.now + s.p.Interval
	if len(s.events) == 0 {
		return next
	}
	if quiet := s.events[0].at - s.now; quiet > 1000*s.p.Interval {
		return s.events[0].at
	}
	return next
}

// next lets a rank begin its next tasks, if it has any.
func (s *simulation) next(i int) {
	r := &s.ranks[i]
	var task int32
	for r.running < r.workers {
		switch {
		case len(r.received) > 0:
			task, r.received = r.received[0], r.received[1:]
		case len(r.movable) > 0:
			task, r.movable = r.movable[0], r.movable[1:]
		default:
			return
		}
		r.running++
		r.waiting -= s.predicted[task]
		s.schedule(s.now+s.actual[task], event{kind: ended, rank: i, task: task})
	}
}

func (s *simulation) end(i int) {
	r := &s.ranks[i]
	r.running--
	s.open--
	s.last = s.now
	s.next(i)
}

func (s *simulation) arrive(i int, task int32) {
	r := &s.ranks[i]
	r.coming -= s.predicted[task]
	r.waiting += s.predicted[task]
	r.received = append(r.received, task)
	s.next(i)
}

// send moves a task that is no longer in its rank's queue.
func (s *simulation) send(from, to int, task int32) {
	f := &s.ranks[from]
	f.sender = max(f.sender, s.now) + s.p.MigrationCost
	s.ranks[to].coming += s.predicted[task]
	s.migrations++
	s.schedule(f.sender+s.p.MigrationDelay, event{kind: arrived, rank: to, task: task})
}

// table moves tasks by the offload table, as the tool does in the real runtime: a rank's load
// is its waiting tasks and those on their way, without the running ones.
func (s *simulation) table() {
	situation := balance.Situation{
		Loads: make([]float64, len(s.ranks)), Workers: s.ranks[0].workers, TaskSeconds: s.taskSeconds,
		MoveSeconds: s.p.MigrationCost + s.p.MigrationDelay, Every: s.p.Interval,
	}
	for i := range s.ranks {
		situation.Loads[i] = s.ranks[i].waiting + s.ranks[i].coming
	}
	transfers := situation.Transfers()
	slices.SortStableFunc(transfers, func(a, b balance.Transfer) int { return cmp.Compare(a.From, b.From) })
	for len(transfers) > 0 {
		from, n := transfers[0].From, 1
		for n < len(transfers) && transfers[n].From == from {
			n++
		}
		s.give(from, transfers[:n])
		transfers = transfers[n:]
	}
}

// give sends the tasks that make up one rank's transfers.
func (s *simulation) give(from int, transfers []balance.Transfer) {
	r := &s.ranks[from]
	times := make([]float64, len(r.movable))
	for i, task := range r.movable {
		times[i] = s.predicted[task]
	}
	moves := balance.Moves(times, transfers, s.p.MigrationCost, -1)
	for _, m := range moves {
		task := r.movable[m.Task]
		r.movable[m.Task] = -1
		r.waiting -= s.predicted[task]
		s.send(from, m.To, task)
	}
	if len(moves) > 0 {
		r.movable = slices.DeleteFunc(r.movable, func(task int32) bool { return task < 0 })
	}
}

// The runtime's own settings by their defaults: the tasks by which queues must
// differ, and that a giver must have (MIN_ABS_LOAD_IMBALANCE_BEFORE_MIGRATION,
// MIN_LOCAL_TASKS_IN_QUEUE_BEFORE_MIGRATION), and the share
// (MIN_REL_LOAD_IMBALANCE_BEFORE_MIGRATION).
const leastDifference, leastShare = 2, 0.05

// react pairs the longest queues with the shortest and moves a task of each pair
// that differs, as the runtime does: it knows counts alone, and sends one task at
// an exchange (MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE).
func (s *simulation) react() {
	order := make([]int, len(s.ranks))
	for i := range order {
		order[i] = i
	}
	queued := func(i int) int { return len(s.ranks[i].movable) + len(s.ranks[i].received) }
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(queued(b), queued(a)), cmp.Compare(a, b)) })
	for i, k := 0, len(order)-1; i < k; i, k = i+1, k-1 {
		from, to := order[i], order[k]
		r := &s.ranks[from]
		difference := queued(from) - queued(to)
		if difference < leastDifference || float64(difference) < leastShare*float64(queued(from)) || len(r.movable) < leastDifference || r.sender > s.now {
			continue
		}
		task := r.movable[len(r.movable)-1] // that would run last
		r.movable = r.movable[:len(r.movable)-1]
		r.waiting -= s.predicted[task]
		s.send(from, to, task)
	}
}
