package session_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/session"
)

// waiting is a session that knows its function, and the tokens of n tasks that
// wait.
func waiting(s *session.Session, n int) (tokens []uint64, list func() []*event.Ring) {
	r := event.NewRing(1 << 14)
	list = func() []*event.Ring { return []*event.Ring{r} }
	s.Drain(list())
	for i := range uint64(400) {
		write(r, i+1, 10_000*i, 90_000+1000*(i%4), int64(100*(1+i%4)))
	}
	for i := range uint64(n) {
		var slot event.Slot
		slot.SetHeader(event.Create, event.Local, 1, 0)
		slot[event.WordTicks], slot[event.WordToken], slot[event.WordEntry] = 1e7, 1000+i, 0x100
		r.Push(&slot, []int64{int64(100 * (1 + i%4))})
		tokens = append(tokens, 1000+i)
	}
	s.Drain(list())
	return tokens, list
}

// The answer is the session's own, whenever the queue changes or time has passed.
func TestQueue(t *testing.T) {
	s := session.New(session.Options{Config: settings(t, nil), Clock: ticking()})
	tokens, list := waiting(s, 60)
	q := session.Queue{Session: s}
	now := time.Unix(0, 0)
	for range 2 {
		if got, want := q.Seconds(tokens, now, list), s.Seconds(tokens, list); !slices.Equal(got, want) || got[0] <= 0 {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	asked := 0
	counting := func() []*event.Ring { asked++; return list() }
	q.Seconds(tokens, now, counting)
	q.Seconds(tokens, now.Add(10*time.Millisecond), counting)
	if asked != 0 {
		t.Errorf("asked %d times for a queue that stayed", asked)
	}
	if got := q.Seconds(tokens[1:], now, counting); len(got) != 59 || asked != 1 {
		t.Errorf("%d answers for 59 tasks, asked %d times", len(got), asked)
	}
	if q.Seconds(tokens[1:], now.Add(time.Second), counting); asked != 2 {
		t.Errorf("asked %d times a second later", asked)
	}
}

// BenchmarkQueue asks for the times of 600 waiting tasks, of which one starts after
// every so many questions.
func BenchmarkQueue(b *testing.B) {
	for _, every := range []int{1, 20} {
		b.Run(fmt.Sprintf("every=%d", every), func(b *testing.B) {
			s := session.New(session.Options{Config: settings(b, nil), Clock: ticking()})
			tokens, list := waiting(s, 600)
			q := session.Queue{Session: s}
			now, asked := time.Unix(0, 0), 0
			for b.Loop() {
				if asked++; asked%every == 0 {
					tokens = append(tokens[1:], tokens[0])
				}
				q.Seconds(tokens, now, list)
			}
		})
	}
}
