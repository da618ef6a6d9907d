package session

import (
	"slices"
	"time"

	"github.com/foretime/foretime/chamtool/internal/event"
)

// Queue is the predicted times of the tasks that wait on a rank, for whoever asks
// hundreds of times a second. Its methods are not safe for concurrent use.
type Queue struct {
	Session *Session

	tokens  []uint64 // as they were asked for last
	seconds []float64
	at      time.Time
}

// fresh is how long predictions hold of a queue that stays as it was.
const fresh = 50 * time.Millisecond

// Seconds is the session's of the same name, asked anew where the queue changed or
// the answer is old. The slice is the queue's.
func (q *Queue) Seconds(tokens []uint64, now time.Time, list func() []*event.Ring) []float64 {
	if !slices.Equal(tokens, q.tokens) || now.Sub(q.at) > fresh {
		q.seconds = q.Session.Seconds(tokens, list)
		q.tokens, q.at = append(q.tokens[:0], tokens...), now
	}
	return q.seconds
}
