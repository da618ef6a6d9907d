package validation

import (
	"context"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
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
	played := make([][]Played, max(e.Plan.Episodes, 0))
	err := e.Plan.Each(ctx, e.Workload, e.Workers, func(background *simulator.Simulator, episode int) (err error) {
		played[episode], err = player(background, e.Plan.Submit(episode), e.Plan.Service)
		if e.Progress != nil {
			e.Progress()
		}
		return err
	})
	if err != nil {
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

// waitsSeen is the number of waits that a state remembers.
const waitsSeen = 500

// Played is an episode that a policy has played.
type Played struct {
	chain.Outcome
	Decided  policy.Decision // the last decision
	Decision int             // how many decisions there were
}

// playEpisode lets policies decide in one episode: the predecessor is submitted at
// an instant of a simulation of the other jobs, which must not be past the
// day before and stays as it is. Until a policy submits, all see the same queue: what
// comes of submitting at an instant is simulated once for all that do.
func playEpisode(background *simulator.Simulator, submit int64, service chain.Service, policies []policy.Policy) ([]Played, error) {
	pair, camera, start, _, err := samples.Begin(background, submit, service)
	if err != nil {
		return nil, err
	}
	camera.RunUntil(pair.Simulation(), start)
	played, open := make([]Played, len(policies)), make([]int, len(policies))
	for i := range open {
		open[i] = i
	}
	last, err := pair.Decisions(func(pair *chain.Pair) (bool, error) {
		camera.RunUntil(pair.Simulation(), pair.Now())
		s := stateOf(pair, camera)
		var now, later []int
		for _, i := range open {
			if played[i].Decided.Next > pair.Now() {
				later = append(later, i)
				continue
			}
			played[i].Decision++
			var err error
			if played[i].Decided, err = policies[i].Decide(&s); err != nil {
				return false, err
			}
			if played[i].Decided.Submit {
				now = append(now, i)
			} else {
				later = append(later, i)
			}
		}
		if len(now) == 0 || len(later) == 0 {
			return len(later) == 0, nil
		}
		o, err := pair.SubmitNow()
		for _, i := range now {
			played[i].Outcome = o
		}
		open = later
		return false, err
	})
	for _, i := range open {
		played[i].Outcome = last
	}
	return played, err
}

func stateOf(pair *chain.Pair, camera *samples.Camera) policy.State {
	_, end, _ := pair.Predecessor()
	return policy.State{
		Now: pair.Now(), PredEnd: end, Interval: chain.DecisionSeconds, Service: pair.Service,
		Waits: pair.Simulation().LastWaits(waitsSeen), History: camera.History(pair),
		Queue: func() (policy.Queue, error) { return policy.NewQueue(pair.Service, pair.Simulation()), nil },
	}
}
