package perfmodel

import (
	"fmt"
	"slices"

	"github.com/foretime/foretime/shared/registry"
)

// law is one way to answer for the footprints of one task function. Answers are
// logarithms of seconds. A law belongs to its entry and may read the entry's
// window and power law.
type law interface {
	// learn takes a run. plain reports that it is like the others: an outlier is
	// no reason to move a least-squares fit.
	learn(f *Footprint, m Moment, y float64, plain bool)
	// fit draws together what was learned.
	fit()
	// answer is NaN where the law has none for the footprint.
	answer(f *Footprint, m Moment) float64
	// forget drops what was learned; the runs that still hold follow by learn.
	forget()
}

// live marks a law whose answer changes with every run of the footprint; the
// others' change when they are fitted, and are asked for once a fit.
type live interface{ live() }

// momentary marks a law whose answer depends on the moment: it is asked for each
// task, where it carries weight.
type momentary interface{ momentary() }

// models are the models of a process, and the places of those that others stand
// on.
type models struct {
	laws    registry.List[func(*Entry) law]
	history int // what pace, worker and speed correct
	local   int // answers where no other model does
	median  int // no choice of models may lose to it
	// alone are the weights of the median alone.
	alone [mostModels]float64
}

func newModels() models {
	laws := Models()
	at := func(name string) int { return slices.Index(laws.Names(), name) }
	m := models{laws: laws, history: at("history"), local: at("local"), median: at("median")}
	m.alone[m.median] = 1
	return m
}

// Models are the ways to predict, each a file of this package. Their order means
// nothing.
func Models() registry.List[func(*Entry) law] {
	return registry.List[func(*Entry) law]{
		{Name: "history", Help: "the median of the last runs of equal sizes, drawn towards the local model where they are few", New: newHistory},
		{Name: "local", Help: "the middle of the nearest runs, each scaled to the asked size by the power law", New: newLocal},
		{Name: "power", Help: "a product of powers of the sizes, fitted to logarithms", New: newPower},
		{Name: "ridge", Help: "a polynomial of the total size, fitted to relative errors", New: newRidge},
		{Name: "median", Help: "the median of all runs of equal sizes", New: newMedian},
		{Name: "last", Help: "the last run of equal sizes", New: newLast},
		{Name: "near", Help: "the run of equal sizes that was created next to this one", New: newNear},
		{Name: "pace", Help: "history, times how much slower the last runs of all sizes were than their own", New: newPace},
		{Name: "worker", Help: "history, times how much slower the last runs of the same worker were than their own", New: newWorker},
		{Name: "speed", Help: "history, times how much slower the core is clocked than in the footprint's runs, as far as times follow", New: newSpeed},
	}
}

// Auto is the name of the weighted middle of all models.
const Auto = "auto"

// Names are the names that [Options.Serve] takes, Auto first.
func Names() []string { return append([]string{Auto}, Models().Names()...) }

// Check refuses a name that no model has. The error matches [ErrKind] and names
// the choices.
func Check(name string) error {
	if name == "" || name == Auto {
		return nil
	}
	if _, err := Models().Find(name); err != nil {
		return fmt.Errorf("%w: %w", ErrKind, err)
	}
	return nil
}

// mostModels bounds the number of models, so that an entry holds its weights
// without allocation.
const mostModels = 10
