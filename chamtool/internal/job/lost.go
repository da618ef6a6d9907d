package job

import (
	"cmp"
	"maps"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/balance"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/shared/uncertainty"
)

// LostTime breaks a job's thread time into tasks, waiting and avoidable imbalance. Times are in
// seconds, of all threads together unless stated otherwise.
type LostTime struct {
	Wall      float64     `json:"wall_seconds"`      // of the iterations, of the slowest rank
	Threads   int         `json:"threads"`           // of all ranks
	Tasks     float64     `json:"task_seconds"`      // elapsed in tasks, on a processor or not
	Waiting   float64     `json:"waiting_seconds"`   // in taskwaits and barriers, with nothing to run
	Imbalance float64     `json:"created_imbalance"` // mean over iterations of max/mean - 1 of the loads that the ranks created
	Saving    *Saving     `json:"perfect_balance"`   // nil for OpenMP, and without an iteration that came to its end
	Function  *UnevenLoad `json:"worst_function"`    // nil where one worker did it all
	Graph     *Graph      `json:"graph"`             // nil if the runtime does not report the graph of tasks
	Rounds    []RankRound `json:"each"`              // by iteration and rank
}

// RankRound is an iteration on a rank.
type RankRound struct {
	Iteration int     `json:"iteration"`
	Rank      int     `json:"rank"`
	Wall      float64 `json:"wall_seconds"`
	Tasks     float64 `json:"task_seconds"`
	Waiting   float64 `json:"waiting_seconds"`
	Created   int     `json:"created"`
	Executed  int     `json:"executed"`
	Sent      int     `json:"sent_tasks"`
	longest   float64 // task
	outside   float64 // wall time of all threads in neither tasks nor waits
	ended     bool    // the rank's summary has it
}

// Saving holds the wall time that perfect balance would save: the tasks of all ranks are spread
// evenly over all threads, the time outside of tasks stays as on the rank with the most of it,
// and no iteration is shorter than its longest task.
type Saving struct {
	Seconds float64 `json:"seconds"`
	Low     float64 `json:"low_seconds"` // nine times of ten, over iterations drawn again
	High    float64 `json:"high_seconds"`
	Share   float64 `json:"share"` // of the wall time
}

// UnevenLoad is tasks whose time is spread unevenly over the ranks, or the threads of
// one: Seconds is the sum over iterations of the most of a worker less the mean.
type UnevenLoad struct {
	Function string  `json:"function"`
	Seconds  float64 `json:"seconds"`
}

// Graph sums up the graph of tasks of a job of one rank: all creations, dependences and waits that
// the OpenMP runtime reported. Times are in seconds.
type Graph struct {
	summary.Graph
	Parallelism float64            `json:"parallelism"`   // work over span: more threads than this are no use, unless Loops
	Loops       bool               `json:"loops"`         // the span has loops as their threads ran them: with more threads it is shorter
	Critical    []summary.PathPart `json:"critical_path"` // the span by function, longest part first
}

// graph returns the graph of a job of one rank; nil if it is not known.
func (j *Job) graph() *Graph {
	if len(j.Ranks) != 1 || j.Ranks[0].Summary == nil || j.Ranks[0].Summary.Graph == nil {
		return nil
	}
	s := j.Ranks[0].Summary
	g := &Graph{Graph: *s.Graph, Critical: s.Critical}
	g.Loops = slices.ContainsFunc(s.Times, func(t summary.PlaceTime) bool { return t.Loop })
	if g.Span > 0 {
		g.Parallelism = g.Work / g.Span
	}
	return g
}

// lostTime adds up where the time of the iterations that ended went.
func (j *Job) lostTime(all []RankRound) LostTime {
	l := LostTime{Rounds: slices.DeleteFunc(all, func(r RankRound) bool { return !r.ended })}
	for _, one := range j.Ranks {
		if one.Summary != nil {
			l.Threads += int(one.Summary.Threads)
		}
	}
	l.Threads = max(l.Threads, len(j.Ranks))
	var saved []float64
	for _, round := range uncertainty.Blocks(l.Rounds, iterationOf) {
		wall := 0.0
		outside := 0.0
		tasks := 0.0
		longest := 0.0
		for _, r := range round {
			wall = max(wall, r.Wall)
			longest = max(longest, r.longest)
			outside = max(outside, r.outside)
			tasks += r.Tasks
			l.Waiting += r.Waiting
		}
		l.Tasks += tasks
		l.Wall += wall
		l.Imbalance += createdImbalance(round)
		saved = append(saved, max(0, wall-max(longest, outside+tasks/float64(l.Threads))))
	}
	if len(saved) > 0 {
		l.Imbalance /= float64(len(saved))
		if !j.isOpenMP() { // which moves no tasks, and whose tasks may wait for others
			l.Saving = saving(saved, l.Wall)
		}
	}
	l.Graph = j.graph()
	l.Function = j.findUneven()
	return l
}

// isOpenMP reports whether an OpenMP runtime ran the tasks.
func (j *Job) isOpenMP() bool {
	return slices.ContainsFunc(j.Ranks, func(r Rank) bool { return r.Summary != nil && r.Summary.Dialect == event.OpenMP.String() })
}

// rounds returns the iterations of a rank by number: the runs of its log, and the times and counts
// of its summary for those that ended.
func (r *Rank) rounds() map[int]*RankRound {
	all := map[int]*RankRound{}
	find := func(iteration int) *RankRound {
		if all[iteration] == nil {
			all[iteration] = &RankRound{Iteration: iteration, Rank: r.Rank}
		}
		return all[iteration]
	}
	from := 0.0
	for n := range r.Log.Rows {
		row := &r.Log.Rows[n]
		if n == 0 || row.Start < from {
			from = row.Start
		}
		o := find(row.Iteration)
		o.Tasks += row.Seconds
		o.longest = max(o.longest, row.Seconds)
		o.Executed++
	}
	if r.Summary == nil {
		return all
	}
	for i, told := range r.Summary.Rounds {
		o := find(i)
		o.ended = true
		o.Wall = max(0, told.End-from)
		o.Waiting = told.Waiting
		o.Created = told.Created
		o.Sent = told.Sent
		if b := told.Unlogged; b != nil {
			o.Tasks += b.Seconds
			o.longest = max(o.longest, b.Longest)
			o.Executed += b.Count
		}
		o.outside = max(0, float64(r.Summary.Threads)*o.Wall-o.Tasks-o.Waiting)
		from = max(from, told.End)
	}
	return all
}

// rounds returns the iterations of all ranks, ordered by iteration and rank.
func (j *Job) rounds() []RankRound {
	var all []RankRound
	for _, one := range j.Ranks {
		for _, r := range one.rounds() {
			all = append(all, *r)
		}
	}
	slices.SortFunc(all, func(a, b RankRound) int {
		return cmp.Or(cmp.Compare(a.Iteration, b.Iteration), cmp.Compare(a.Rank, b.Rank))
	})
	return all
}

// iterationOf returns the number of the iteration.
func iterationOf(r RankRound) int { return r.Iteration }

// createdImbalance returns the imbalance of an iteration, had each rank run the tasks that it
// created: all take as long as the mean.
func createdImbalance(round []RankRound) float64 {
	loads := make([]float64, len(round))
	for i, r := range round {
		loads[i] = float64(r.Created)
	}
	return balance.Imbalance(loads)
}

// saving adds up what iterations save, with an interval by Student's distribution; of a single one
// it reaches from 0 to the wall time.
func saving(saved []float64, wall float64) *Saving {
	s := &Saving{High: wall}
	for _, x := range saved {
		s.Seconds += x
	}
	if p, err := uncertainty.Student(saved, nil, 0.9); err == nil {
		n := float64(len(saved))
		s.Low = max(0, n*p.Low)
		s.High = min(n*p.High, wall)
	}
	if wall > 0 {
		s.Share = s.Seconds / wall
	}
	return s
}

// findUneven finds the function whose time is spread worst over the ranks, or over the threads
// of one.
func (j *Job) findUneven() *UnevenLoad {
	type cell struct {
		iteration, worker int
	}
	spread, workers := map[string]map[cell]float64{}, map[int]bool{}
	for _, one := range j.Ranks {
		for n := range one.Log.Rows {
			row := &one.Log.Rows[n]
			worker := one.Rank
			if len(j.Ranks) == 1 {
				worker = row.Lane
			}
			workers[worker] = true
			if spread[row.Entry] == nil {
				spread[row.Entry] = map[cell]float64{}
			}
			spread[row.Entry][cell{row.Iteration, worker}] += row.Seconds
		}
	}
	if len(workers) < 2 {
		return nil
	}
	var worst *UnevenLoad
	for _, function := range slices.Sorted(maps.Keys(spread)) {
		most, sum := map[int]float64{}, 0.0
		for c, seconds := range spread[function] {
			most[c.iteration] = max(most[c.iteration], seconds)
			sum += seconds
		}
		u := UnevenLoad{Function: function, Seconds: -sum / float64(len(workers))}
		for _, iteration := range slices.Sorted(maps.Keys(most)) {
			u.Seconds += most[iteration]
		}
		if worst == nil || u.Seconds > worst.Seconds {
			worst = &u
		}
	}
	return worst
}
