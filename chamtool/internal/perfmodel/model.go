package perfmodel

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/foretime/foretime/chamtool/internal/interval"
	"github.com/foretime/foretime/chamtool/internal/mixture"
	"github.com/foretime/foretime/shared/uncertainty"
)

// FirstFit is the number of runs before the first answer.
const FirstFit = 10

// Prediction holds the predicted seconds of a task.
type Prediction struct {
	uncertainty.Prediction
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
	serving  int // expert that serves alone; -1 is the mixture
	entries  map[string]*Entry
	places   []place       // room for the entry that is being fitted
	mixtures mixturePair   // of all entries together, see [Entry]
	speed    speed         // of the process and its workers
	learned  int           // runs, of all entries
	ends     interval.Ends // of the entries that have none of their own yet
	store    *Store        // what new entries begin with
}

// New returns a model that knows nothing. The expert of a name of [Names] serves alone; "" is Auto.
func New(expert string) *Model {
	return &Model{serving: slices.Index(names, expert), entries: map[string]*Entry{}, mixtures: newMixtures(), store: &Store{}}
}

// Teach lets the entries that the model makes from now on learn from kept runs. They
// count as learned, not as new: [Model.TakeRuns] leaves them out.
func (m *Model) Teach(s *Store) { m.store = s }

// Entry returns the entry of a task function, made where it is new. The name
// is the caller's: the same one on every rank and in every run.
func (m *Model) Entry(name string) *Entry {
	e := m.entries[name]
	if e == nil {
		e = newEntry(name, m)
		m.entries[name] = e
		e.teach(m.store.Runs(name))
	}
	return e
}

// TakeRuns returns what the model learned from runs of its own since the last call, as far as
// the window holds them, with the time now.
func (m *Model) TakeRuns(now time.Time) *Store {
	s := &Store{Replaces: map[string]bool{}}
	for name, e := range m.entries {
		own := slices.DeleteFunc(slices.Clone(e.samples), func(one sample) bool { return one.order <= e.stored })
		if len(own) == 0 {
			continue
		}
		slices.SortFunc(own, func(a, b sample) int { return cmp.Compare(a.order, b.order) })
		runs := make([]StoredRun, len(own))
		for i, one := range own {
			runs[i] = StoredRun{one.f.Sizes, math.Exp(one.y)}
		}
		s.Set(name, now.Unix(), runs)
		if e.unsaved {
			s.Replaces[name] = true
		}
		e.stored = e.learned
		e.unsaved = false
	}
	return s
}
