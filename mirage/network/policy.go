package network

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/shared/regression"
)

// Policies are learnt from episodes played to the end at every probe, so what
// would have come of submitting is known at each step: the environment is the
// simulator, run beforehand. A step is a probe; many probes an episode make a
// fine one.

// firstLead is the lead in hours that a policy gradient sets out from.
const firstLead = 2.4

// softness, in hours, is how far from the wanted lead a policy that is being
// learnt still draws both ways. With several hours it would draw so often, so
// early in an episode, that it never learns to submit.
const softness = 1

// maxCost is the most, in hours, that a step's cost counts, so that a few
// hopeless submissions early in an episode do not drown the rest.
const maxCost = 24

// step is a decision of an episode.
type step struct {
	x         []float64 // standardised summary
	remaining float64   // hours that the predecessor has left
	cost      float64   // of submitting here, in units of maxCost
}

// decider is a small network that says whether to submit. With one output it
// says how long a lead it wants, in days, and submits when no more remains;
// with two it values submitting and waiting. As a scorer it answers with hours
// of wait, such that an expected reward of 0 is where it changes its mind.
type decider struct {
	Net     *net      `json:"net"`
	Center  []float64 `json:"center"`
	Scale   []float64 `json:"scale"`
	Remains int       `json:"remaining_feature"`
}

func (d *decider) Hours(x []float64) (float64, error) {
	if err := regression.CheckRow(x, len(d.Center), false); err != nil {
		return 0, err
	}
	remaining := x[d.Remains] / 3600
	// Indifference is at 0; a difference of values has no unit, and what it
	// answers beyond indifference is only there to be continuous.
	lean := lean(d.Net.forward(d.standard(x)), remaining)
	if d.Net.Out == 2 {
		lean = 24 * math.Tanh(lean)
	}
	return max(0, remaining+lean), nil
}

// softplus is log(1+e^x): above 0 wherever a network wanders.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// lean is how much a network's output is for submitting: hours of the wanted
// lead over what remains, or the value of submitting over that of waiting.
func lean(out []float64, remaining float64) float64 {
	if len(out) == 1 {
		return 24*softplus(out[0]) - remaining
	}
	return out[0] - out[1]
}

func (d *decider) standard(x []float64) []float64 {
	out := model.Squash(x)
	for i := range out {
		out[i] = (out[i] - d.Center[i]) / d.Scale[i]
	}
	return out
}

func (d *decider) Save() ([]byte, error) { return json.Marshal(d) }

func loadPolicy(b []byte) (model.Scorer, error) {
	d := new(decider)
	if err := json.Unmarshal(b, d); err != nil {
		return nil, err
	}
	if d.Net == nil || len(d.Center) != len(d.Scale) || d.Remains < 0 || d.Remains >= len(d.Center) || !d.Net.sound(len(d.Center)) {
		return nil, fmt.Errorf("%w: parts of the policy do not fit", model.ErrFile)
	}
	return d, nil
}

// learning is a way to learn a policy: how many outputs its network has, and
// one epoch of it.
type learning struct {
	outputs int
	epoch   func(n *net, rng *rand.Rand, episodes [][]step, epoch int)
}

func (l learning) learner() model.Learner {
	return model.Learner{
		View: model.Summaries(), Load: loadPolicy,
		Play: func(ctx context.Context, v model.View, sets []*samples.Set, s model.Settings) (model.Scorer, model.Report, error) {
			return trainPolicy(ctx, l, v, sets, s)
		},
	}
}

// trainPolicy learns a policy from episodes: by policy gradient, or by fitted
// values with replay. The later episodes of each set choose the epoch.
func trainPolicy(ctx context.Context, l learning, v model.View, sets []*samples.Set, s model.Settings) (model.Scorer, model.Report, error) {
	d := &decider{Remains: slices.Index(model.SummaryNames(), "remaining_seconds")}
	var r model.Report
	train, held, err := episodesOf(d, v, sets, s, &r)
	if err != nil {
		return nil, r, err
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0x706f6c696379))
	d.Net = newNet(rng, len(d.Center), 32, l.outputs)
	if l.outputs == 1 {
		d.Net.Weights[len(d.Net.Weights)-1] = math.Log(math.Expm1(firstLead / 24))
	}
	best, least, bestEpoch := d.Net.clone(), math.Inf(1), 0
	const epochs = 40
	for epoch := 1; epoch <= epochs; epoch++ {
		if err := ctx.Err(); err != nil {
			return nil, r, err
		}
		l.epoch(d.Net, rng, train, epoch)
		if c := play(d.Net, held); c < least {
			best, least, bestEpoch = d.Net.clone(), c, epoch
		}
	}
	d.Net = best
	r.CostHours = least * maxCost
	r.Detail = fmt.Sprintf("%d epochs, the best was %d; cost by the probe", epochs, bestEpoch)
	return d, r, nil
}

// episodesOf turns sets into episodes of steps and divides each set by time.
func episodesOf(d *decider, v model.View, sets []*samples.Set, s model.Settings, r *model.Report) (train, held [][]step, err error) {
	var raw [][]samples.Sample
	var heldRaw [][]samples.Sample
	for _, set := range sets {
		rows, left, err := model.Usable(set, s.Until, v)
		if err != nil {
			return nil, nil, err
		}
		r.LeftOut += left
		known := map[int64]bool{}
		for _, row := range rows {
			known[row.Decision] = true
		}
		episodes := map[int][]samples.Sample{}
		for _, sample := range set.Samples {
			if known[sample.Decision] && sample.Decision >= sample.PredStart {
				episodes[sample.Episode] = append(episodes[sample.Episode], sample)
			}
		}
		var order []int
		for e := range episodes {
			order = append(order, e)
		}
		slices.Sort(order)
		cut := len(order) - int(model.HeldOutShare*float64(len(order)))
		for i, e := range order {
			switch {
			case i >= cut:
				heldRaw = append(heldRaw, episodes[e])
			case i < cut && (cut == len(order) || last(episodes[e]) < episodes[order[cut]][0].Decision):
				raw = append(raw, episodes[e])
			default:
				r.LeftOut += len(episodes[e])
			}
		}
	}
	if len(raw) < 10 || len(heldRaw) < 2 {
		return nil, nil, fmt.Errorf("%w: %d episodes are too few", model.ErrSamples, len(raw)+len(heldRaw))
	}
	standardise(d, v, raw)
	for _, e := range raw {
		train = append(train, steps(d, v, e, s.OverlapCost))
		r.Rows += len(e)
	}
	for _, e := range heldRaw {
		held = append(held, steps(d, v, e, s.OverlapCost))
		r.HeldOutRows += len(e)
	}
	return train, held, nil
}

func last(e []samples.Sample) (known int64) {
	for _, s := range e {
		known = max(known, s.SuccStart)
	}
	return known
}

func standardise(d *decider, v model.View, episodes [][]samples.Sample) {
	n := 0.0
	width := len(v.Names())
	d.Center, d.Scale = make([]float64, width), make([]float64, width)
	square := make([]float64, width)
	for _, e := range episodes {
		for _, s := range e {
			for i, x := range model.Squash(v.Row(&s)) {
				d.Center[i] += x
				square[i] += x * x
			}
			n++
		}
	}
	for i := range d.Center {
		d.Center[i] /= n
		d.Scale[i] = max(math.Sqrt(max(square[i]/n-d.Center[i]*d.Center[i], 0)), 1e-3)
	}
}

func steps(d *decider, v model.View, e []samples.Sample, overlapCost float64) []step {
	slices.SortFunc(e, func(a, b samples.Sample) int { return cmp.Compare(a.Probe, b.Probe) })
	out := make([]step, len(e))
	for i, s := range e {
		hours := float64(s.Reward) / 3600
		cost := max(hours, 0) + overlapCost*max(-hours, 0)
		out[i] = step{d.standard(v.Row(&s)), float64(s.PredEnd-s.Decision) / 3600, min(cost, maxCost) / maxCost}
	}
	return out
}

// play is the mean cost of episodes in which the network decides.
func play(n *net, episodes [][]step) float64 {
	sum := 0.0
	for _, e := range episodes {
		at := len(e) - 1
		for i := range e[:at] {
			if lean(n.forward(e[i].x), e[i].remaining) > 0 {
				at = i
				break
			}
		}
		sum += e[at].cost
	}
	return sum / float64(len(episodes))
}

// reinforce is one epoch of policy gradient (Williams, Machine Learning 8,
// 1992) with a bonus for entropy. In an episode the network submits at each
// step with probability p = 1/(1+e^-f), where f is the wanted lead less what
// remains, over the softness, and at the last step by itself. What every
// action leads to is known, so the sum over actions is taken exactly instead
// of from draws (Sutton and others, NIPS 12, 1999): the gradient of the
// expected cost by f is the chance of getting to the step, times p(1-p), times
// the cost of submitting less the baseline, which is the expected cost of
// waiting. Steps hardly ever reached are kept alive.
//
// A network that answers with f itself does not learn this: nearly all steps
// come too early, and before it can tell them apart it has learnt never to
// submit.
func reinforce(n *net, rng *rand.Rand, episodes [][]step, epoch int) {
	const entropy = 0.0005
	for k, i := range rng.Perm(len(episodes)) {
		e := episodes[i]
		f, p, slope, reached := make([]float64, len(e)-1), make([]float64, len(e)-1), make([]float64, len(e)-1), make([]float64, len(e))
		reached[0] = 1
		for s := range f {
			out := n.forward(e[s].x)
			f[s] = lean(out, e[s].remaining) / softness
			slope[s] = 24 / softness / (1 + math.Exp(-out[0])) // of f by the output
			p[s] = 1 / (1 + math.Exp(-f[s]))
			reached[s+1] = reached[s] * (1 - p[s])
		}
		wait := e[len(e)-1].cost
		for s := len(f) - 1; s >= 0; s-- {
			gradient := max(reached[s], 0.01) * p[s] * (1 - p[s]) * (e[s].cost - wait + entropy*f[s]) * slope[s]
			n.accumulate(e[s].x, []float64{gradient})
			wait = p[s]*e[s].cost + (1-p[s])*wait
		}
		if k%8 == 7 || k == len(episodes)-1 {
			n.update(0.003 / (1 + float64(epoch)/20))
		}
	}
}

// qlearn is one epoch of learning the values of submitting and of waiting
// (negative costs), from steps replayed in random order: that of submitting is
// known, that of waiting is the better of the two at the next step, by the
// network as it was when the epoch began (Mnih and others, Nature 518, 2015).
func qlearn(n *net, rng *rand.Rand, episodes [][]step, epoch int) {
	target := n.clone()
	type at struct{ episode, step int }
	var replay []at
	for i, e := range episodes {
		for s := range e[:len(e)-1] {
			replay = append(replay, at{i, s})
		}
	}
	for k, r := range rng.Perm(len(replay)) {
		e, s := episodes[replay[r].episode], replay[r].step
		wait := -e[s+1].cost
		if s+1 < len(e)-1 {
			next := target.forward(e[s+1].x)
			if next[1] > next[0] {
				wait = next[1]
			}
		}
		out := n.forward(e[s].x)
		n.accumulate(e[s].x, []float64{out[0] + e[s].cost, out[1] - wait})
		if k%32 == 31 || k == len(replay)-1 {
			n.update(0.002 / (1 + float64(epoch)/30))
		}
	}
}
