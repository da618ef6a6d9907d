package session_test

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
)

// The protocol between an owner and the clients of one process, against a
// model of plain structs, over random interleavings: joining, leaving, dying,
// jobs, launches, directives, reaping, and owners that come and go.
func TestProtocol(t *testing.T) {
	type client struct {
		member    *simcudatest.Member
		name      string
		launches  uint64
		emptied   uint64
		job       uint64
		ended     uint64
		active    bool
		directive session.Directive
		dead      bool // killed: its slot is claimed by a process that does not run
		left      bool
	}
	dir, files := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		files++
		s, err := session.Create(filepath.Join(dir, strconv.Itoa(files)), session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		clients := map[int]*client{} // by slot
		owned := true
		some := func(t *rapid.T, living bool) *client {
			var slots []int
			for i := range session.Slots {
				if c := clients[i]; c != nil && (!living || !c.dead && !c.left) {
					slots = append(slots, i)
				}
			}
			if len(slots) == 0 {
				t.Skip("nobody")
			}
			return clients[rapid.SampledFrom(slots).Draw(t, "slot")]
		}
		names := 0
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				names++
				c := &client{name: string(rune('a' + names%26))}
				m, err := simcudatest.Join(s, c.name, int32(names), 0)
				if err != nil {
					t.Fatal(err)
				}
				if old := clients[m.Slot()]; old != nil {
					if !old.left && !old.dead {
						t.Fatalf("slot %d was taken from a living client", m.Slot())
					}
					c.directive = old.directive // only the owner changes it
				} else {
					c.directive = s.Directive(m.Slot())
				}
				c.member, clients[m.Slot()] = m, c
			},
			"leave": func(t *rapid.T) {
				c := some(t, true)
				c.member.Leave()
				c.left = true
			},
			"die": func(t *rapid.T) {
				c := some(t, true)
				c.member.Kill()
				c.dead = true
			},
			"begin": func(t *rapid.T) {
				c := some(t, true)
				bell := s.Bell()
				c.member.Begin()
				if c.active {
					c.ended++
				}
				c.job++
				c.active = true
				if s.Bell() == bell {
					t.Fatal("nobody rang")
				}
			},
			"end": func(t *rapid.T) {
				c := some(t, true)
				c.member.End()
				if c.active {
					c.ended++
				}
				c.active = false
			},
			"launch": func(t *rapid.T) {
				c := some(t, true)
				n := rapid.Uint64Range(0, 1000).Draw(t, "n")
				c.member.Launch(n)
				c.launches += n
			},
			"sync": func(t *rapid.T) {
				c := some(t, true)
				c.member.Synced()
				c.emptied = c.launches
			},
			"direct": func(t *rapid.T) {
				if !owned {
					t.Skip("no owner")
				}
				c := some(t, false)
				d := session.Directive{
					Closed:    rapid.Bool().Draw(t, "closed"),
					SyncEvery: rapid.IntRange(0, 2).Draw(t, "sync"),
					Timed:     rapid.Bool().Draw(t, "timed"),

					InFlightTime: time.Duration(rapid.IntRange(0, 2).Draw(t, "bound")),
				}
				epoch := c.member.Epoch()
				changed := s.Direct(c.member.Slot(), d)
				if changed != (d != c.directive) || changed != (c.member.Epoch() != epoch) {
					t.Fatalf("changed %v from %+v to %+v", changed, c.directive, d)
				}
				c.directive = d
			},
			"reap": func(t *rapid.T) {
				if !owned {
					t.Skip("no owner")
				}
				gone := s.Reap()
				for _, g := range gone {
					c := clients[g.Slot]
					if c == nil || !c.dead && !c.left || g.Launches != c.launches || g.Name != c.name || g.JobsEnded != c.ended {
						t.Fatalf("reaped %+v, the model has %+v", g, c)
					}
					delete(clients, g.Slot)
				}
				for slot, c := range clients {
					if c.dead || c.left {
						t.Fatalf("slot %d was not reaped", slot)
					}
				}
			},
			"disown": func(*rapid.T) {
				if !owned {
					return
				}
				s.Disown()
				owned = false
				for _, c := range clients {
					c.directive = session.Directive{}
				}
			},
			"own": func(t *rapid.T) {
				if err := s.Own(); err != nil {
					t.Fatal(err)
				}
				owned = true
			},
			"": func(t *rapid.T) {
				if s.OwnerAlive() != owned {
					t.Fatalf("owner alive %v, want %v", !owned, owned)
				}
				seen := 0
				for _, got := range s.Clients() {
					c := clients[got.Slot]
					if c == nil {
						t.Fatalf("a client out of nothing: %+v", got)
					}
					seen++
					want := session.Idle
					if c.active {
						want = session.Active
					}
					if c.left {
						want = session.Left
					}
					if got.Launches != c.launches || got.Queued != c.launches-c.emptied || got.Job != c.job ||
						got.JobsEnded != c.ended || got.State != want || got.Directive != c.directive || got.Name != c.name {
						t.Fatalf("got %+v, the model has %+v", got, c)
					}
					if !c.dead && !c.left {
						d := c.member.Directive()
						if owned && d != c.directive || !owned && d != (session.Directive{}) {
							t.Fatalf("the member is asked %+v, the model has %+v", d, c.directive)
						}
					}
				}
				if seen != len(clients) {
					t.Fatalf("%d clients, want %d", seen, len(clients))
				}
			},
		})
	})
}

func TestJoinUntilFull(t *testing.T) {
	s := create(t)
	var members []*simcudatest.Member
	for i := range session.Slots {
		m, err := simcudatest.Join(s, strings.Repeat("x", 40), int32(-i), 0)
		if err != nil || m.Slot() != i {
			t.Fatalf("member %d: %+v, %v", i, m, err)
		}
		members = append(members, m)
	}
	if _, err := simcudatest.Join(s, "", 0, 0); !errors.Is(err, simcudatest.ErrFull) {
		t.Errorf("got %v", err)
	}
	members[7].Leave()
	m, err := simcudatest.Join(s, "late", 0, 0)
	if err != nil || m.Slot() != 7 {
		t.Errorf("got %+v, %v", m, err)
	}
	c, ok := s.Client(7)
	if !ok || c.Name != "late" || c.Epoch != 2 || c.Weight != 1 || c.State != session.Idle {
		t.Errorf("got %+v", c)
	}
	if c, _ := s.Client(3); len(c.Name) != 31 || c.Priority != -3 {
		t.Errorf("got %+v", c)
	}
}

// Who is not the owner reaps nobody. Whoever was reaped has left his counters.
func TestReapIsTheOwners(t *testing.T) {
	s := create(t)
	m, err := simcudatest.Join(s, "short", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	m.Launch(8)
	m.Leave()
	watcher, err := session.Open(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	if gone := watcher.Reap(); gone != nil || len(watcher.Clients()) != 1 {
		t.Errorf("gone %+v", gone)
	}
	if gone := s.Reap(); len(gone) != 1 || len(watcher.Clients()) != 0 {
		t.Errorf("gone %+v", gone)
	}
	if c, ok := watcher.Client(0); ok || c.Name != "short" || c.Launches != 8 || c.PID() != 0 {
		t.Errorf("%+v, %v", c, ok)
	}
}

func create(t *testing.T) *session.Session {
	t.Helper()
	s, err := session.Create(filepath.Join(t.TempDir(), "session"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
