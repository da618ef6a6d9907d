package session

import (
	"testing"

	"pgregory.net/rapid"
)

// The protocol between an owner and the clients of one process, against a
// model of plain structs, over random interleavings: joining, leaving, dying,
// jobs, launches, directives, reaping, and owners that come and go.
func TestProtocol(t *testing.T) {
	type client struct {
		member    *Member
		name      string
		launches  uint64
		emptied   uint64
		job       uint64
		ended     uint64
		active    bool
		directive Directive
		dead      bool // killed: its slot is claimed by a process that does not run
		left      bool
	}
	rapid.Check(t, func(t *rapid.T) {
		s, err := Create(Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		clients := map[int]*client{} // by slot
		owned := true
		some := func(t *rapid.T, living bool) *client {
			var slots []int
			for i := range Slots {
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
				m, err := s.Join(Member{Name: c.name, Priority: int32(names)})
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
				s.slots[c.member.Slot()].Claim.Store(uint64(identity(1<<22-1, 7)))
				c.dead = true
			},
			"begin": func(t *rapid.T) {
				c := some(t, true)
				bell := s.Bell()
				c.member.Begin(Now(), 0)
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
				c.member.End(Now())
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
				d := Directive{
					Closed:    rapid.Bool().Draw(t, "closed"),
					SyncEvery: rapid.Uint32Range(0, 2).Draw(t, "sync"),
					InFlight:  rapid.Uint32Range(0, 2).Draw(t, "bound"),
				}
				epoch := s.slots[c.member.Slot()].DirectiveEpoch.Load()
				changed := s.Direct(c.member.Slot(), d)
				if changed != (d != c.directive) || changed != (s.slots[c.member.Slot()].DirectiveEpoch.Load() != epoch) {
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
					c.directive = Directive{}
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
					want := Idle
					if c.active {
						want = Active
					}
					if c.left {
						want = Left
					}
					if got.Launches != c.launches || got.Queued != c.launches-c.emptied || got.Job != c.job ||
						got.JobsEnded != c.ended || got.State != want || got.Directive != c.directive || got.Name != c.name {
						t.Fatalf("got %+v, the model has %+v", got, c)
					}
					if !c.dead && !c.left {
						d := c.member.Directive()
						if owned && d != c.directive || !owned && d != (Directive{}) {
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
