package job

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/chamtool/internal/balance"
	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/stats"
)

// Figures are what a job came to. Times are in seconds, shares between 0 and 1.
type Figures struct {
	Ranks       int        `json:"ranks"` // with a log
	Missing     []int      `json:"missing_ranks"`
	Torn        []int      `json:"torn_ranks"`
	Dropped     []Dropped  `json:"dropped_tasks"`    // by rank that has any
	Beyond      int        `json:"tasks_beyond_log"` // of Tasks, those that are only counted: medians and errors are of the others
	Tasks       int        `json:"tasks"`
	Seconds     float64    `json:"task_seconds"`
	Iterations  int        `json:"iterations"`
	Imbalance   float64    `json:"imbalance"`       // mean over iterations of max/mean - 1 of the ranks' loads
	Worst       *Iteration `json:"worst_iteration"` // nil where there is none
	Moved       int        `json:"moved_tasks"`     // that ran on another rank than created them
	Prediction  Prediction `json:"prediction"`
	WorstRanks  []RankLoad `json:"worst_ranks"`  // most load first
	Functions   []Function `json:"functions"`    // most time first
	SlowestRank *Pace      `json:"slowest_rank"` // nil where ranks have nothing in common
	EachIter    []Spread   `json:"each_iteration"`
	Lost        Lost       `json:"lost"`
}

// Dropped is the tasks of a rank that came faster than they were read, and that its
// log lacks: its times and counts are lower bounds. Two or three events tell of a task.
type Dropped struct {
	Rank int    `json:"rank"`
	Low  uint64 `json:"at_least"` // of those that were told of in part
	High uint64 `json:"at_most"`  // one for each event that was lost
}

// Iteration is one of a job.
type Iteration struct {
	Iteration int     `json:"iteration"`
	Imbalance float64 `json:"imbalance"`
	Rank      int     `json:"rank"` // with the most load
}

// Spread is the loads of an iteration over the ranks.
type Spread struct {
	Iteration int     `json:"iteration"`
	Mean      float64 `json:"mean_seconds"`
	Most      float64 `json:"most_seconds"`
	Imbalance float64 `json:"imbalance"`
	Rank      int     `json:"rank"` // with the most
}

// RankLoad is what a rank did.
type RankLoad struct {
	Rank    int     `json:"rank"`
	Tasks   int     `json:"tasks"`
	Seconds float64 `json:"task_seconds"`
	Came    int     `json:"came_tasks"` // from other ranks
	Created int     `json:"created_tasks"`
	Given   int     `json:"given_away"`      // of those created, to other ranks
	Waiting float64 `json:"waiting_seconds"` // of all its threads
	Wall    float64 `json:"wall_seconds"`
	Pace    float64 `json:"pace"` // middle of its times over those of all ranks, function and sizes equal
}

// over adds up a rank's iterations.
func (r *RankLoad) over(each []RankRound) {
	for _, e := range each {
		if e.Rank == r.Rank {
			r.Created, r.Given = r.Created+e.Created, r.Given+e.Given
			r.Waiting, r.Wall = r.Waiting+e.Waiting, r.Wall+e.Wall
		}
	}
}

// Function is a task function over all ranks.
type Function struct {
	Name    string   `json:"name"`
	Tasks   int      `json:"tasks"`
	Seconds float64  `json:"task_seconds"`
	Share   float64  `json:"share"`
	Median  *float64 `json:"median_seconds"` // nil if the log has no row of it
	MAPE    *float64 `json:"mape_percent"`
}

// Pace is how a rank's times lie beside those of all, function and sizes equal.
type Pace struct {
	Rank int     `json:"rank"`
	Pace float64 `json:"pace"`
}

// Prediction is how well tasks were predicted.
type Prediction struct {
	Predicted int      `json:"predicted"`
	MAPE      *float64 `json:"mape_percent"`
	MedianAPE *float64 `json:"median_ape_percent"`
	Coverage  *float64 `json:"coverage"` // of those with an interval
}

// dropped is what came faster than it was read.
func (j *Job) dropped() []Dropped {
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

// mostWorst bounds the lists of the worst.
const mostWorst = 5

// Figures adds the job up.
func (j *Job) Figures() Figures {
	f := Figures{Ranks: len(j.Ranks), Missing: j.Missing, Torn: j.Torn, Dropped: j.dropped()}
	paces := j.paces()
	for i := range j.Ranks {
		one := RankLoad{Rank: j.Ranks[i].Rank, Tasks: len(j.Ranks[i].Log.Rows), Pace: paces[i]}
		for _, r := range j.Ranks[i].Log.Rows {
			one.Seconds += r.Seconds
			if r.Flag != "local" {
				one.Came++
			}
		}
		if s := j.Ranks[i].Summary; s != nil && s.Beyond != nil {
			one.Tasks, one.Seconds, one.Came = one.Tasks+s.Beyond.Count, one.Seconds+s.Beyond.Seconds, one.Came+s.Beyond.Remote
			f.Beyond += s.Beyond.Count
		}
		f.Tasks += one.Tasks
		f.Seconds += one.Seconds
		f.Moved += one.Came
		f.WorstRanks = append(f.WorstRanks, one)
	}
	f.SlowestRank = slowest(f.WorstRanks)
	slices.SortStableFunc(f.WorstRanks, func(a, b RankLoad) int { return cmp.Compare(b.Seconds, a.Seconds) })
	f.WorstRanks = f.WorstRanks[:min(mostWorst, len(f.WorstRanks))]
	f.Functions, f.Prediction = j.functions(f.Seconds), predictions(j.rows())
	f.iterations(j)
	f.Lost = j.lost()
	for i := range f.WorstRanks {
		f.WorstRanks[i].over(f.Lost.Each)
	}
	return f
}

func (j *Job) rows() []task.Row {
	var all []task.Row
	for _, r := range j.Ranks {
		all = append(all, r.Log.Rows...)
	}
	return all
}

// paces is each rank's, 1 where it has nothing in common with others.
func (j *Job) paces() []float64 {
	all, own := map[string][]float64{}, make([]map[string][]float64, len(j.Ranks))
	for i, one := range j.Ranks {
		own[i] = map[string][]float64{}
		for _, r := range one.Log.Rows {
			key := kind(&r)
			all[key], own[i][key] = append(all[key], r.Seconds), append(own[i][key], r.Seconds)
		}
	}
	paces := make([]float64, len(j.Ranks))
	for i := range paces {
		var ratios []float64
		for key, seconds := range own[i] {
			if len(seconds) < len(all[key]) {
				ratios = append(ratios, stats.Median(seconds)/stats.Median(all[key]))
			}
		}
		if paces[i] = 1; len(ratios) > 0 {
			paces[i] = stats.Median(ratios)
		}
	}
	return paces
}

func slowest(ranks []RankLoad) *Pace {
	if len(ranks) < 2 {
		return nil
	}
	worst := slices.MaxFunc(ranks, func(a, b RankLoad) int { return cmp.Compare(a.Pace, b.Pace) })
	return &Pace{worst.Rank, worst.Pace}
}

func (j *Job) functions(all float64) []Function {
	rows := map[string][]task.Row{}
	for _, r := range j.rows() {
		rows[r.Entry] = append(rows[r.Entry], r)
	}
	for _, one := range j.Ranks {
		if s := one.Summary; s != nil && s.Beyond != nil {
			for name := range s.Beyond.Functions {
				rows[name] = rows[name] // which may have run only after the log was full
			}
		}
	}
	var out []Function
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		f := Function{Name: name, Tasks: len(rows[name]), MAPE: predictions(rows[name]).MAPE}
		var seconds []float64
		for _, r := range rows[name] {
			f.Seconds += r.Seconds
			seconds = append(seconds, r.Seconds)
		}
		if len(seconds) > 0 {
			median := stats.Median(seconds)
			f.Median = &median
		}
		for _, one := range j.Ranks {
			if s := one.Summary; s != nil && s.Beyond != nil && s.Beyond.Functions[name] != nil {
				f.Tasks += s.Beyond.Functions[name].Count
				f.Seconds += s.Beyond.Functions[name].Seconds
			}
		}
		f.Share = f.Seconds / all
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b Function) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return out
}

func predictions(rows []task.Row) Prediction {
	var misses []float64
	bounded, held := 0, 0
	for _, r := range rows {
		if r.Predicted == nil || !(*r.Predicted > 0) {
			continue
		}
		misses = append(misses, 100*math.Abs(*r.Predicted-r.Seconds)/r.Seconds)
		if r.Low != nil && r.High != nil {
			bounded++
			if *r.Low <= r.Seconds && r.Seconds <= *r.High {
				held++
			}
		}
	}
	p := Prediction{Predicted: len(misses)}
	if len(misses) > 0 {
		mean, median := stat.Mean(misses, nil), stats.Median(misses)
		p.MAPE, p.MedianAPE = &mean, &median
	}
	if bounded > 0 {
		share := float64(held) / float64(bounded)
		p.Coverage = &share
	}
	return p
}

// iterations fills in the loads of the iterations over the ranks.
func (f *Figures) iterations(j *Job) {
	loads := map[int][]float64{}
	for i, one := range j.Ranks {
		for _, r := range one.Log.Rows {
			if loads[r.Iteration] == nil {
				loads[r.Iteration] = make([]float64, len(j.Ranks))
			}
			loads[r.Iteration][i] += r.Seconds
		}
		if one.Summary == nil {
			continue
		}
		for n, span := range one.Summary.Rounds {
			if span.Beyond == nil {
				continue
			}
			if loads[n] == nil {
				loads[n] = make([]float64, len(j.Ranks))
			}
			loads[n][i] += span.Beyond.Seconds
		}
	}
	for _, it := range slices.Sorted(maps.Keys(loads)) {
		most, sum := 0, 0.0
		for i, l := range loads[it] {
			sum += l
			if l > loads[it][most] {
				most = i
			}
		}
		s := Spread{it, sum / float64(len(j.Ranks)), loads[it][most], balance.Imbalance(loads[it]), j.Ranks[most].Rank}
		f.EachIter = append(f.EachIter, s)
		f.Imbalance += s.Imbalance
		if f.Worst == nil || s.Imbalance > f.Worst.Imbalance {
			f.Worst = &Iteration{it, s.Imbalance, s.Rank}
		}
	}
	if f.Iterations = len(f.EachIter); f.Iterations > 0 {
		f.Imbalance /= float64(f.Iterations)
	}
}
