package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrUnknown is returned for an outcome without an open prediction.
var ErrUnknown = errors.New("no open prediction")

// Bounds of an outcome, in the unit of its prediction (seconds or hours).
const (
	maxOutcome = 1e9
	maxAge     = 90 * 24 * time.Hour // from the prediction to its outcome
)

// Question names a prediction of a tool, by a noun such as "rank".
type Question struct {
	Tool string `json:"tool"`
	Of   string `json:"question"`
}

// Book is a log of predictions and outcomes: one file that many programs may use at
// once. It reads the file once, keeps in memory what later answers need, and then
// reads only added lines. A file that cannot be read or written is no error: the
// book then works in memory and [Book.Warnings] gives the reason. The caller sets
// only Path; "" is a book in memory alone. It is safe for concurrent use.
type Book struct {
	Path string

	mu       sync.Mutex
	from     place // end of the part already read
	known    state
	warnings []error
	warned   map[string]bool
	failed   bool // the file could not be used
}

// Entry is a prediction and, once it is known, its outcome.
type Entry struct {
	Question
	Key        string                 `json:"key"` // a hash
	At         time.Time              `json:"at"`
	Prediction uncertainty.Prediction `json:"prediction"` // as it was shown
	Factor     float64                `json:"factor"`     // by which the interval was widened
	Outcome    *float64               `json:"outcome,omitempty"`
}

// Predict widens or narrows a prediction by the coverage of earlier ones of the
// question, records it as the latest of its key, and returns it.
func (b *Book) Predict(now time.Time, q Question, key string, p uncertainty.Prediction) uncertainty.Prediction {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change(func() []any {
		factor := b.known.factor(q, p.Level)
		p = p.Widen(factor)
		return []any{line{Foretime: prediction, Entry: Entry{q, hashKey(key), now.UTC(), p, factor, nil}}}
	})
	return p
}

// Outcome records the outcome of the latest open prediction of a key. The error
// matches [ErrUnknown] if there is none, or [uncertainty.ErrValue].
func (b *Book) Outcome(now time.Time, q Question, key string, value float64) error {
	if err := checkOutcome(value); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err := fmt.Errorf("%s %s: %w", q.Tool, q.Of, ErrUnknown)
	b.change(func() []any {
		e, open := b.known.open[id{q, hashKey(key)}]
		if !open || now.Before(e.At) || now.Sub(e.At) > maxAge {
			return nil
		}
		err = nil
		return []any{outcome{outcomeKind, q, e.Key, now.UTC(), e.At, value}}
	})
	return err
}

// Add records a prediction together with its known outcome; factor is the ratio by
// which its interval was widened. The error matches [uncertainty.ErrValue].
func (b *Book) Add(now time.Time, q Question, key string, p uncertainty.Prediction, factor, value float64) error {
	if err := checkOutcome(value); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at := now.UTC()
	b.change(func() []any {
		return []any{
			line{Foretime: prediction, Entry: Entry{q, hashKey(key), at, p, factor, nil}},
			outcome{outcomeKind, q, hashKey(key), at, at, value},
		}
	})
	return nil
}

func checkOutcome(value float64) error {
	if !(value >= 0 && value <= maxOutcome) {
		return fmt.Errorf("%w: outcome %v, want 0 to %g", uncertainty.ErrValue, value, maxOutcome)
	}
	return nil
}

// Standings returns the standing of each question of a tool, in the order of their
// first prediction.
func (b *Book) Standings(tool string) []Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refresh()
	var all []Standing
	for _, q := range b.known.order {
		if q.Tool == tool {
			all = append(all, b.known.questions[q].standing(q))
		}
	}
	return all
}

// Standing returns the standing of one question.
func (b *Book) Standing(q Question) Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refresh()
	if h := b.known.questions[q]; h != nil {
		return h.standing(q)
	}
	return Standing{Question: q, Factor: 1}
}

// Check tests whether the file can be read and written, for a program that reports
// it at its start; see [Book.Warnings].
func (b *Book) Check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refresh()
	b.change(func() []any { return nil })
}

// Warnings returns the errors of the file since the last call, each cause once.
func (b *Book) Warnings() []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.warnings
	b.warnings = nil
	return w
}

func (b *Book) warn(err error) {
	if err == nil || b.warned[err.Error()] {
		return
	}
	if b.warned == nil {
		b.warned = map[string]bool{}
	}
	b.warned[err.Error()] = true
	b.warnings = append(b.warnings, err)
}

func hashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}
