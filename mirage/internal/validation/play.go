package validation

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/crash"
)

// Player plays an episode whose predecessor is submitted at an instant of a
// simulation of the other jobs, which it leaves as it is, by each of its policies.
type Player func(background *simulator.Simulator, submit int64, service chain.Service) ([]Played, error)

// With plays with policies, at the cost of about the last to submit.
func With(policies ...policy.Policy) Player {
	return func(background *simulator.Simulator, submit int64, service chain.Service) ([]Played, error) {
		return playEpisode(background, submit, service, policies)
	}
}

// Oracle plays every decision to its end and takes the best.
func Oracle(c chain.Cost) Player {
	return func(background *simulator.Simulator, submit int64, service chain.Service) ([]Played, error) {
		pair, err := chain.Begin(background, submit, service)
		if err != nil {
			return nil, err
		}
		best, err := pair.Best(c)
		return []Played{{Outcome: best}}, err
	}
}

// InTurn plays the tasks of an array of which one may run at once (sbatch --array=1-N%1): the
// successor gains priority by its age from the predecessor's submission on, as on a Slurm where
// the first task had to wait, and starts when the predecessor has ended. The workload's first
// cap must be 1.
func InTurn(background *simulator.Simulator, submit int64, service chain.Service) ([]Played, error) {
	service.Charges = []trace.Charge{{Cap: 0, Amount: 1}}
	pair, err := chain.Begin(background, submit, service)
	if err != nil {
		return nil, err
	}
	o, err := pair.SubmitNow()
	return []Played{{Outcome: o}}, err
}

// stretch is the number of episodes that a worker simulates in one simulation.
const stretch = 14

// Episodes is the input of players: the episodes of a plan, whose probes are not used, on a
// workload. The outcome does not depend on the number of workers.
type Episodes struct {
	Workload *simulator.Workload
	Plan     samples.Plan
	Workers  int
	Progress func() // at every finished episode; may be nil
}

// Play plays all episodes: of each policy, what it came to in each.
func (e Episodes) Play(ctx context.Context, player Player) ([][]Played, error) {
	e.Plan.Probes = max(e.Plan.Probes, 2)
	if err := e.Plan.Check(); err != nil {
		return nil, err
	}
	played := make([][]Played, e.Plan.Episodes)
	group, ctx := crash.WithContext(ctx)
	group.SetLimit(max(e.Workers, 1))
	for first := 0; first < len(played); first += stretch {
		group.Go(func() error { return e.stretch(ctx, player, first, played[first:min(first+stretch, len(played))]) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	of := make([][]Played, len(played[0]))
	for _, episode := range played {
		for i, p := range episode {
			of[i] = append(of[i], p)
		}
	}
	return of, nil
}

// stretch plays the episodes from first on.
func (e Episodes) stretch(ctx context.Context, player Player, first int, played [][]Played) error {
	background, err := e.Plan.Background(ctx, e.Workload, first)
	for i := range played {
		if err == nil {
			err = e.Plan.Forward(ctx, background, first+i)
		}
		if err == nil {
			played[i], err = player(background, e.Plan.Submit(first+i), e.Plan.Service)
		}
		if err != nil {
			return fmt.Errorf("episode %d: %w", first+i, err)
		}
		if e.Progress != nil {
			e.Progress()
		}
	}
	return nil
}
