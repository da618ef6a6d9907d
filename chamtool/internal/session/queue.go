package session

import (
	"slices"
	"time"
)

// Queue is the predicted times of the tasks that wait on a rank, for whoever asks
// hundreds of times a second. Its methods are not safe for concurrent use.
type Queue struct {
	Session *Session

	tokens  []uint64 // as they were asked for last
	seconds []float64
	at      time.Time
}

// maxAge bounds the age of predictions of an unchanged queue.
const maxAge = 50 * time.Millisecond

// Seconds returns what the session's method of the same name does, which it calls again if the queue changed or the
// answer is old. The slice belongs to the queue.
func (q *Queue) Seconds(tokens []uint64, now time.Time) []float64 {
	if !slices.Equal(tokens, q.tokens) || now.Sub(q.at) > maxAge {
		q.seconds = q.Session.Seconds(tokens)
		q.tokens, q.at = append(q.tokens[:0], tokens...), now
	}
	return q.seconds
}
