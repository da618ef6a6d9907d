package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrUnknown is returned for an outcome of which no prediction is open.
var ErrUnknown = errors.New("no open prediction")

// Question is what a tool was asked: a noun of its own, such as "rank".
type Question struct {
	Tool string `json:"tool"`
	Of   string `json:"question"`
}

// Book is a log of predictions and outcomes, one file that many programs may
// use. A file that does not exist is an empty log.
type Book struct{ Path string }

// Entry is a prediction and, where it is known, what came.
type Entry struct {
	Question
	Key        string                 `json:"key"` // a hash
	At         time.Time              `json:"at"`
	Prediction uncertainty.Prediction `json:"prediction"` // as it was shown
	Factor     float64                `json:"factor"`     // by which the interval had been moved
	Outcome    *float64               `json:"outcome,omitempty"`
}

// line is a line of the log: an entry, or the [outcome] of an earlier one.
type line struct {
	Foretime string `json:"foretime"` // "prediction" or "outcome"
	Entry
}

// outcome is a line that a later reader joins to its entry.
type outcome struct {
	Foretime string `json:"foretime"`
	Question
	Key     string    `json:"key"`
	At      time.Time `json:"at"`
	Outcome float64   `json:"outcome"`
}

const begin = `{"foretime":`

// Entries reads the log, the oldest prediction first.
func (b Book) Entries() ([]Entry, error) {
	var all []Entry
	open := map[Entry]int{} // by question and key
	_, err := file.ReadLog(b.Path, lines(func(l line) {
		id := Entry{Question: l.Question, Key: l.Key}
		switch at, known := open[id]; {
		case l.Foretime == "prediction":
			open[id] = len(all)
			all = append(all, l.Entry)
		case known:
			all[at].Outcome = l.Outcome
			delete(open, id)
		}
	}))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

func lines(read func(line)) file.Lines {
	return file.Lines{Begin: begin, Start: func(first []byte) error { return parse(first, func(line) {}) }, Read: func(text []byte) error { return parse(text, read) }}
}

func parse(text []byte, read func(line)) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	if l.Foretime != "prediction" && l.Foretime != "outcome" || l.Foretime == "outcome" && l.Outcome == nil {
		return fmt.Errorf("neither a prediction nor an outcome: %.80s", text)
	}
	read(l)
	return nil
}

// Predict corrects a prediction by how earlier ones of the question did, keeps
// it as the latest of its key, and returns it.
func (b Book) Predict(now time.Time, q Question, key string, p uncertainty.Prediction) (uncertainty.Prediction, error) {
	factor, err := b.factor(q, p.Level)
	if err != nil {
		return p, err
	}
	shown := p.Widened(factor)
	return shown, b.append(line{"prediction", Entry{q, hashed(key), now.UTC(), shown, factor, nil}})
}

// Outcome keeps what came of the latest open prediction of a key. The error
// matches [ErrUnknown] where there is none, and [uncertainty.ErrValue].
func (b Book) Outcome(now time.Time, q Question, key string, value float64) error {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("%w: outcome %v", uncertainty.ErrValue, value)
	}
	entries, err := b.Entries()
	if err != nil {
		return err
	}
	slices.Reverse(entries)
	last := slices.IndexFunc(entries, func(e Entry) bool { return e.Question == q && e.Key == hashed(key) })
	if last < 0 || entries[last].Outcome != nil {
		return fmt.Errorf("%s %s: %w", q.Tool, q.Of, ErrUnknown)
	}
	return b.append(outcome{"outcome", q, hashed(key), now.UTC(), value})
}

func hashed(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}

func (b Book) append(l any) error {
	if err := os.MkdirAll(filepath.Dir(b.Path), 0o700); err != nil {
		return err
	}
	log, err := file.OpenLog(b.Path, lines(func(line) {}))
	if err != nil {
		return err
	}
	return errors.Join(log.AppendJSON(l), log.Close())
}

// factor is by how much the next interval of a question is moved: 1 until there
// are as many outcomes as a standing needs.
func (b Book) factor(q Question, level float64) (float64, error) {
	tracker, err := uncertainty.NewTracker(level)
	if err != nil {
		return 1, nil // a prediction that promises nothing is kept as it is
	}
	entries, err := b.Entries()
	if err != nil {
		return 1, err
	}
	n := 0
	for _, e := range entries {
		if e.Question == q && e.Outcome != nil && e.Prediction.Level == level {
			tracker.Observe(e.Prediction.Widened(1/e.Factor), *e.Outcome)
			n++
		}
	}
	if n < fewest {
		return 1, nil
	}
	return tracker.Factor(), nil
}

// Standing is how the intervals of a question did: of the last 50 outcomes, how
// many they held, and by how much the others missed.
type Standing struct {
	Question
	Outcomes int     `json:"outcomes"`
	Held     int     `json:"held"`
	Level    float64 `json:"level"`           // that was promised, on average
	Miss     float64 `json:"median_miss"`     // of those missed: distance from the near end, a share of the interval's width
	Error    float64 `json:"median_error"`    // |outcome - value| / |outcome|
	Factor   float64 `json:"width_factor"`    // of the next interval, at the level of the last
	Open     int     `json:"without_outcome"` // predictions
}

const (
	fewest = 10 // outcomes that say something
	latest = 50 // outcomes that count
)

// Standings are of every question that was asked, in the order of their first
// prediction.
func (b Book) Standings() ([]Standing, error) {
	entries, err := b.Entries()
	if err != nil {
		return nil, err
	}
	var order []Question
	by := map[Question][]Entry{}
	for _, e := range entries {
		if by[e.Question] == nil {
			order = append(order, e.Question)
		}
		by[e.Question] = append(by[e.Question], e)
	}
	standings := make([]Standing, len(order))
	for i, q := range order {
		standings[i] = standing(q, by[q])
		if standings[i].Factor, err = b.factor(q, by[q][len(by[q])-1].Prediction.Level); err != nil {
			return nil, err
		}
	}
	return standings, nil
}

// Standing is that of one question.
func (b Book) Standing(q Question) (Standing, error) {
	all, err := b.Standings()
	for _, s := range all {
		if s.Question == q {
			return s, err
		}
	}
	return Standing{Question: q, Factor: 1}, err
}

func standing(q Question, entries []Entry) Standing {
	s := Standing{Question: q}
	known := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Outcome == nil })
	s.Open = len(entries) - len(known)
	var misses, errs []float64
	for _, e := range known[max(0, len(known)-latest):] {
		p, y := e.Prediction, *e.Outcome
		s.Outcomes++
		s.Level += p.Level
		if p.Contains(y) {
			s.Held++
		} else if p.Width() > 0 {
			misses = append(misses, max(p.Low-y, y-p.High)/p.Width())
		}
		if y != 0 {
			errs = append(errs, math.Abs((y-p.Value)/y))
		}
	}
	if s.Outcomes > 0 {
		s.Level /= float64(s.Outcomes)
	}
	if len(misses) > 0 {
		s.Miss = stats.Median(misses)
	}
	if len(errs) > 0 {
		s.Error = stats.Median(errs)
	}
	return s
}

// String is the line that ends an answer, "" until there are ten outcomes.
func (s Standing) String() string {
	if s.Outcomes < fewest {
		return ""
	}
	return fmt.Sprintf("held %d of the last %d here (%.0f %% promised)", s.Held, s.Outcomes, 100*s.Level)
}
