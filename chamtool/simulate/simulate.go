package simulate

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/foretime/foretime/chamtool/balance"
)

// ErrParameter is returned for parameters that describe no program.
var ErrParameter = errors.New("invalid parameter")

// Policy is a way to balance.
type Policy string

// The ways to balance.
const (
	None      Policy = "none"
	Reactive  Policy = "reactive"  // a task at an exchange from each longer queue to a shorter one, as the runtime does
	Steal     Policy = "steal"     // an idle rank asks the longer queue of two at random
	Proactive Policy = "proactive" // the offload table over predicted seconds
	Oracle    Policy = "oracle"    // the same with perfect predictions
)

// Policies lists the policies.
func Policies() []Policy { return []Policy{None, Reactive, Steal, Proactive, Oracle} }

// Parameters describe a program and how it is balanced.
type Parameters struct {
	Ranks          int
	TasksPerRank   int
	Imbalance      float64 // of the ranks' loads before any migration, max/mean - 1
	MigrationCost  float64 // seconds of the sender's communication thread a task
	MigrationDelay float64 // seconds from sent to there
	Error          float64 // mean error of the predictions, percent
	TaskSeconds    float64 // mean; 0 is 0.01
	Spread         float64 // standard deviation of the logarithm of task times on one rank
	Interval       float64 // seconds between exchanges of loads; 0 is two milliseconds, as the runtime does on a busy machine, or less for short programs
	Seed           uint64
	Policy         Policy
}

// Result is how the iteration went.
type Result struct {
	MakespanSeconds  float64 `json:"makespan_seconds"`
	Imbalance        float64 `json:"imbalance"` // of the work that ranks did
	Migrations       int     `json:"migrations"`
	IdealSeconds     float64 `json:"ideal_seconds"`     // the mean load
	InitialImbalance float64 `json:"initial_imbalance"` // as drawn
}

// usualInterval is the seconds between two exchanges of loads in the runtime.
const usualInterval = 0.002

// maxTasks bounds the memory of a simulation.
const maxTasks = 1 << 26

func (p *Parameters) check() error {
	if p.Policy == "" {
		p.Policy = None
	}
	switch {
	case p.Ranks < 1 || p.TasksPerRank < 1 || p.Ranks > maxTasks/p.TasksPerRank:
		return fmt.Errorf("%w: %d ranks of %d tasks: want at least one of each and at most %d tasks in all", ErrParameter, p.Ranks, p.TasksPerRank, maxTasks)
	case !slices.Contains(Policies(), p.Policy):
		return fmt.Errorf("%w: policy %q: want none, reactive, steal, proactive or oracle", ErrParameter, p.Policy)
	}
	for _, x := range []struct {
		name  string
		value float64
		most  float64
	}{
		{"imbalance", p.Imbalance, float64(p.Ranks - 1)}, {"migration cost", p.MigrationCost, 1e6}, {"migration delay", p.MigrationDelay, 1e6},
		{"error", p.Error, 1000}, {"task seconds", p.TaskSeconds, 1e6}, {"spread", p.Spread, 5}, {"interval", p.Interval, 1e6},
	} {
		if !(x.value >= 0 && x.value <= x.most) {
			return fmt.Errorf("%w: %s %v: want 0 to %v", ErrParameter, x.name, x.value, x.most)
		}
	}
	if p.TaskSeconds == 0 {
		p.TaskSeconds = 0.01
	}
	if p.Interval == 0 {
		p.Interval = min(usualInterval, 0.01*p.TaskSeconds*float64(p.TasksPerRank))
	}
	return nil
}

// Run plays the iteration. The error is the context's where that ends first.
func Run(ctx context.Context, p Parameters) (Result, error) {
	if err := p.check(); err != nil {
		return Result{}, err
	}
	s, err := draw(ctx, p)
	if err != nil {
		return Result{}, err
	}
	return s.result(ctx)
}

// result plays what was drawn or recorded.
func (s *simulation) result(ctx context.Context) (Result, error) {
	r := Result{InitialImbalance: balance.Imbalance(s.work())}
	workers := 0
	for _, one := range s.ranks {
		workers += one.workers
	}
	for _, seconds := range s.actual {
		r.IdealSeconds += seconds / float64(workers)
	}
	if err := s.play(ctx); err != nil {
		return Result{}, err
	}
	done := make([]float64, len(s.ranks))
	for i := range s.ranks {
		done[i] = s.ranks[i].did
	}
	r.MakespanSeconds, r.Imbalance, r.Migrations = s.last, balance.Imbalance(done), s.migrations
	return r, nil
}

// simulation is the state of an iteration. Tasks are numbers.
type simulation struct {
	p                 Parameters
	random            *rand.Rand
	actual, predicted []float64 // seconds of each task
	ranks             []rank
	events            events
	sequence          int
	now, last         float64
	open              int // tasks not ended
	migrations        int
}

type rank struct {
	own     []int32 // tasks that may leave, in the order they run
	came    []int32 // tasks that came and stay; they run first
	workers int     // threads
	running []run   // at most one a worker
	waiting float64 // predicted seconds in own and came
	coming  float64 // predicted seconds on their way here
	sender  float64 // when the communication thread is free
	did     float64 // seconds of work done
	asking  bool    // a steal is under way
}

// run is a task that a worker is at.
type run struct {
	task  int32
	since float64 // when it began
}

// draw makes the tasks: lognormal about a mean that differs between ranks so
// that the most loaded is the wanted imbalance above the mean.
func draw(ctx context.Context, p Parameters) (*simulation, error) {
	s := &simulation{p: p, random: rand.New(rand.NewPCG(p.Seed, 0x9e3779b97f4a7c15)), open: p.Ranks * p.TasksPerRank}
	s.actual, s.predicted = make([]float64, s.open), make([]float64, s.open)
	s.ranks = make([]rank, p.Ranks)
	factor := factors(p.Ranks, p.Imbalance)
	s.random.Shuffle(len(factor), func(i, j int) { factor[i], factor[j] = factor[j], factor[i] })
	// E|log error| of a lognormal is its sigma times sqrt(2/pi).
	sigma := math.Log1p(p.Error/100) * math.Sqrt(math.Pi/2)
	task := int32(0)
	for i := range s.ranks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := &s.ranks[i]
		r.workers = 1
		for range p.TasksPerRank {
			seconds := p.TaskSeconds * factor[i] * math.Exp(p.Spread*s.random.NormFloat64()-p.Spread*p.Spread/2)
			noise := math.Exp(sigma * s.random.NormFloat64())
			s.actual[task], s.predicted[task] = seconds, seconds*noise
			if p.Policy == Oracle {
				s.predicted[task] = seconds
			}
			r.own = append(r.own, task)
			r.waiting += s.predicted[task]
			task++
		}
	}
	return s, nil
}

// factors are positive, have mean 1 and maximum 1 + imbalance: c·v^k with v
// evenly spread.
func factors(n int, imbalance float64) []float64 {
	low, high := 0.0, 1e6
	out := make([]float64, n)
	fill := func(k float64) float64 {
		sum := 0.0
		for i := range out {
			out[i] = math.Pow((float64(i)+1)/float64(n), k)
			sum += out[i]
		}
		for i := range out {
			out[i] *= float64(n) / sum
		}
		return out[n-1] - 1
	}
	for range 100 {
		if k := (low + high) / 2; fill(k) < imbalance {
			low = k
		} else {
			high = k
		}
	}
	fill(low)
	return out
}

// work is the seconds of each rank's own tasks.
func (s *simulation) work() []float64 {
	out := make([]float64, len(s.ranks))
	for i := range s.ranks {
		for _, t := range s.ranks[i].own {
			out[i] += s.actual[t]
		}
	}
	return out
}

// What happens.
const (
	ended = iota
	arrived
	exchange
	asked // a thief's question is at its victim
)

type event struct {
	at       float64
	sequence int
	kind     int
	rank     int
	task     int32
	thief    int
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

func (s *simulation) at(seconds float64, e event) {
	e.at, e.sequence = seconds, s.sequence
	s.sequence++
	heap.Push(&s.events, e)
}

func (s *simulation) play(ctx context.Context) error {
	if s.p.Policy == Proactive || s.p.Policy == Oracle {
		s.table() // before anything runs
	}
	for i := range s.ranks {
		s.next(i)
	}
	if s.p.Policy != None && s.p.Policy != Steal {
		s.at(s.p.Interval, event{kind: exchange})
	}
	for n := 0; s.open > 0; n++ {
		if n%16 == 0 && ctx.Err() != nil { // an exchange of thousands of ranks takes milliseconds
			return ctx.Err()
		}
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		switch e.kind {
		case ended:
			s.end(e.rank, e.task)
		case arrived:
			s.arrive(e.rank, e.task)
		case exchange:
			if s.p.Policy == Reactive {
				s.react()
			} else {
				s.table()
			}
			s.at(s.nextExchange(), event{kind: exchange})
		case asked:
			s.answer(e.rank, e.thief)
		}
	}
	return nil
}

// nextExchange is when loads are exchanged again. Where nothing happens for a
// thousand intervals, no exchange would change anything: they are passed over.
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
	for len(r.running) < r.workers {
		switch {
		case len(r.came) > 0:
			task, r.came = r.came[0], r.came[1:]
		case len(r.own) > 0:
			task, r.own = r.own[0], r.own[1:]
		default:
			if s.p.Policy == Steal && !r.asking {
				s.ask(i)
			}
			return
		}
		r.running = append(r.running, run{task, s.now})
		r.waiting -= s.predicted[task]
		s.at(s.now+s.actual[task], event{kind: ended, rank: i, task: task})
	}
}

func (s *simulation) end(i int, task int32) {
	r := &s.ranks[i]
	r.did += s.actual[task]
	r.running = slices.DeleteFunc(r.running, func(one run) bool { return one.task == task })
	s.open--
	s.last = s.now
	s.next(i)
}

func (s *simulation) arrive(i int, task int32) {
	r := &s.ranks[i]
	r.asking = false
	if task < 0 { // the victim had nothing
		s.next(i)
		return
	}
	r.coming -= s.predicted[task]
	r.waiting += s.predicted[task]
	r.came = append(r.came, task)
	s.next(i)
}

// send moves a task that is no longer in its rank's queue.
func (s *simulation) send(from, to int, task int32) {
	f := &s.ranks[from]
	f.sender = max(f.sender, s.now) + s.p.MigrationCost
	s.ranks[to].coming += s.predicted[task]
	s.migrations++
	s.at(f.sender+s.p.MigrationDelay, event{kind: arrived, rank: to, task: task})
}

// left is the predicted seconds that a rank still has, what is on its way to
// it included.
func (s *simulation) left(r *rank) float64 {
	left := r.waiting + r.coming
	for _, one := range r.running {
		left += max(0, s.predicted[one.task]-(s.now-one.since))
	}
	return left
}

// table moves tasks by the offload table, as the tool does in the real runtime;
// with perfect predictions nothing needs to be held back.
func (s *simulation) table() {
	situation := balance.Situation{
		Loads: make([]float64, len(s.ranks)), Workers: s.ranks[0].workers, TaskSeconds: s.p.TaskSeconds,
		MoveSeconds: s.p.MigrationCost + s.p.MigrationDelay, Every: s.p.Interval,
	}
	for i := range s.ranks {
		situation.Loads[i] = s.left(&s.ranks[i])
	}
	transfers := situation.Transfers()
	if s.p.Policy == Oracle {
		transfers = balance.Table(situation.Loads, situation.MoveSeconds)
	}
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
	times := make([]float64, len(r.own))
	for i, task := range r.own {
		times[i] = s.predicted[task]
	}
	moves := balance.Moves(times, transfers, s.p.MigrationCost, -1)
	for _, m := range moves {
		task := r.own[m.Task]
		r.own[m.Task] = -1
		r.waiting -= s.predicted[task]
		s.send(from, m.To, task)
	}
	if len(moves) > 0 {
		r.own = slices.DeleteFunc(r.own, func(task int32) bool { return task < 0 })
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
	queued := func(i int) int { return len(s.ranks[i].own) + len(s.ranks[i].came) }
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(queued(b), queued(a)), cmp.Compare(a, b)) })
	for i, k := 0, len(order)-1; i < k; i, k = i+1, k-1 {
		from, to := order[i], order[k]
		r := &s.ranks[from]
		difference := queued(from) - queued(to)
		if difference < leastDifference || float64(difference) < leastShare*float64(queued(from)) || len(r.own) < leastDifference || r.sender > s.now {
			continue
		}
		s.sendLast(from, to)
	}
}

// sendLast moves the task that would run last.
func (s *simulation) sendLast(from, to int) {
	r := &s.ranks[from]
	task := r.own[len(r.own)-1]
	r.own = r.own[:len(r.own)-1]
	r.waiting -= s.predicted[task]
	s.send(from, to, task)
}

// ask sends an idle rank's question to the longer queue of two drawn at
// random; where both are empty it asks again later.
func (s *simulation) ask(thief int) {
	if len(s.ranks) < 2 {
		return
	}
	draw := func() int { return (thief + 1 + s.random.IntN(len(s.ranks)-1)) % len(s.ranks) }
	a, b := draw(), draw()
	if len(s.ranks[b].own) > len(s.ranks[a].own) {
		a = b
	}
	s.ranks[thief].asking = true
	s.at(s.now+max(s.p.MigrationDelay, 1e-6), event{kind: asked, rank: a, thief: thief})
}

func (s *simulation) answer(victim, thief int) {
	if len(s.ranks[victim].own) == 0 {
		s.at(s.now+max(s.p.MigrationDelay, s.p.Interval/4), event{kind: arrived, rank: thief, task: -1})
		return
	}
	s.sendLast(victim, thief)
}
