package validation

import (
	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/policy"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
)

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
	camera.RunUntil(pair, start)
	played, open := make([]Played, len(policies)), make([]int, len(policies))
	for i := range open {
		open[i] = i
	}
	last, err := pair.Decisions(func(pair *chain.Pair) (bool, error) {
		camera.RunUntil(pair, pair.Now())
		s, err := stateOf(pair, camera)
		if err != nil {
			return false, err
		}
		var now, later []int
		for _, i := range open {
			if played[i].Decided.Next > pair.Now() {
				later = append(later, i)
				continue
			}
			played[i].Decision++
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

func stateOf(pair *chain.Pair, camera *samples.Camera) (policy.State, error) {
	h, err := camera.History(pair)
	if err != nil {
		return policy.State{}, err
	}
	start, end, _ := pair.Predecessor()
	return policy.State{
		Now: pair.Now(), PredStart: start, PredEnd: end, Service: pair.Service,
		Waits: pair.Simulation().LastWaits(waitsSeen), History: h,
		Queue: func() (policy.Queue, error) { return policy.NewQueue(pair.Service, pair.Simulation()), nil },
	}, nil
}
