package perfmodel

import "slices"

// Options sets how a [Model] learns. The zero value works.
type Options struct {
	Kind     Kind     // what serves; 0 is Auto
	FirstFit int      // runs before the first answer; 0 is 10
	Network  *Network // for MLP; nil is none
	Level    float64  // share of runs that an interval holds; 0 is 0.9
}

// Prediction is what a task will take, in seconds.
type Prediction struct {
	Seconds   float64
	Low, High float64
	Model     Kind // that answered
}

// Model is what a process knows about its task functions. It belongs, with its
// entries, to one goroutine.
type Model struct {
	options Options
	entries map[string]*Entry
	names   []string
	columns columns // of the entry that is being fitted
}

// New returns a model that knows nothing.
func New(o Options) *Model {
	if o.FirstFit <= 0 {
		o.FirstFit = 10
	}
	if !(o.Level > 0 && o.Level < 1) {
		o.Level = 0.9
	}
	return &Model{options: o, entries: map[string]*Entry{}}
}

// Entry returns the entry of a task function, made where it is new. The name
// is the caller's: the same one on every rank and in every run.
func (m *Model) Entry(name string) *Entry {
	e := m.entries[name]
	if e == nil {
		e = &Entry{name: name, options: m.options, footprints: map[uint64]*Footprint{}, width: -1, serving: Power, columns: &m.columns}
		e.next = m.options.FirstFit
		m.entries[name] = e
		m.names = append(m.names, name)
	}
	return e
}

// Names are the entries' names in the order they appeared.
func (m *Model) Names() []string { return slices.Clone(m.names) }

// Fits is how often any entry was fitted.
func (m *Model) Fits() (n int) {
	for _, e := range m.entries {
		n += e.fits
	}
	return n
}

// Drifts is how often any entry's past was dropped because it no longer held.
func (m *Model) Drifts() (n int) {
	for _, e := range m.entries {
		n += e.drifts
	}
	return n
}
