package session_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/foretime/foretime/chamtool/internal/event"
	"github.com/foretime/foretime/chamtool/internal/session"
)

// waiting returns a session that knows its function, the tokens of n tasks that wait, and how
// often the session has asked for its rings.
func waiting(t testing.TB, n int) (s *session.Session, tokens []uint64, asked *int) {
	r := event.NewRing(1 << 14)
	asked = new(int)
	list := func() []*event.Ring { *asked++; return []*event.Ring{r} }
	s = session.New(session.Options{Config: settings(t, nil), Rings: list, Clock: ticking()})
	s.Drain()
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
	s.Drain()
	return s, tokens, asked
}

// The answer is the session's own, whenever the queue changes or time has passed.
func TestQueue(t *testing.T) {
	s, tokens, asked := waiting(t, 60)
	q := session.Queue{Session: s}
	now := time.Unix(0, 0)
	for range 2 {
		if got, want := q.Seconds(tokens, now), s.Seconds(tokens); !slices.Equal(got, want) || got[0] <= 0 {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	*asked = 0
	q.Seconds(tokens, now)
	q.Seconds(tokens, now.Add(10*time.Millisecond))
	if *asked != 0 {
		t.Errorf("asked %d times for a queue that stayed", *asked)
	}
	if got := q.Seconds(tokens[1:], now); len(got) != 59 || *asked != 1 {
		t.Errorf("%d answers for 59 tasks, asked %d times", len(got), *asked)
	}
	if q.Seconds(tokens[1:], now.Add(time.Second)); *asked != 2 {
		t.Errorf("asked %d times a second later", *asked)
	}
}

// BenchmarkQueue asks for the times of 600 waiting tasks, of which one starts after
// every so many questions.
func BenchmarkQueue(b *testing.B) {
	for _, every := range []int{1, 20} {
		b.Run(fmt.Sprintf("every=%d", every), func(b *testing.B) {
			s, tokens, _ := waiting(b, 600)
			q := session.Queue{Session: s}
			now, asks := time.Unix(0, 0), 0
			for b.Loop() {
				if asks++; asks%every == 0 {
					tokens = append(tokens[1:], tokens[0])
				}
				q.Seconds(tokens, now)
			}
		})
	}
}
