package sampling

import (
	"cmp"
	"slices"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
)

// Where the job does not say when sampling stops.
const (
	defaultBudget = 0.03
	defaultTarget = 0.05
)

// Step is a run to make.
type Step struct {
	Device string
	Kind   string // journal.Sample or journal.Full
	Epochs int
	Stage  int // unit after which it begins
}

// Forecast is the time of a job on a device as its samples predict it, in seconds.
type Forecast struct {
	Total float64 // of the job; 0 where there is no estimate
	Once  float64 // set-up and teardown of a run
	Unit  float64 // of one epoch
	// HalfWidth is the relative half-width of the interval; infinite without one.
	HalfWidth float64
}

// cost returns the seconds of a run of so many epochs.
func (f Forecast) cost(epochs int) float64 { return f.Once + float64(epochs)*f.Unit }

// Plan says which samples a job needs. The next one follows from the journal alone, so a
// plan that was interrupted continues.
type Plan struct {
	Spec    *jobspec.Spec
	Devices []string
	// Pairs asks for samples of two lengths on each device, for a method that needs them.
	Pairs bool
	// Predict returns the forecast from a device's samples. Nil counts
	// the budget in epochs.
	Predict func(samples []journal.Run, device string) Forecast
}

// mostFailures is the number of failed runs in a row after which a device is given up.
const mostFailures = 2

// Next returns the next sample; ok is false when no device needs one. The device with
// fewest samples goes first.
func (p Plan) Next(j *journal.Journal) (step Step, ok bool) {
	least := 0
	for _, device := range p.Devices {
		all := j.Of(p.Spec.Hash(device), journal.Sample)
		isCut := func(r journal.Run) bool { return r.Stopped != "" } // its epochs suffice
		if GivenUp(all) || slices.ContainsFunc(all, isCut) {
			continue
		}
		for _, start := range p.Spec.Starts() {
			good := slices.DeleteFunc(usable(all), func(r journal.Run) bool { return r.Stage != start })
			if p.done(good, device) {
				continue
			}
			if n := len(good); !ok || n < least {
				least, ok = n, true
				step = Step{device, journal.Sample, p.length(good), start}
			}
		}
	}
	return step, ok
}

// done says that a device's samples suffice, may not go on, or cannot. A sample that
// shows its progress is one intercept and one rate; without progress a line needs two
// lengths, and its interval two pairs.
func (p Plan) done(good []journal.Run, device string) bool {
	n, least := len(good), 1
	switch told := showsProgress(good); {
	case !told:
		least = 4
	case p.Pairs:
		least = 2
	}
	if n < least {
		return false
	}
	if most := p.Spec.Sample.Repeats; most > 0 && n >= 2*most {
		return true
	}
	short, long := p.Spec.Lengths()
	asked := func(r journal.Run) int { return cmp.Or(r.Asked, r.Epochs) }
	if one := asked(good[0]); one < long && !slices.ContainsFunc(good, func(r journal.Run) bool { return asked(r) != one }) {
		return false // those of a shorter job, of one length
	}
	var f Forecast
	if p.Predict != nil {
		f = p.Predict(good, device)
	}
	epochs, seconds := spent(good)
	if !(f.Total > 0) { // the epochs are all that is known
		return float64(epochs+short+long) > p.budget()*float64(p.Spec.Epochs)+1e-9
	}
	return f.HalfWidth <= cmp.Or(p.Spec.Sample.Target, defaultTarget) || seconds+f.cost(p.length(good)) > p.budget()*f.Total
}

// budget returns the time of the samples on a device relative to that of the job.
func (p Plan) budget() float64 { return cmp.Or(p.Spec.Sample.Budget, defaultBudget) }

// spent adds up the epochs and the wall times of runs.
func spent(runs []journal.Run) (epochs int, seconds float64) {
	for _, r := range runs {
		epochs += r.Epochs
		seconds += r.Wall
	}
	return epochs, seconds
}

// showsProgress reports whether a run showed its progress.
func showsProgress(runs []journal.Run) bool {
	return slices.ContainsFunc(runs, func(r journal.Run) bool { return len(r.Timeline()) > 1 })
}

// length returns the length of a device's next sample, long and short in turn. Those after
// two without progress are longer, four times, up to a quarter of the job: lines may come
// now and then only.
func (p Plan) length(good []journal.Run) int {
	short, long := p.Spec.Lengths()
	n := len(good)
	if n >= 2 && !showsProgress(good) && 4*4*(short+long) <= p.Spec.Epochs {
		short, long = 4*short, 4*long
	}
	if n%2 == 0 {
		return long
	}
	return short
}

// First returns the samples that are certain to be made: one on each device that has
// none, from each start.
func (p Plan) First(j *journal.Journal) (runs, epochs int) {
	for _, device := range p.Devices {
		if len(j.Of(p.Spec.Hash(device), journal.Sample)) == 0 {
			n := len(p.Spec.Starts())
			runs, epochs = runs+n, epochs+n*p.length(nil)
		}
	}
	return runs, epochs
}

// usable returns the runs that can be used.
func usable(runs []journal.Run) []journal.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r journal.Run) bool { return r.HasFailed() })
}

// GivenUp says that the last runs failed so often that no more are made. A run that timed
// out would do so again.
func GivenUp(runs []journal.Run) bool {
	failures := 0
	for _, r := range slices.Backward(runs) {
		if !r.HasFailed() {
			break
		}
		failures++
		if r.Timeout > 0 {
			return true
		}
	}
	return failures >= mostFailures
}
