package session

import (
	"bytes"
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// observer is the session as the tracker sees it.
type observer Session

// Function returns the first address of the function at an address.
func (o *observer) Function(address uint64) uint64 { return (*Session)(o).function(address).first }

// Created finds the task's function and footprint, and what is known of it now.
func (o *observer) Created(t *task.Task[mark], sizes []int64) {
	s := (*Session)(o)
	f := s.functionOf(t)
	if r := s.span(t.Iteration); t.Created > 0 && r != nil {
		r.Created++
	}
	if s.o.Dialect == event.OpenMP {
		sizes = f.varied.features(sizes)
	}
	t.Mark = mark{function: f, footprint: f.entry.Footprint(sizes)}
	if f.entry.Ready(t.Mark.footprint) {
		t.Mark.predicted = f.entry.PredictShared(t.Mark.footprint)
		t.Mark.first = t.Mark.predicted.Value
	}
}

// Started predicts the task with what is known when it starts. If later runs were reported
// already, the prediction from its creation remains.
func (o *observer) Started(t *task.Task[mark], late bool) {
	s, m := (*Session)(o), &t.Mark
	if m.function != nil && !late {
		s.predictTask(t)
	}
}

// predictTask predicts the task, if its function has a model.
func (s *Session) predictTask(t *task.Task[mark]) {
	m := &t.Mark
	if !m.function.entry.Ready(m.footprint) {
		return
	}
	if len(s.spare) == 0 {
		s.spare = append(s.spare, new(perfmodel.Prediction))
	}
	last := len(s.spare) - 1
	m.predicted = m.function.entry.PredictAt(m.footprint, s.moment(t), s.spare[last])
	if m.own = m.predicted == s.spare[last]; m.own {
		s.spare = s.spare[:last]
	}
}

// moment returns what is known of a task in addition to its function and sizes.
func (s *Session) moment(t *task.Task[mark]) perfmodel.Moment {
	mhz, _ := s.freq.MHz(t.Core) // 0 where it is not known
	return perfmodel.Moment{Created: t.Created, MHz: mhz, Worker: t.Lane + 1, Iteration: t.Iteration + 1}
}

// Ended scores what was predicted of the run, learns from the run and logs it.
func (o *observer) Ended(t *task.Task[mark], r task.Run) {
	s, m := (*Session)(o), &t.Mark
	f := m.function
	if f == nil {
		return
	}
	s.seconds += r.Seconds
	s.ended++
	if !(r.Seconds > 0) {
		s.tooShort++
	}
	s.load(r.Iteration, r.Seconds)
	p := m.predicted
	if p == nil {
		p = &s.nothing
	}
	if p.Value > 0 {
		if miss, ok := s.errors.Add(p.Value, r.Seconds); ok {
			f.judged++
			f.relative += miss
		}
	}
	if s.o.Each != nil {
		s.o.Each(m.footprint, *p, r)
	}
	f.entry.ObserveAt(m.footprint, s.moment(t), p, r.Seconds)
	s.log(t, p, &r)
	if m.own {
		s.spare = append(s.spare, p)
	}
}

// load adds a run to its iteration, unless the iteration is over.
func (s *Session) load(iteration int, seconds float64) {
	i := iteration - s.rounds
	if i < 0 {
		return
	}
	for len(s.loads) <= i {
		s.loads = append(s.loads, 0)
	}
	s.loads[i] += seconds
}

func (s *Session) log(t *task.Task[mark], p *perfmodel.Prediction, r *task.Run) {
	if len(s.logs) == 0 {
		return
	}
	row := task.Row{Iteration: r.Iteration, Task: t.Token, Lane: r.Lane, Flag: t.Flag.String(), Core: r.Core, Start: r.StartSeconds, Seconds: r.Seconds}
	if mhz, known := s.freq.MHz(r.Core); known {
		row.MHz = &mhz
	}
	if r.QueueSeconds >= 0 {
		row.Queue = &r.QueueSeconds
	}
	if r.CPUSeconds >= 0 {
		row.CPU = &r.CPUSeconds
	}
	m := &t.Mark
	if p.Value > 0 {
		row.Predicted = &p.Value
	}
	if p.Value > 0 && !math.IsInf(p.High, 1) {
		row.Low, row.High = &p.Low, &p.High
	}
	text := m.texts()
	if text.predicted == nil || text.value != p.Value || text.low != p.Low || text.high != p.High {
		text.value, text.low, text.high = p.Value, p.Low, p.High
		text.predicted = task.PredictedText(text.predicted[:0], &row)
		text.digits = bytes.IndexByte(text.predicted, ',')
	}
	first := s.first[:0]
	switch {
	case m.first == p.Value:
		first = text.predicted[:text.digits]
	case m.first > 0:
		first = task.SecondsText(first, m.first)
		s.first = first
	}
	with := task.Texts{Entry: m.function.text, Predicted: text.predicted, First: first}
	for i, l := range s.logs {
		with.Sizes = text.sizes[l.layout]
		if !l.w.Add(&row, &with) && i == 0 {
			s.count(m.function.name, t, r)
		}
	}
}

// count counts a run that the log has no room for.
func (s *Session) count(function string, t *task.Task[mark], r *task.Run) {
	if s.beyond == nil {
		s.beyond = &summary.Beyond{}
	}
	remote := t.Flag != event.Local
	s.beyond.Add(function, r.Lane, r.Seconds, remote)
	if span := s.span(r.Iteration); span != nil {
		if span.Beyond == nil {
			span.Beyond = &summary.Tasks{}
		}
		span.Beyond.Add(r.Seconds, remote)
	}
}

// texts returns the texts of the footprint, which are made once.
func (m *mark) texts() *texts {
	t, ok := m.footprint.Mark.(*texts)
	if !ok {
		t = &texts{}
		for layout := range t.sizes {
			t.sizes[layout] = task.SizesText(m.footprint.Sizes, task.Layout(layout))
		}
		m.footprint.Mark = t
	}
	return t
}

// span returns the round of an iteration, nil beyond those that are listed.
func (s *Session) span(iteration int) *summary.Round {
	if iteration >= mostSpans {
		return nil
	}
	for len(s.spans) <= iteration {
		s.spans = append(s.spans, summary.Round{})
	}
	return &s.spans[iteration]
}

// mostSpans bounds a summary to about two megabytes.
const mostSpans = 20_000

// Excluded takes a task out of the creations of its iteration.
func (o *observer) Excluded(t *task.Task[mark]) {
	if r := (*Session)(o).span(t.Iteration); t.Created > 0 && r != nil {
		r.Created--
	}
}

// Given counts a task that was sent away.
func (o *observer) Given(iteration int) {
	if r := (*Session)(o).span(iteration); r != nil {
		r.Given++
	}
}

// Cancelled counts the creation of a task that never began.
func (o *observer) Cancelled(iteration int) {
	if r := (*Session)(o).span(iteration); r != nil {
		r.Created++
	}
}

// Waited adds to the iteration's waiting.
func (o *observer) Waited(iteration int, seconds float64) {
	if r := (*Session)(o).span(iteration); r != nil {
		r.Waiting += seconds
	}
}

// Ticked keeps when the iteration ended.
func (o *observer) Ticked(iteration int, at float64) {
	if r := (*Session)(o).span(iteration); r != nil {
		r.End = at
		graph, ok := o.tracker.Graph()
		if ok {
			own := graph.Minus(o.graph)
			r.Graph = &own
		}
		o.graph = graph
	}
}

// Iterated closes the iteration's load. Iterations come in order.
func (o *observer) Iterated(int) {
	s := (*Session)(o)
	s.load(s.rounds, 0)
	s.history = append(s.history, s.loads[0])
	s.iterations.add(s.loads[0])
	s.loads = slices.Delete(s.loads, 0, 1)
	if s.rounds++; s.rounds == s.o.Config.FirstFitRounds {
		for _, f := range s.order {
			f.entry.Hold(false)
		}
	}
}

// Announced is called if the patched library predicts each task.
func (o *observer) Announced(iteration int, entry uint64, sizes []int64) {
	if iteration < o.announcing {
		return // a slower ring's; its iteration is over
	}
	if iteration > o.announcing {
		o.announcing, o.announced = iteration, o.announced[:0]
	}
	f := (*Session)(o).function(entry)
	o.announced = append(o.announced, mark{function: f, footprint: f.entry.Footprint(sizes)})
}

// Loaded is called by the patched library.
func (o *observer) Loaded(iteration int, seconds float64) {
	o.patchedLoads[iteration] = max(o.patchedLoads[iteration], seconds)
}
