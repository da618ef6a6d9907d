package session

import (
	"math"
	"slices"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

// observer is the session as the tracker sees it.
type observer Session

// Observer returns the receiver of a session's events for a replay, which has no rings.
func (s *Session) Observer() task.Observer[TaskState] { return (*observer)(s) }

// TaskCreated finds the task's function and footprint, and what is known of it now.
func (o *observer) TaskCreated(t *task.Task[TaskState], sizes []int64) {
	s := (*Session)(o)
	f := s.functionOf(t)
	if t.Created > 0 {
		s.span(t.Iteration).Created++
	}
	if s.options.Dialect == event.OpenMP {
		sizes = f.varied.features(sizes)
	}
	t.State = TaskState{function: f, footprint: f.entry.Footprint(sizes)}
	if f.entry.IsReady(t.State.footprint) {
		t.State.predicted = *f.entry.PredictShared(t.State.footprint)
	}
}

// TaskStarted predicts the task with what is known when it starts. If later runs were reported
// already, the prediction from its creation remains.
func (o *observer) TaskStarted(t *task.Task[TaskState], late bool) {
	if t.State.function == nil {
		return
	}
	entry := t.State.function.entry
	entry.Begin()
	if !late && entry.IsReady(t.State.footprint) {
		entry.PredictAt(t.State.footprint, (*Session)(o).moment(t), &t.State.predicted)
	}
}

// moment returns what is known of a task in addition to its function and sizes.
func (s *Session) moment(t *task.Task[TaskState]) perfmodel.Moment {
	mhz, _ := s.frequencies.MHz(t.Core) // 0 where it is not known
	return perfmodel.Moment{Created: t.Created, MHz: mhz, Worker: t.Lane + 1}
}

// TaskEnded scores what was predicted of the run, learns from the run and logs it.
func (o *observer) TaskEnded(t *task.Task[TaskState], r task.Run) {
	s, m := (*Session)(o), &t.State
	f := m.function
	if f == nil {
		return
	}
	s.bodySeconds += r.Seconds
	s.runs++
	if !(r.Seconds > 0) {
		s.tooShort++
	}
	s.load(r.Iteration, r.Seconds)
	p := &m.predicted
	if p.Value > 0 {
		s.errors.Add(p.Value, r.Seconds)
	}
	if s.options.OnRun != nil {
		s.options.OnRun(t.Token, *p, r)
	}
	f.entry.ObserveAt(m.footprint, s.moment(t), p, r.Seconds)
	s.log(t, p, &r)
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

func (s *Session) log(t *task.Task[TaskState], p *perfmodel.Prediction, r *task.Run) {
	if len(s.logs) == 0 {
		return
	}
	row := task.Row{Iteration: r.Iteration, Task: t.Token, Lane: r.Lane, Flag: t.Flag.String(), Core: r.Core, Start: r.StartSeconds, Seconds: r.Seconds}
	if mhz, known := s.frequencies.MHz(r.Core); known {
		row.MHz = &mhz
	}
	if r.QueueSeconds >= 0 {
		row.Queue = &r.QueueSeconds
	}
	m := &t.State
	if p.Value > 0 {
		row.Predicted = &p.Value
	}
	if p.Value > 0 && !math.IsInf(p.High, 1) {
		row.Low, row.High = &p.Low, &p.High
	}
	text := s.texts(m)
	if text.predicted == nil || text.value != p.Value || text.low != p.Low || text.high != p.High {
		text.value = p.Value
		text.low = p.Low
		text.high = p.High
		text.predicted = task.PredictedText(text.predicted[:0], &row)
	}
	with := task.Texts{Entry: m.function.text, Predicted: text.predicted}
	for i, l := range s.logs {
		with.Sizes = text.sizes[i]
		if !l.w.Add(&row, &with) && i == 0 {
			one := summary.Tasks{Count: 1, Seconds: r.Seconds, Longest: r.Seconds}
			if t.Flag != event.Local {
				one.Remote = 1
			}
			s.countUnlogged(m.function.name, r.Iteration, one)
		}
	}
}

// countUnlogged counts tasks of an iteration that the log has no rows of.
func (s *Session) countUnlogged(function string, iteration int, more summary.Tasks) {
	if s.unlogged == nil {
		s.unlogged = &summary.Unlogged{}
	}
	s.unlogged.AddTo(function, more)
	round := s.span(iteration)
	if round.Unlogged == nil {
		round.Unlogged = &summary.Tasks{}
	}
	round.Unlogged.Add(more)
}

// texts returns the texts of the footprint, which are made once.
func (s *Session) texts(m *TaskState) *texts {
	t, ok := m.footprint.Mark.(*texts)
	if !ok {
		t = &texts{}
		for i, l := range s.logs {
			t.sizes[i] = task.SizesText(m.footprint.Sizes, l.format)
		}
		m.footprint.Mark = t
	}
	return t
}

// span returns the round of an iteration. Those beyond the listed ones share one.
func (s *Session) span(iteration int) *summary.Round {
	if iteration >= maxRounds {
		return &s.unlisted
	}
	for len(s.roundSummaries) <= iteration {
		s.roundSummaries = append(s.roundSummaries, summary.Round{})
	}
	return &s.roundSummaries[iteration]
}

// maxRounds bounds a summary to about two megabytes.
const maxRounds = 20_000

// TaskExcluded takes a task out of the creations of its iteration.
func (o *observer) TaskExcluded(t *task.Task[TaskState]) {
	if t.Created > 0 {
		(*Session)(o).span(t.Iteration).Created--
	}
}

// TaskSent counts a task that was sent away.
func (o *observer) TaskSent(iteration int) {
	(*Session)(o).span(iteration).Sent++
}

// TaskCancelled counts the creation of a task that never began.
func (o *observer) TaskCancelled(iteration int) {
	(*Session)(o).span(iteration).Created++
}

// TimeWaited adds to the iteration's waiting.
func (o *observer) TimeWaited(iteration int, seconds float64) {
	(*Session)(o).span(iteration).Waiting += seconds
}

// IterationEnded keeps when the iteration ended.
func (o *observer) IterationEnded(iteration int, at float64) {
	(*Session)(o).span(iteration).End = at
}

// IterationReported closes the iteration's load. Iterations come in order.
func (o *observer) IterationReported(int) {
	s := (*Session)(o)
	s.load(s.rounds, 0)
	s.history = append(s.history, s.loads[0])
	s.loads = slices.Delete(s.loads, 0, 1)
	s.rounds++
	for _, f := range s.order {
		f.entry.ForgetRunning()
		if s.rounds == s.options.Config.FirstFitRounds {
			f.entry.Hold(false)
		}
	}
}

// TaskAnnounced keeps a task that the patched library is to predict.
func (o *observer) TaskAnnounced(iteration int, entry uint64, sizes []int64) {
	if iteration < o.announcedIteration {
		return // a slower ring's; its iteration is over
	}
	if iteration > o.announcedIteration {
		o.announcedIteration, o.announced = iteration, o.announced[:0]
	}
	f := (*Session)(o).function(entry)
	o.announced = append(o.announced, TaskState{function: f, footprint: f.entry.Footprint(sizes)})
}

// LoadReported keeps a load that the patched library measured.
func (o *observer) LoadReported(iteration int, seconds float64) {
	o.patchedLoads[iteration] = max(o.patchedLoads[iteration], seconds)
}
