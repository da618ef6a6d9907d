package validation

import (
	"context"
	"fmt"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/policy"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/simulator"
	"github.com/foretime/foretime/shared/crash"
)

// Player plays an episode whose predecessor is submitted at an instant of a
// simulation of the other jobs, which it leaves as it is. Each goroutine
// makes its own.
type Player func(background *simulator.Simulator, submit int64, service chain.Service) (Played, error)

// With plays with a policy.
func With(p policy.Policy) Player {
	return func(background *simulator.Simulator, submit int64, service chain.Service) (Played, error) {
		return playEpisode(background, submit, service, p)
	}
}

// Oracle plays every decision to its end and takes the best.
func Oracle(c chain.Cost) Player {
	return func(background *simulator.Simulator, submit int64, service chain.Service) (Played, error) {
		pair, err := chain.Begin(background, submit, service)
		if err != nil {
			return Played{}, err
		}
		best, err := pair.Best(c)
		return Played{Outcome: best}, err
	}
}

// stretch is how many episodes a worker plays on one simulation.
const stretch = 14

// Play plays the episodes of a plan; its probes are not used. The outcome
// does not depend on the number of workers. progress, which may be nil, is
// told of every finished episode.
func Play(ctx context.Context, w *simulator.Workload, plan samples.Plan, player Player, workers int, progress func()) ([]Played, error) {
	plan.Probes = max(plan.Probes, 2)
	if err := plan.Check(); err != nil {
		return nil, err
	}
	played := make([]Played, plan.Episodes)
	group, ctx := crash.WithContext(ctx)
	group.SetLimit(max(workers, 1))
	for first := 0; first < plan.Episodes; first += stretch {
		group.Go(func() error { return playStretch(ctx, w, plan, player, first, played, progress) })
	}
	return played, group.Wait()
}

func playStretch(ctx context.Context, w *simulator.Workload, plan samples.Plan, player Player, first int, played []Played, progress func()) error {
	background, err := plan.Background(ctx, w, first)
	for e := first; e < min(first+stretch, plan.Episodes); e++ {
		if err == nil {
			err = plan.Forward(ctx, background, e)
		}
		if err == nil {
			played[e], err = player(background, plan.Submit(e), plan.Service)
		}
		if err != nil {
			return fmt.Errorf("episode %d: %w", e, err)
		}
		if progress != nil {
			progress()
		}
	}
	return nil
}
