package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/job"
	"github.com/foretime/foretime/chamtool/internal/task"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrRecorded is returned for logs without a complete iteration.
var ErrRecorded = errors.New("no iteration can be replayed")

// Forecast is the makespan of a job's iterations under a policy.
type Forecast struct {
	Policy   Policy                 `json:"policy"`
	Makespan uncertainty.Prediction `json:"makespan_seconds"`
	Moves    int                    `json:"migrations"`
	Recorded bool                   `json:"recorded"` // the logs are of a run under this policy, whose makespan is known
}

// ForecastMakespans plays the iterations of a job under each policy that the runtime or the
// tool has. What a rank created is its queue; what came to it goes back to the
// ranks that gave tasks away. Played as it was recorded an iteration takes another
// time than it took: by that share all policies are corrected, and the intervals
// are of iterations drawn again, widened by machine.
func ForecastMakespans(ctx context.Context, j *job.Job, p Parameters) ([]Forecast, error) {
	rounds, moved, err := roundsOf(j)
	if err != nil {
		return nil, err
	}
	was := None
	if moved {
		was = Reactive
		if s := j.Ranks[0].Summary; s != nil && s.Balance == string(Proactive) {
			was = Proactive
		}
	}
	played := map[Policy][]float64{}
	var out []Forecast
	for _, policy := range []Policy{None, Reactive, Proactive} {
		f := Forecast{Policy: policy, Recorded: policy == was}
		for _, r := range rounds {
			s := r.begin(p, policy)
			if err := s.play(ctx); err != nil {
				return nil, err
			}
			played[policy] = append(played[policy], s.last)
			f.Moves += s.migrations
		}
		out = append(out, f)
	}
	for i := range out {
		if out[i].Makespan, err = corrected(rounds, played[was], played[out[i].Policy]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// machine is the variation between two runs of the same program for reasons that no log
// contains. It was 0.05 at first, and 0.1 after one batch of 60 forecasts had been seen, so the
// share of those that it contains is no proof.
const machine = 0.1

// corrected is the makespan of all iterations: what was played, times what the
// recorded run took over the same run played.
func corrected(rounds []round, was, now []float64) (uncertainty.Prediction, error) {
	all := make([]int, len(rounds))
	for i := range all {
		all[i] = i
	}
	p, err := uncertainty.Bootstrap(all, func(drawn []int) float64 {
		took, then, play := 0.0, 0.0, 0.0
		for _, i := range drawn {
			took, then, play = took+rounds[i].wall, then+was[i], play+now[i]
		}
		return play * took / then
	}, uncertainty.Resampling{Level: 0.9, Seed: 1})
	if err != nil { // a single iteration
		p = uncertainty.Prediction{Value: now[0] * rounds[0].wall / was[0], Level: 0.9}
		p.Low, p.High = p.Value, p.Value
	}
	p.Low, p.High = p.Low*(1-machine), p.High*(1+machine)
	return p, nil
}

// round is an iteration as it was recorded.
type round struct {
	wall    float64      // seconds
	workers []int        // by rank
	queues  [][]task.Row // what each rank created, in the order in which it ran
}

// roundsOf splits a job into iterations, and reports whether tasks moved.
func roundsOf(j *job.Job) (rounds []round, moved bool, err error) {
	var workers []int
	for _, one := range j.Ranks {
		threads := 1
		if one.Summary != nil {
			threads = max(1, int(one.Summary.Threads))
		}
		workers = append(workers, threads)
	}
	for _, e := range j.Rounds() {
		for len(rounds) <= e.Iteration {
			rounds = append(rounds, round{workers: workers, queues: make([][]task.Row, len(workers))})
		}
		rounds[e.Iteration].wall = max(rounds[e.Iteration].wall, e.Wall)
	}
	origins := j.Origins()
	for i, one := range j.Ranks {
		for n, row := range one.Log.Rows {
			if row.Iteration >= len(rounds) {
				continue
			}
			moved = moved || row.Flag != "local"
			q := &rounds[row.Iteration].queues[origins[i][n]]
			*q = append(*q, row)
		}
	}
	rounds = slices.DeleteFunc(rounds, func(r round) bool {
		return !(r.wall > 0) || !slices.ContainsFunc(r.queues, func(q []task.Row) bool { return len(q) > 0 })
	})
	if len(rounds) == 0 {
		return nil, false, fmt.Errorf("%s: %w: want summaries of ranks that ended normally", j.Dir, ErrRecorded)
	}
	for _, r := range rounds {
		for _, q := range r.queues {
			slices.SortStableFunc(q, func(a, b task.Row) int { return cmp.Compare(a.Start, b.Start) })
		}
	}
	return rounds, moved, nil
}

// begin is the iteration before anything runs.
func (r *round) begin(p Parameters, policy Policy) *simulation {
	s := &simulation{p: p, policy: policy, ranks: make([]rank, len(r.queues))}
	total := 0.0
	for i, q := range r.queues {
		one := &s.ranks[i]
		one.workers = r.workers[i]
		for _, row := range q {
			expected := row.Seconds
			if row.Predicted != nil {
				expected = *row.Predicted
			}
			one.movable = append(one.movable, int32(len(s.actual)))
			one.waiting += expected
			s.actual, s.predicted = append(s.actual, row.Seconds), append(s.predicted, expected)
			total += row.Seconds
		}
	}
	s.open = len(s.actual)
	s.taskSeconds = total / float64(max(1, s.open))
	if s.p.Interval == 0 {
		s.p.Interval = min(usualInterval, 0.01*total/float64(len(s.ranks)))
	}
	return s
}
