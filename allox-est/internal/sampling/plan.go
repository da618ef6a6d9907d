package sampling

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
)

// Where the job does not say when sampling stops.
const (
	defaultBudget = 0.03
	defaultTarget = 0.05
)

// budget is how many epochs of a job may be sampled on a device.
func budget(s *jobspec.Spec) float64 {
	return cmp.Or(s.Sample.Budget, defaultBudget) * float64(s.Epochs)
}

// Step is a run to make.
type Step struct {
	Device string `json:"device"`
	Kind   string `json:"kind"` // journal.Sample or journal.Full
	Epochs int    `json:"epochs"`
	Stage  int    `json:"stage,omitempty"` // unit after which it begins
}

// Plan is how a job is sampled. What comes next follows from the journal
// alone, so that a plan that was interrupted goes on where it stopped.
type Plan struct {
	Spec    *jobspec.Spec
	Devices []string
	Seed    uint64
	// HalfWidth is the relative half-width of the interval that a device's
	// samples give, infinite where they give none: sampling ends when it meets
	// the job's target. Nil samples until the budget is spent.
	HalfWidth func(samples []journal.Run, device string) float64
}

// mostFailures is how many runs in a row may fail before a device is given up.
const mostFailures = 2

// Next returns the next sample; ok is false when no device needs one. The
// device with fewest samples goes first.
func (p Plan) Next(j *journal.Journal) (step Step, ok bool) {
	least := 0
	for i, device := range p.Devices {
		all := j.Of(journal.Key{Job: p.Spec.Hash(device), Device: device}, journal.Sample)
		if GivenUp(all) {
			continue
		}
		for _, start := range p.Spec.Starts() {
			runs := slices.DeleteFunc(slices.Clone(all), func(r journal.Run) bool { return r.Stage != start })
			good := succeeded(runs)
			if p.done(good, device) {
				continue
			}
			if n := len(good); !ok || n < least || n == least && start == step.Stage && p.draw(i, n)&1 == 0 {
				least, ok = n, true
				step = Step{device, journal.Sample, p.length(i, good), start}
			}
		}
	}
	return step, ok
}

// done says that a device's samples suffice, may not go on, or cannot.
func (p Plan) done(good []journal.Run, device string) bool {
	n := len(good)
	if n%2 != 0 {
		return false // a pair is made whole
	}
	if n == 0 || n == 2 && !marked(good) {
		return false // two whole runs give a line, but no interval
	}
	if most := p.Spec.Sample.Repeats; most > 0 && n >= 2*most {
		return true
	}
	short, long := p.Spec.Lengths()
	asked := func(r journal.Run) int { return cmp.Or(r.Asked, r.Epochs) }
	if one := asked(good[0]); one < long && !slices.ContainsFunc(good, func(r journal.Run) bool { return asked(r) != one }) {
		return false // those of a shorter job, of one length
	}
	if float64(spent(good)+short+long) > budget(p.Spec)+1e-9 {
		return true
	}
	return p.HalfWidth != nil && p.HalfWidth(good, device) <= cmp.Or(p.Spec.Sample.Target, defaultTarget)
}

// spent adds up the epochs of runs.
func spent(runs []journal.Run) (epochs int) {
	for _, r := range runs {
		epochs += r.Epochs
	}
	return epochs
}

// marked says that a run told how far it came.
func marked(runs []journal.Run) bool {
	return slices.ContainsFunc(runs, func(r journal.Run) bool { return len(r.Timeline()) > 1 })
}

// length returns the length of a device's next sample: each pair holds both
// lengths, in an order that is drawn. Those after a pair without any mark are longer,
// four times, up to a quarter of the job: lines may come now and then only.
func (p Plan) length(device int, good []journal.Run) int {
	short, long := p.Spec.Lengths()
	n := len(good)
	if n >= 2 && !marked(good) && 4*4*(short+long) <= p.Spec.Epochs {
		short, long = 4*short, 4*long
	}
	first := int(p.draw(device, n/2)>>1) & 1
	if (n+first)%2 == 0 {
		return short
	}
	return long
}

// Cost is how many epochs the next samples take that are sure to be made: a pair on
// each device that has none.
func (p Plan) Cost(j *journal.Journal) (epochs int) {
	short, long := p.Spec.Lengths()
	for _, device := range p.Devices {
		if len(j.Of(journal.Key{Job: p.Spec.Hash(device), Device: device}, journal.Sample)) == 0 {
			epochs += len(p.Spec.Starts()) * (short + long)
		}
	}
	return epochs
}

// draw returns random bits for a device's n-th choice, the same whenever it is
// asked.
func (p Plan) draw(device, n int) uint64 {
	return rand.New(rand.NewPCG(p.Seed, uint64(device)<<32|uint64(n))).Uint64()
}

// succeeded are the runs that can be used.
func succeeded(runs []journal.Run) []journal.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r journal.Run) bool { return r.Failed() })
}

// GivenUp says that the last runs failed so often that no more are made.
func GivenUp(runs []journal.Run) bool {
	failures := 0
	for _, r := range slices.Backward(runs) {
		if !r.Failed() {
			break
		}
		if r.Unavailable {
			return true
		}
		failures++
	}
	return failures >= mostFailures
}
