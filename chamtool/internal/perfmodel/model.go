package perfmodel

import (
	"slices"

	"github.com/foretime/foretime/chamtool/internal/mixture"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Options sets how a [Model] learns. The zero value works.
type Options struct {
	Serve string  // the expert that serves alone, of [Names]; "" is Auto
	Level float64 // share of runs that an interval holds, at most 0.969; 0 is [Level]
}

// firstFit is the number of runs before the first answer.
const firstFit = 10

// Level is the share of runs that an interval holds where nothing else is asked for.
const Level = 0.9

// Prediction holds the predicted seconds of a task, and the name of the expert that gave the
// answer.
type Prediction struct {
	uncertainty.Prediction
	Model   string
	answers mixture.Answers // of all experts; see whole
	whole   bool            // they were asked for this task: its run is learned from
}

// Moment holds what is known of a task in addition to its function and sizes. The zero value
// holds nothing.
type Moment struct {
	Created uint64  // when, on a clock of the caller's; 0 is not known
	MHz     float64 // frequency of the core that runs it; 0 is not known
	Worker  int     // thread that runs it, from 1; 0 is not known
}

// Model holds what a process learned about its task functions. It and its entries belong to one
// goroutine.
type Model struct {
	options  Options
	serving  int // expert that serves alone; -1 is the mixture
	entries  map[string]*Entry
	names    []string
	places   []place               // room for the entry that is being fitted
	mix      [2]mixture.Mixture    // of all entries together, see [Entry]
	speed    speed                 // of the process and its workers
	learned  int                   // runs, of all entries
	interval *uncertainty.Adaptive // of the entries that have none of their own yet
	store    *Store                // what new entries begin with
}

// New returns a model that knows nothing.
func New(o Options) *Model {
	if _, err := uncertainty.NewAdaptive(uncertainty.Factor, o.Level); err != nil {
		o.Level = Level
	}
	m := &Model{options: o, serving: expertIndex(o.Serve), entries: map[string]*Entry{}, store: &Store{}}
	for i := range m.mix {
		m.mix[i] = mixture.New(experts)
	}
	m.interval = m.newInterval()
	return m
}

func (m *Model) newInterval() *uncertainty.Adaptive {
	a, _ := uncertainty.NewAdaptive(uncertainty.Factor, m.options.Level) // New saw to the level
	return &a
}

// Entry returns the entry of a task function, made where it is new. The name
// is the caller's: the same one on every rank and in every run.
func (m *Model) Entry(name string) *Entry {
	e := m.entries[name]
	if e == nil {
		e = newEntry(name, m)
		m.entries[name] = e
		m.names = append(m.names, name)
		e.teach(m.store.Runs(name))
	}
	return e
}

// Names are the entries' names in the order they appeared.
func (m *Model) Names() []string { return slices.Clone(m.names) }

// Fits returns the number of fits of all entries.
func (m *Model) Fits() (n int) {
	for _, e := range m.entries {
		n += e.fits
	}
	return n
}
