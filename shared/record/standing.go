package record

import (
	"fmt"
	"math"

	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

const (
	minOutcomes    = 10 // outcomes before an interval is corrected
	recentOutcomes = 50 // outcomes that a Standing counts
)

// Standing summarises the last 50 outcomes of a question: how many intervals
// contained them, and the size of the misses.
type Standing struct {
	Question
	Outcomes int     `json:"outcomes"`
	Held     int     `json:"held"`
	Level    float64 `json:"level"`           // mean level of the intervals
	Miss     float64 `json:"median_miss"`     // of the misses: distance from the nearer end, in interval widths
	Error    float64 `json:"median_error"`    // |outcome - value| / |outcome|
	Factor   float64 `json:"width_factor"`    // of the next interval, at the last level
	Open     int     `json:"without_outcome"` // predictions
}

// String returns the last line of an answer, "" until there are ten outcomes.
func (s Standing) String() string {
	if s.Outcomes < minOutcomes {
		return ""
	}
	return fmt.Sprintf("%d of the last %s here were in their interval (level %.0f %%)", s.Held, plural.Count(s.Outcomes, "outcome"), 100*s.Level)
}

// id identifies the open prediction of an outcome.
type id struct {
	Question
	key string
}

// state is the content of a log that later answers need.
type state struct {
	order     []Question
	questions map[Question]*history
	open      map[id]Entry
}

// history is the state of one question.
type history struct {
	predictions, outcomes int
	level                 float64 // of the last prediction
	recent                []Entry // the last ones with an outcome
	trackers              map[float64]*tracked
}

// tracked learns the factor of one level.
type tracked struct {
	*uncertainty.Tracker
	outcomes int
}

func (s *state) addPrediction(e Entry) {
	if s.questions == nil {
		s.questions, s.open = map[Question]*history{}, map[id]Entry{}
	}
	h := s.questions[e.Question]
	if h == nil {
		h = &history{trackers: map[float64]*tracked{}}
		s.questions[e.Question] = h
		s.order = append(s.order, e.Question)
	}
	h.predictions++
	h.level = e.Prediction.Level
	s.open[id{e.Question, e.Key}] = e
}

// addOutcome adds an outcome, if its prediction is open.
func (s *state) addOutcome(o line) {
	at := id{o.Question, o.Key}
	e, open := s.open[at]
	if !open || o.At.Before(e.At) || !o.Made.IsZero() && !o.Made.Equal(e.At) {
		return
	}
	delete(s.open, at)
	e.Outcome = o.Outcome
	h := s.questions[o.Question]
	h.outcomes++
	if h.recent = append(h.recent, e); len(h.recent) > recentOutcomes {
		h.recent = h.recent[1:]
	}
	t := h.trackers[e.Prediction.Level]
	if t == nil {
		tracker, err := uncertainty.NewTracker(e.Prediction.Level)
		if err != nil {
			return // no level, nothing to learn
		}
		t = &tracked{Tracker: tracker}
		h.trackers[e.Prediction.Level] = t
	}
	t.outcomes++
	t.Observe(e.Prediction.Widen(1/e.Factor), *o.Outcome)
}

// factor returns the ratio by which the next interval of a question is widened: 1
// until there are enough outcomes at its level.
func (s *state) factor(q Question, level float64) float64 {
	if h := s.questions[q]; h != nil {
		return h.factor(level)
	}
	return 1
}

func (h *history) factor(level float64) float64 {
	if t := h.trackers[level]; t != nil && t.outcomes >= minOutcomes {
		return t.Factor()
	}
	return 1
}

func (h *history) standing(q Question) Standing {
	s := Standing{Question: q, Outcomes: len(h.recent), Open: h.predictions - h.outcomes, Factor: h.factor(h.level)}
	var misses, errs []float64
	for _, e := range h.recent {
		p, y := e.Prediction, *e.Outcome
		s.Level += p.Level / float64(len(h.recent))
		if p.Contains(y) {
			s.Held++
		} else if p.Width() > 0 {
			misses = append(misses, max(p.Low-y, y-p.High)/p.Width())
		}
		if y != 0 {
			errs = append(errs, math.Abs((y-p.Value)/y))
		}
	}
	if len(misses) > 0 {
		s.Miss = stats.Median(misses)
	}
	if len(errs) > 0 {
		s.Error = stats.Median(errs)
	}
	return s
}
