package job

import (
	"cmp"
	"maps"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/balance"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Figures sums up a job. Times are in seconds, shares between 0 and 1.
type Figures struct {
	Ranks       int             `json:"ranks"` // with a log
	Missing     []int           `json:"missing_ranks"`
	Torn        []int           `json:"torn_ranks"`
	Signal      bool            `json:"ended_by_signal"`
	Dropped     []Dropped       `json:"dropped_tasks"`  // by rank that has any
	Unlogged    int             `json:"tasks_unlogged"` // of Tasks, those that are only counted: they have no part in medians and errors
	Unwritten   int             `json:"rows_unwritten"` // for want of room: Tasks lacks them
	Unread      int             `json:"tasks_unread"`   // of Unlogged, those that came faster than they were read
	Tasks       int             `json:"tasks"`
	Seconds     float64         `json:"task_seconds"`
	Iterations  int             `json:"iterations"`
	Imbalance   float64         `json:"imbalance"`       // mean over iterations of max/mean - 1 of the ranks' loads
	Worst       *Spread         `json:"worst_iteration"` // nil where there is none
	Moved       int             `json:"moved_tasks"`     // that ran on another rank than created them
	Prediction  Prediction      `json:"prediction"`
	WorstRanks  []RankLoad      `json:"worst_ranks"`  // most load first
	Functions   []Function      `json:"functions"`    // most time first
	SlowestRank *RankLoad       `json:"slowest_rank"` // nil where ranks have nothing in common
	Spreads     []Spread        `json:"each_iteration"`
	Lost        LostTime        `json:"lost"`
	Depths      []summary.Depth `json:"depths"`        // of tasks, of a job of one rank
	Times       *Times          `json:"times"`         // nil if unknown
	Unknown     string          `json:"times_unknown"` // why, or why the efficiencies are
}

// Dropped counts the tasks of a rank that came faster than they were read and that its log
// lacks: its times and counts are lower bounds. A task has two or three events.
type Dropped struct {
	Rank int    `json:"rank"`
	Low  uint64 `json:"at_least"` // of those with some of their events
	High uint64 `json:"at_most"`  // one for each event that was lost
}

// Spread summarises the loads of an iteration over the ranks.
type Spread struct {
	Iteration int     `json:"iteration"`
	Mean      float64 `json:"mean_seconds"`
	Max       float64 `json:"most_seconds"`
	Imbalance float64 `json:"imbalance"`
	Rank      int     `json:"rank"` // with the most
}

// RankLoad holds the load of one rank.
type RankLoad struct {
	Rank     int     `json:"rank"`
	Tasks    int     `json:"tasks"`
	Seconds  float64 `json:"task_seconds"`
	Received int     `json:"received_tasks"` // from other ranks
	Created  int     `json:"created_tasks"`
	Sent     int     `json:"sent_tasks"`      // of those created, to other ranks
	Waiting  float64 `json:"waiting_seconds"` // of all its threads
	Wall     float64 `json:"wall_seconds"`
	Slowdown float64 `json:"slowdown"` // middle of its times over those of all ranks, function and sizes equal
}

// addRounds adds up a rank's iterations.
func (r *RankLoad) addRounds(each []RankRound) {
	for _, e := range each {
		if e.Rank == r.Rank {
			r.Created, r.Sent = r.Created+e.Created, r.Sent+e.Sent
			r.Waiting, r.Wall = r.Waiting+e.Waiting, r.Wall+e.Wall
		}
	}
}

// Function is a task function over all ranks.
type Function struct {
	Name    string   `json:"name"`
	Tasks   int      `json:"tasks"`
	Seconds float64  `json:"task_seconds"`
	Share   *float64 `json:"share"`          // nil if rows could not be written
	Median  *float64 `json:"median_seconds"` // nil if the log has no row of it
	MAPE    *float64 `json:"mape_percent"`
}

// Prediction summarises the errors of predictions.
type Prediction struct {
	Predicted int      `json:"predicted"`
	MAPE      *float64 `json:"mape_percent"`
	MedianAPE *float64 `json:"median_ape_percent"`
	Coverage  *float64 `json:"coverage"` // of those with an interval
}

// countDropped returns the tasks that came faster than they were read.
func (j *Job) countDropped() []Dropped {
	out := []Dropped{}
	for _, r := range j.Ranks {
		if s := r.Summary; s != nil && s.Dropped > 0 {
			begun := s.Started
			if s.Dialect == event.OpenMP.String() {
				begun = max(begun, s.Created)
			}
			out = append(out, Dropped{r.Rank, min(begun-min(begun, s.Ended-s.Incomplete), s.Dropped), s.Dropped})
		}
	}
	return out
}

// maxWorst bounds the lists of the worst.
const maxWorst = 5

// Figures adds the job up.
func (j *Job) Figures() Figures {
	f := Figures{Ranks: len(j.Ranks), Missing: j.Missing, Torn: j.Torn, Dropped: j.countDropped()}
	paces := j.slowdowns()
	for i := range j.Ranks {
		one := RankLoad{Rank: j.Ranks[i].Rank, Tasks: len(j.Ranks[i].Log.Rows), Slowdown: paces[i]}
		for n := range j.Ranks[i].Log.Rows {
			r := &j.Ranks[i].Log.Rows[n]
			one.Seconds += r.Seconds
			if r.Flag != "local" {
				one.Received++
			}
		}
		s := j.Ranks[i].Summary
		f.Signal = f.Signal || s != nil && s.Signal
		if s != nil && s.RowsLost > 0 {
			f.Unwritten += max(0, int(s.Ended)-one.Tasks-j.Ranks[i].countUnlogged())
		}
		if s != nil && s.Unlogged != nil {
			one.Tasks = one.Tasks + s.Unlogged.Count
			one.Seconds = one.Seconds + s.Unlogged.Seconds
			one.Received = one.Received + s.Unlogged.Remote
			f.Unlogged += s.Unlogged.Count
			f.Unread += int(s.Unread)
		}
		f.Tasks += one.Tasks
		f.Seconds += one.Seconds
		f.Moved += one.Received
		f.WorstRanks = append(f.WorstRanks, one)
	}
	f.SlowestRank = slowest(f.WorstRanks)
	slices.SortStableFunc(f.WorstRanks, func(a, b RankLoad) int { return cmp.Compare(b.Seconds, a.Seconds) })
	f.WorstRanks = f.WorstRanks[:min(maxWorst, len(f.WorstRanks))]
	f.Functions, f.Prediction = j.functions(f.Seconds)
	all := j.rounds()
	f.addIterations(j, all)
	f.Lost = j.lostTime(all)
	f.Unknown, f.Times = cmp.Or(j.unknownTimes(), j.missing()), j.times()
	if len(j.Ranks) == 1 && j.Ranks[0].Summary != nil {
		f.Depths = j.Ranks[0].Summary.Depths
	}
	if f.Times != nil {
		f.findLosses(j)
	}
	for i := range f.WorstRanks {
		f.WorstRanks[i].addRounds(f.Lost.Rounds)
	}
	return f
}

// slowdowns returns the pace of each rank, 1 if it has nothing in common with others.
func (j *Job) slowdowns() []float64 {
	paces := make([]float64, len(j.Ranks))
	for i := range paces {
		paces[i] = 1
	}
	if len(j.Ranks) < 2 {
		return paces
	}
	all, own := map[string][]float64{}, make([]map[string][]float64, len(j.Ranks))
	for i, one := range j.Ranks {
		own[i] = map[string][]float64{}
		for n := range one.Log.Rows {
			r := &one.Log.Rows[n]
			key := r.Entry + " " + string(r.Sizes.AppendText(nil))
			all[key], own[i][key] = append(all[key], r.Seconds), append(own[i][key], r.Seconds)
		}
	}
	medians := map[string]float64{}
	for key, seconds := range all {
		medians[key] = stats.Median(seconds)
	}
	for i := range paces {
		var ratios []float64
		for key, seconds := range own[i] {
			if len(seconds) < len(all[key]) {
				ratios = append(ratios, stats.Median(seconds)/medians[key])
			}
		}
		if len(ratios) > 0 {
			paces[i] = stats.Median(ratios)
		}
	}
	return paces
}

// lacksRows reports whether a log could not be written whole.
func (j *Job) lacksRows() bool {
	return slices.ContainsFunc(j.Ranks, func(r Rank) bool { return r.Summary != nil && r.Summary.RowsLost > 0 })
}

// slowest returns the rank with the largest slowdown, nil for a rank alone.
func slowest(ranks []RankLoad) *RankLoad {
	if len(ranks) < 2 {
		return nil
	}
	worst := slices.MaxFunc(ranks, func(a, b RankLoad) int { return cmp.Compare(a.Slowdown, b.Slowdown) })
	return &worst
}

// functions returns the task functions, that with the most time first, and the prediction
// errors of all.
func (j *Job) functions(all float64) ([]Function, Prediction) {
	found, errors := map[string]*Function{}, map[string]*summary.Errors{}
	seconds := map[string][]float64{}
	var total summary.Errors
	function := func(name string) *Function {
		if found[name] == nil {
			found[name], errors[name] = &Function{Name: name}, &summary.Errors{}
		}
		return found[name]
	}
	for _, one := range j.Ranks {
		for n := range one.Log.Rows {
			r := &one.Log.Rows[n]
			f := function(r.Entry)
			f.Tasks++
			f.Seconds += r.Seconds
			seconds[r.Entry] = append(seconds[r.Entry], r.Seconds)
			score(r, &total, errors[r.Entry])
		}
		if s := one.Summary; s != nil && s.Unlogged != nil {
			for name, b := range s.Unlogged.Functions { // which may have run only after the log was full
				f := function(name)
				f.Tasks += b.Count
				f.Seconds += b.Seconds
			}
		}
	}
	var out []Function
	for _, name := range slices.Sorted(maps.Keys(found)) {
		f := found[name]
		if len(seconds[name]) > 0 {
			median := stats.Median(seconds[name])
			f.Median = &median
		}
		f.MAPE = predictions(errors[name]).MAPE
		if !j.lacksRows() {
			share := f.Seconds / all
			f.Share = &share
		}
		out = append(out, *f)
	}
	slices.SortStableFunc(out, func(a, b Function) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return out, predictions(&total)
}

// score adds the prediction of a row, if it has one.
func score(r *task.Row, to ...*summary.Errors) {
	if r.Predicted == nil {
		return
	}
	for _, e := range to {
		if e.Add(*r.Predicted, r.Seconds) && r.Low != nil && r.High != nil {
			e.AddInterval(*r.Low, *r.High, r.Seconds)
		}
	}
}

func predictions(e *summary.Errors) Prediction {
	return Prediction{Predicted: e.Count(), MAPE: summary.NewFigure(e.MAPE()), MedianAPE: summary.NewFigure(e.MedianAPE()), Coverage: summary.NewFigure(e.Coverage())}
}

// addIterations fills in the loads of the iterations over the ranks.
func (f *Figures) addIterations(j *Job, all []RankRound) {
	for _, round := range uncertainty.Blocks(all, iterationOf) {
		s := Spread{Iteration: round[0].Iteration, Rank: round[0].Rank}
		loads := make([]float64, len(j.Ranks))
		executed := 0
		for i, r := range round {
			loads[i] = r.Tasks
			executed += r.Executed
			s.Mean += r.Tasks / float64(len(loads))
			if r.Tasks > s.Max {
				s.Max = r.Tasks
				s.Rank = r.Rank
			}
		}
		if executed == 0 {
			continue
		}
		s.Imbalance = balance.Imbalance(loads)
		f.Spreads = append(f.Spreads, s)
		f.Imbalance += s.Imbalance
		if f.Worst == nil || s.Imbalance > f.Worst.Imbalance {
			f.Worst = &s
		}
	}
	f.Iterations = len(f.Spreads)
	f.Imbalance /= float64(max(1, f.Iterations))
}
