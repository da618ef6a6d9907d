package job

import (
	"cmp"
	"maps"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/balance"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/uncertainty"
)

// LostTime breaks a job's thread time into computing, waiting and avoidable imbalance. Times are in
// seconds, of all threads together unless stated otherwise.
type LostTime struct {
	Wall        float64      `json:"wall_seconds"` // of the iterations, of the slowest rank
	Threads     int          `json:"threads"`      // of all ranks
	Processors  int          `json:"processors"`   // that these can run on at once; 0 if the graph is unknown
	Computing   float64      `json:"computing_seconds"`
	Waiting     float64      `json:"waiting_seconds"`   // in taskwaits and barriers, with nothing to run
	Imbalance   float64      `json:"created_imbalance"` // mean over iterations of max/mean - 1 of the loads that the ranks created
	Saving      *Saving      `json:"perfect_balance"`   // nil without an iteration that came to its end
	Function    *UnevenLoad  `json:"worst_function"`    // nil where one worker did it all
	Size        *UnevenLoad  `json:"worst_size"`        // of that function
	Graph       *Graph       `json:"graph"`             // nil if the runtime does not report the graph of tasks
	Order       *Order       `json:"order"`             // nil if the runtime reports the graph, or the log does not tell when tasks were created
	Granularity *Granularity `json:"granularity"`       // nil if the graph is unknown, or no other depth saves a tenth of the wall time
	Rounds      []RankRound  `json:"each"`              // by iteration and rank
	ByThread    []Thread     `json:"by_thread"`         // of a job of one rank
}

// RankRound is an iteration on a rank.
type RankRound struct {
	Iteration int     `json:"iteration"`
	Rank      int     `json:"rank"`
	Wall      float64 `json:"wall_seconds"`
	Computing float64 `json:"computing_seconds"`
	Waiting   float64 `json:"waiting_seconds"`
	Created   int     `json:"created"`
	Executed  int     `json:"executed"`
	Sent      int     `json:"sent_tasks"`
	Received  int     `json:"received_tasks"`
	longest   float64 // task
	path      float64 // longest time from the beginning to a creation, and of the task
	creating  float64 // time from the beginning to the last creation
	outside   float64 // wall time of all threads that is neither computing nor waiting
}

// Order bounds the time of iterations whose tasks depend on nothing but their creation: a task
// starts when the code before its creation has run. Times are in seconds.
type Order struct {
	Work        float64 `json:"work"` // in tasks, and before the last creation on each rank
	Span        float64 `json:"span"` // of the iterations: until a task was created, and of the task
	Parallelism float64 `json:"parallelism"`
}

// add adds an iteration on all ranks.
func (o *Order) add(round []RankRound) {
	path := 0.0
	for _, r := range round {
		path = max(path, r.path)
		if r.path > 0 {
			o.Work += r.Computing + r.creating
		}
	}
	o.Span += path
}

// Saving holds the wall time that perfect balance would save: the tasks of all ranks are spread
// evenly over all threads, the time outside of tasks stays as on the rank with the most of it,
// and no iteration is shorter than its longest task. If the graph of tasks is known, an
// iteration takes its span or an even share of its work, whichever is longer.
type Saving struct {
	Seconds float64 `json:"seconds"`
	Low     float64 `json:"low_seconds"` // nine times of ten, over iterations drawn again; with a graph 0, since busier threads can slow one another
	High    float64 `json:"high_seconds"`
	Share   float64 `json:"share"` // of the wall time
	// AtMost says that tasks depend on one another or create others, in an order that the
	// logs do not contain: Seconds and High are upper bounds then, and Low is 0.
	AtMost bool `json:"at_most"`
}

// UnevenLoad is tasks whose time is spread unevenly over the ranks, or the threads of
// one: Seconds is the sum over iterations of the most of a worker less the mean.
type UnevenLoad struct {
	Function string  `json:"function"`
	Sizes    string  `json:"sizes"` // empty for all
	Seconds  float64 `json:"seconds"`
}

// Thread holds the load of one thread of a job of one rank.
type Thread struct {
	Lane      int     `json:"lane"`
	Executed  int     `json:"executed"`
	Computing float64 `json:"computing_seconds"`
	Other     float64 `json:"other_seconds"` // of the wall time
}

// lostTime adds up where the time went.
func (j *Job) lostTime() LostTime {
	var l LostTime
	l.Rounds = j.rounds()
	for _, one := range j.Ranks {
		if one.Summary != nil {
			l.Threads += int(one.Summary.Threads)
		}
	}
	l.Threads = max(l.Threads, len(j.Ranks))
	var saved []float64
	var order Order
	graphs, created := j.graphs(), j.createdLoads()
	var walls []float64
	for _, round := range rounds(l.Rounds) {
		wall, outside, computing, longest := 0.0, 0.0, 0.0, 0.0
		for _, r := range round {
			wall, longest, outside = max(wall, r.Wall), max(longest, r.longest), max(outside, r.outside)
			computing += r.Computing
			l.Waiting += r.Waiting
		}
		order.add(round)
		l.Computing += computing
		l.Wall += wall
		l.Imbalance += balance.Imbalance(created[round[0].Iteration])
		walls = append(walls, wall)
		saved = append(saved, max(0, wall-max(longest, outside+computing/float64(l.Threads))))
	}
	if len(saved) > 0 {
		l.Imbalance /= float64(len(saved))
		if len(j.Ranks) == 1 || !j.isOpenMP() { // OpenMP moves no tasks between ranks
			l.Saving = saving(saved, l.Wall)
		}
		if len(graphs) == len(walls) {
			run := recordedRun{rounds: graphs, walls: walls, threads: l.Threads, processors: j.processors(l.Threads)}
			l.Saving, l.Graph, l.Processors = run.balanced(), run.graph(j.Ranks[0].Summary), run.processors
		}
		if l.Graph == nil && l.Saving != nil && slices.ContainsFunc(j.Ranks, func(r Rank) bool { return r.Summary != nil && r.Summary.Bound }) {
			l.Saving.AtMost, l.Saving.Low = true, 0
		}
	}
	if l.Graph != nil && j.Ranks[0].Summary.Tree != nil {
		l.Granularity = granularity(j.Ranks[0].Summary.Tree, l.Graph.Graph, l.Wall, len(walls), l.Processors)
	}
	if l.Graph == nil && order.Span > 0 && l.Saving != nil && !l.Saving.AtMost {
		order.Parallelism = order.Work / order.Span
		l.Order = &order
	}
	l.findUneven(j)
	l.addThreads(j)
	return l
}

// isOpenMP reports whether an OpenMP runtime ran the tasks.
func (j *Job) isOpenMP() bool {
	return slices.ContainsFunc(j.Ranks, func(r Rank) bool { return r.Summary != nil && r.Summary.Dialect == event.OpenMP.String() })
}

// rounds returns the iterations in a rank's summary, with the runs of its log.
func (r *Rank) rounds() []RankRound {
	if r.Summary == nil {
		return nil
	}
	out := make([]RankRound, len(r.Summary.Rounds))
	from := 0.0
	begins := make([]float64, len(out))
	for i := range r.Log.Rows {
		if start := r.Log.Rows[i].Start; i == 0 || start < from {
			from = start
		}
	}
	for i, told := range r.Summary.Rounds {
		out[i] = RankRound{Iteration: i, Rank: r.Rank, Wall: max(0, told.End-from), Waiting: told.Waiting, Created: told.Created, Sent: told.Sent}
		begins[i] = from
		from = max(from, told.End)
	}
	for n := range r.Log.Rows {
		row := &r.Log.Rows[n]
		if row.Iteration >= len(out) {
			continue
		}
		o := &out[row.Iteration]
		o.Computing += row.Seconds
		o.longest = max(o.longest, row.Seconds)
		if row.Queue != nil && row.Flag == event.Local.String() {
			o.created(max(0, row.Start-*row.Queue-begins[row.Iteration]), row.Seconds)
		}
		o.Executed++
		if row.Flag != "local" {
			o.Received++
		}
	}
	for i, span := range r.Summary.Rounds {
		if b := span.Unlogged; b != nil {
			o := &out[i]
			o.Computing, o.longest = o.Computing+b.Seconds, max(o.longest, b.Longest)
			o.Executed, o.Received = o.Executed+b.Count, o.Received+b.Remote
		}
	}
	for i := range out {
		out[i].outside = max(0, float64(r.Summary.Threads)*out[i].Wall-out[i].Computing-out[i].Waiting)
	}
	return out
}

// created adds a task that was created some seconds after the beginning.
func (r *RankRound) created(after, seconds float64) {
	r.path = max(r.path, after+seconds)
	r.creating = max(r.creating, after)
}

// rounds cuts what is in the order of iterations into iterations.
func rounds(each []RankRound) [][]RankRound {
	var out [][]RankRound
	for from := 0; from < len(each); {
		to := from
		for to < len(each) && each[to].Iteration == each[from].Iteration {
			to++
		}
		out = append(out, each[from:to])
		from = to
	}
	return out
}

// rounds returns the iterations of all ranks with a summary, ordered by iteration.
func (j *Job) rounds() []RankRound {
	var each []RankRound
	for _, one := range j.Ranks {
		each = append(each, one.rounds()...)
	}
	slices.SortStableFunc(each, func(a, b RankRound) int { return cmp.Compare(a.Iteration, b.Iteration) })
	return each
}

// origins returns the indexes in Ranks of the ranks that created the tasks, by rank and row. A
// log does not contain the origin of a task that came: of the ranks that gave tasks away in
// that iteration it is the one that creates such tasks most often.
func (j *Job) origins() [][]int {
	gave := map[int][]int{} // by iteration and place
	for _, e := range j.rounds() {
		if gave[e.Iteration] == nil {
			gave[e.Iteration] = make([]int, len(j.Ranks))
		}
		i := slices.IndexFunc(j.Ranks, func(r Rank) bool { return r.Rank == e.Rank })
		gave[e.Iteration][i] = e.Sent
	}
	creates := j.creationShares()
	out := make([][]int, len(j.Ranks))
	var kinds kindNames
	for i, one := range j.Ranks {
		out[i] = make([]int, len(one.Log.Rows))
		for n := range one.Log.Rows {
			row := &one.Log.Rows[n]
			out[i][n] = i
			if row.Flag != "local" {
				out[i][n] = likelyOrigin(gave[row.Iteration], creates[kinds.name(row)], i)
			}
		}
	}
	return out
}

// kindNames names what tasks of one function and of equal sizes share. Equal names share memory.
type kindNames struct {
	names map[string]string
	text  []byte
}

func (k *kindNames) name(r *task.Row) string {
	k.text = append(append(k.text[:0], r.Entry...), ' ')
	k.text = r.Sizes.AppendText(k.text)
	name, ok := k.names[string(k.text)]
	if !ok {
		if k.names == nil {
			k.names = map[string]string{}
		}
		name = string(k.text)
		k.names[name] = name
	}
	return name
}

// creationShares returns the shares that each kind has of the tasks that a rank created and ran
// itself, by kind and place. A job of one rank has none.
func (j *Job) creationShares() map[string][]float64 {
	out := map[string][]float64{}
	if len(j.Ranks) < 2 {
		return out
	}
	var kinds kindNames
	for i, one := range j.Ranks {
		for n := range one.Log.Rows {
			row := &one.Log.Rows[n]
			if row.Flag != "local" {
				continue
			}
			k := kinds.name(row)
			if out[k] == nil {
				out[k] = make([]float64, len(j.Ranks))
			}
			out[k][i] += 1 / float64(len(one.Log.Rows))
		}
	}
	return out
}

// likelyOrigin is the rank that a task most likely came from, and takes it off what that
// gave: of those that have tasks left to give, the one that creates such tasks most;
// the one where it ran where none has any left.
func likelyOrigin(gave []int, creates []float64, ran int) int {
	best := -1
	likely := func(i int) float64 {
		if creates == nil {
			return 0
		}
		return creates[i]
	}
	for i, n := range gave {
		if n > 0 && i != ran && (best < 0 || cmp.Or(cmp.Compare(likely(i), likely(best)), cmp.Compare(n, gave[best])) > 0) {
			best = i
		}
	}
	if best < 0 {
		return ran
	}
	gave[best]--
	return best
}

// createdLoads are the loads of the iterations by place, had nothing moved.
func (j *Job) createdLoads() map[int][]float64 {
	loads, origins := map[int][]float64{}, j.origins()
	for i, one := range j.Ranks {
		for n := range one.Log.Rows {
			row := &one.Log.Rows[n]
			if loads[row.Iteration] == nil {
				loads[row.Iteration] = make([]float64, len(j.Ranks))
			}
			loads[row.Iteration][origins[i][n]] += row.Seconds
		}
	}
	return loads
}

// severalIterations is the least number of iterations that are drawn again for an interval.
const severalIterations = 10

// saving adds up what iterations save. Of few iterations the interval is that of Student, of a
// single one it reaches from 0 to the wall time.
func saving(saved []float64, wall float64) *Saving {
	sum := func(s []float64) (total float64) {
		for _, x := range s {
			total += x
		}
		return total
	}
	s := &Saving{Seconds: sum(saved)}
	n := float64(len(saved))
	if p, err := uncertainty.Student(saved, nil, 0.9); err == nil {
		s.Low, s.High = max(0, n*p.Low), min(n*p.High, wall)
	} else {
		s.Low, s.High = 0, wall
	}
	if len(saved) >= severalIterations {
		if p, err := uncertainty.Bootstrap(saved, sum, uncertainty.Resampling{Level: 0.9, Seed: 1}); err == nil {
			s.Low, s.High = max(0, p.Low), min(p.High, wall)
		}
	}
	if wall > 0 {
		s.Share = s.Seconds / wall
	}
	return s
}

// findUneven finds the function, and of it the sizes, whose time is spread worst.
func (l *LostTime) findUneven(j *Job) {
	if l.Function = j.mostUneven(nil); l.Function != nil {
		l.Size = j.mostUneven(l.Function)
	}
}

// mostUneven adds up what is spread over workers: by function, or by the sizes of one.
func (j *Job) mostUneven(of *UnevenLoad) *UnevenLoad {
	type cell struct {
		iteration, worker int
	}
	var sizes kindNames
	spread, workers := map[UnevenLoad]map[cell]float64{}, map[int]bool{}
	for _, one := range j.Ranks {
		for n := range one.Log.Rows {
			row := &one.Log.Rows[n]
			worker := one.Rank
			if len(j.Ranks) == 1 {
				worker = row.Lane
			}
			workers[worker] = true
			key := UnevenLoad{Function: row.Entry}
			if of != nil {
				if key.Function != of.Function {
					continue
				}
				key.Sizes = sizes.name(row)[len(row.Entry)+1:]
			}
			if spread[key] == nil {
				spread[key] = map[cell]float64{}
			}
			spread[key][cell{row.Iteration, worker}] += row.Seconds
		}
	}
	var worst *UnevenLoad
	for key, cells := range spread {
		most, sum := map[int]float64{}, 0.0
		for c, seconds := range cells {
			most[c.iteration] = max(most[c.iteration], seconds)
			sum += seconds
		}
		key.Seconds = -sum / float64(max(1, len(workers)))
		for _, i := range slices.Sorted(maps.Keys(most)) {
			key.Seconds += most[i]
		}
		if worst == nil || key.Seconds > worst.Seconds || key.Seconds == worst.Seconds && key.Function+key.Sizes < worst.Function+worst.Sizes {
			worst = &key
		}
	}
	if len(workers) < 2 {
		return nil
	}
	return worst
}

// addThreads adds the loads by thread of a job of one rank.
func (l *LostTime) addThreads(j *Job) {
	if len(j.Ranks) != 1 {
		return
	}
	lanes := map[int]*Thread{}
	for n := range j.Ranks[0].Log.Rows {
		row := &j.Ranks[0].Log.Rows[n]
		t := lanes[row.Lane]
		if t == nil {
			t = &Thread{Lane: row.Lane}
			lanes[row.Lane] = t
		}
		t.Executed++
		t.Computing += row.Seconds
	}
	if s := j.Ranks[0].Summary; s != nil && s.Unlogged != nil {
		for lane, b := range s.Unlogged.Threads {
			if lanes[lane] == nil {
				lanes[lane] = &Thread{Lane: lane}
			}
			lanes[lane].Executed += b.Count
			lanes[lane].Computing += b.Seconds
		}
	}
	for _, lane := range slices.Sorted(maps.Keys(lanes)) {
		lanes[lane].Other = max(0, l.Wall-lanes[lane].Computing)
		l.ByThread = append(l.ByThread, *lanes[lane])
	}
}
