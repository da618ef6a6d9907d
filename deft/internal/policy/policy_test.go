package policy

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// decide asks a policy at one instant, with clients numbered in order.
func decide(t testing.TB, p Policy, now time.Duration, clients ...Client) ([]Directive, time.Duration) {
	t.Helper()
	for i := range clients {
		clients[i].ID, clients[i].Busy = i, clients[i].InFlight > 0
	}
	d := make([]Directive, len(clients))
	next := p.Decide(now, clients, d)
	if next <= now {
		t.Fatalf("asked at %v, next is %v", now, next)
	}
	return d, next
}

// closed lists whose gates are closed, as "-" and "x".
func closed(d []Directive) string {
	var b []byte
	for _, one := range d {
		b = append(b, "-x"[map[bool]int{true: 1}[one.Closed]])
	}
	return string(b)
}

func TestNew(t *testing.T) {
	for _, name := range Policies.Names() {
		p, err := New(name, Settings{})
		if err != nil || p == nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, next := decide(t, p, 5); next != Never {
			t.Errorf("%s: nobody is there, but asks again at %v", name, next)
		}
	}
	if _, err := New("lottery", Settings{}); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

func TestNoneAsksNothing(t *testing.T) {
	d, _ := decide(t, None{}, 1, Client{Active: true}, Client{Active: true, Terms: Terms{Priority: 1, Interval: 4}})
	if d[0] != (Directive{}) || d[1] != (Directive{}) {
		t.Error(d)
	}
}

// Whatever is asked, each policy answers with directives that make sense, asks
// again later than now, and does not stop a client that is alone for ever.
func TestEveryPolicyAnswers(t *testing.T) {
	for _, name := range Policies.Names() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				p, err := New(name, Settings{})
				if err != nil {
					rt.Fatal(err)
				}
				var now time.Duration
				clients := map[int]*Client{}
				for range rapid.IntRange(1, 30).Draw(rt, "questions") {
					id := rapid.IntRange(0, 3).Draw(rt, "client")
					c := clients[id]
					switch {
					case c == nil:
						clients[id] = &Client{ID: id, Terms: Terms{
							Priority: rapid.IntRange(0, 2).Draw(rt, "priority"),
							Weight:   rapid.Float64Range(0, 3).Draw(rt, "weight"),
							Interval: rapid.IntRange(0, 5).Draw(rt, "interval"),
							Deadline: time.Duration(rapid.IntRange(0, 9).Draw(rt, "deadline")) * ms,
						}}
					case rapid.IntRange(0, 5).Draw(rt, "leaves") == 0:
						delete(clients, id)
					case !c.Active:
						c.Active, c.Begin = true, now
					default:
						c.Launches += uint64(rapid.IntRange(0, 50).Draw(rt, "launches"))
						c.GPU += time.Duration(rapid.IntRange(0, 5).Draw(rt, "gpu")) * ms
						c.InFlight = rapid.IntRange(0, 3).Draw(rt, "in flight")
						if rapid.Bool().Draw(rt, "ends") {
							c.Active = false
							c.Jobs++
						}
					}
					var in []Client
					for id := range 4 {
						if c, ok := clients[id]; ok {
							in = append(in, *c)
						}
					}
					d := make([]Directive, len(in))
					next := p.Decide(now, in, d)
					if next <= now {
						rt.Fatalf("asked at %v, next is %v", now, next)
					}
					for _, one := range d {
						if one.SyncEvery < 0 {
							rt.Fatalf("directive %+v", one)
						}
					}
					if len(in) == 1 && d[0].Closed {
						rt.Fatal("a client that is alone is stopped")
					}
					now += time.Duration(rapid.IntRange(0, 4000).Draw(rt, "pass")) * time.Microsecond
				}
			})
		})
	}
}
