package samples

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/shared/crash"
)

// ErrPlan is returned when a plan cannot be carried out, or a directory holds
// the samples of another plan.
var ErrPlan = errors.New("unusable sampling plan")

// Plan says which episodes to play and where to probe them. All times are
// seconds.
type Plan struct {
	Episodes int           `json:"episodes"`
	Probes   int           `json:"probes"`
	Interval int64         `json:"interval_seconds"` // between two predecessors
	Start    int64         `json:"start"`            // the first predecessor's submission, Unix seconds
	History  int64         `json:"history_seconds"`  // simulated before Start, from an idle machine
	Service  chain.Service `json:"service"`
}

// ForecastShares returns the shares of their limits that jobs use in the forecasts
// of a sample.
func ForecastShares() []float64 { return []float64{1, 0.4} }

// Check returns an error that wraps ErrPlan where the plan makes no sense.
func (p Plan) Check() error {
	switch {
	case p.Episodes < 1 || p.Episodes > 1<<24:
		return fmt.Errorf("%w: %d episodes", ErrPlan, p.Episodes)
	case p.Probes < 2 || p.Probes > 1<<12:
		return fmt.Errorf("%w: %d probes, want at least 2", ErrPlan, p.Probes)
	case p.Interval < 1 || p.History < 0 || p.Interval > 1<<32 || p.History > 1<<40:
		return fmt.Errorf("%w: interval %d s, history %d s", ErrPlan, p.Interval, p.History)
	case p.Service.Limit < 60 || p.Service.Nodes < 1:
		return fmt.Errorf("%w: service of %d nodes and %d s", ErrPlan, p.Service.Nodes, p.Service.Limit)
	}
	return nil
}

// Submit returns the submission time of the predecessor of an episode.
func (p Plan) Submit(episode int) int64 { return p.Start + int64(episode)*p.Interval }

// Sample is a probe of an episode: the information at the decision, and the outcome.
type Sample struct {
	Episode   int   `dataset:"episode"`
	Probe     int   `dataset:"probe"`
	Decision  int64 `dataset:"decision"`   // Unix seconds
	PredStart int64 `dataset:"pred_start"` // Unix seconds, in the simulation with the successor
	PredEnd   int64 `dataset:"pred_end"`
	SuccStart int64 `dataset:"succ_start"`
	// Reward is the successor's start less the predecessor's end, in seconds.
	Reward   int64   `dataset:"reward_seconds"`
	MeanWait float64 `dataset:"mean_wait_seconds"` // of the last 100 started jobs, at the decision
	// ForecastFull and ForecastPart are the waits in seconds that the queue
	// itself predicts at the decision, if other jobs use all of their limits,
	// or two fifths: see ForecastShares.
	ForecastFull float64 `dataset:"forecast_full_seconds"`
	ForecastPart float64 `dataset:"forecast_part_seconds"`
	// X is the summary of the history, see [SummaryColumns].
	X []float64 `dataset:",rest"`
}

// meanOver is the number of recent waits in a mean wait.
const meanOver = 100

// MeanWait returns the mean of the first hundred of waits in seconds, newest first; 0
// without any.
func MeanWait(waits []float64) float64 {
	waits = waits[:min(len(waits), meanOver)]
	sum := 0.0
	for _, w := range waits {
		sum += w
	}
	return sum / float64(max(len(waits), 1))
}

// probeTimes returns times evenly spaced from a minute after the predecessor's
// submission to its end, on whole minutes but for the last, which is the
// reactive one.
func (p Plan) probeTimes(submit, end int64) []int64 {
	times := make([]int64, p.Probes)
	first := submit + 60
	for i := range times {
		at := first + int64(math.Round(float64(end-first)*float64(i)/float64(p.Probes-1)))
		times[i] = max(at-at%60, first)
	}
	times[p.Probes-1] = end
	return times
}

// Episode plays one episode on a simulation of the other jobs, which must not
// be past the day before the predecessor's submission and stays as it is.
func (p Plan) Episode(background *simulator.Simulator, episode int) ([]Sample, error) {
	submit := p.Submit(episode)
	pair, camera, _, end, err := Begin(background, submit, p.Service)
	if err != nil {
		return nil, err
	}
	out := make([]Sample, 0, p.Probes)
	for i, at := range p.probeTimes(submit, end) {
		camera.RunUntil(pair.Simulation(), at)
		s, err := p.probe(camera, pair)
		if err != nil {
			return nil, fmt.Errorf("probe %d: %w", i, err)
		}
		s.Episode, s.Probe = episode, i
		out = append(out, s)
	}
	return out, nil
}

func (p Plan) probe(camera *Camera, pair *chain.Pair) (Sample, error) {
	o, err := pair.SubmitNow()
	if err != nil {
		return Sample{}, err
	}
	sim := pair.Simulation()
	s := Sample{
		Decision: o.Submitted, PredStart: o.PredStart, PredEnd: o.PredEnd, SuccStart: o.SuccStart,
		Reward:   o.RewardSeconds(),
		MeanWait: MeanWait(sim.LastWaits(meanOver)),
	}
	for i, wait := range []*float64{&s.ForecastFull, &s.ForecastPart} {
		if *wait, err = pair.Service.WaitIn(sim, sim.Using(ForecastShares()[i]), 0, simulator.Farthest); err != nil {
			return Sample{}, err
		}
	}
	h := camera.History(pair)
	s.X = h.Summary()
	return s, nil
}

// stretch is the number of episodes that a worker plays on one simulation of the other jobs.
const stretch = 14

// Each calls a function for each episode, with a simulation of the other jobs that has come to
// the day before it and must stay as it is. A number of workers call it at once. The outcome
// does not depend on their number.
func (p Plan) Each(ctx context.Context, w *simulator.Workload, workers int, play func(background *simulator.Simulator, episode int) error) error {
	if err := p.Check(); err != nil {
		return err
	}
	group, ctx := crash.WithContext(ctx)
	group.SetLimit(max(workers, 1))
	for first := 0; first < p.Episodes; first += stretch {
		group.Go(func() error {
			background := w.NewFrom(p.Start - max(p.History, Steps*SnapshotSeconds))
			for episode := first; episode < min(first+stretch, p.Episodes); episode++ {
				if err := p.forward(ctx, background, episode); err != nil {
					return err
				}
				if err := play(background, episode); err != nil {
					return fmt.Errorf("episode %d: %w", episode, err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// forward carries a simulation of the other jobs, begun History before the plan's start with
// an idle machine, or at the first job if that is later, to the day before an episode.
func (p Plan) forward(ctx context.Context, s *simulator.Simulator, episode int) error {
	to := p.Submit(episode) - Steps*SnapshotSeconds
	const stride = 7 * 86400
	for s.Now() < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.RunUntil(min(to, s.Now()+stride))
	}
	return ctx.Err()
}
