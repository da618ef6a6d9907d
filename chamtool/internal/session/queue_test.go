package session_test

import (
	"testing"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/session"
	"github.com/foretime/foretime/chamtool/internal/testkit/ringtest"
)

// waiting returns a session that knows its function, and the tokens of n tasks that wait.
func waiting(t testing.TB, n int) (s *session.Session, tokens []uint64) {
	r := ringtest.New(1 << 14)
	s = session.New(session.Options{Config: settings(t, nil), Rings: these(r), Clock: ticking()})
	s.Drain()
	for i := range uint64(400) {
		write(r, i+1, 10_000*i, 90_000+1000*(i%4), int64(100*(1+i%4)))
	}
	for i := range uint64(n) {
		var slot event.Slot
		ringtest.SetHeader(&slot, event.Create, event.Local, 1, 0)
		slot[event.WordTicks], slot[event.WordToken], slot[event.WordEntry] = 1e7, 1000+i, 0x100
		r.Push(&slot, []int64{int64(100 * (1 + i%4))})
		tokens = append(tokens, 1000+i)
	}
	s.Drain()
	return s, tokens
}

// Tasks of equal sizes that wait have the time of those that ran; one that is unknown has none.
func TestQueuedSeconds(t *testing.T) {
	s, tokens := waiting(t, 60)
	got := s.Seconds(append(tokens, 1))
	if len(got) != 61 || got[60] != 0 {
		t.Fatalf("%v", got)
	}
	for i, seconds := range got[:60] {
		if want := 90e-6 + 1e-6*float64(i%4); seconds < 0.99*want || seconds > 1.01*want {
			t.Errorf("task %d: %v s, want %v", i, seconds, want)
		}
	}
}

// BenchmarkQueue asks for the times of 600 waiting tasks.
func BenchmarkQueue(b *testing.B) {
	s, tokens := waiting(b, 600)
	for b.Loop() {
		s.Seconds(tokens)
	}
}
