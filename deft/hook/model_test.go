package hook_test

import (
	"flag"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/deft/internal/session"
)

// modelClient is what a client under the hook should be.
type modelClient struct {
	*probe
	pid       int
	joined    bool
	slot      int
	pending   int // launches that wait at the gate, 0 for none
	launches  uint64
	captured  uint64
	emptied   uint64
	synced    uint64 // value of launches at the last synchronization
	syncs     uint64
	capturing bool
	active    bool
	marked    bool
	job       uint64
	ended     uint64
	directive session.Directive
}

// launch is what n launches do when a directive is obeyed or not.
func (c *modelClient) launch(n int, obeys bool) {
	for range n {
		if !c.active && !c.marked {
			c.active, c.job = true, c.job+1
		}
		if every := uint64(c.directive.SyncEvery); obeys && every > 0 && c.launches-c.synced >= every {
			c.syncs++
			c.synced, c.emptied = c.launches, c.launches
		}
		c.launches++
	}
}

func (c *modelClient) end() {
	if c.active {
		c.active, c.ended = false, c.ended+1
	}
}

// The hook in real processes against a model, over random interleavings of
// launches, synchronizations, captures, jobs, directives, clients that end and
// are killed, and owners that are killed and followed by others.
func TestModel(t *testing.T) {
	if err := flag.Set("rapid.checks", "25"); err != nil {
		t.Fatal(err)
	}
	base := newWorld(t, session.Options{OwnerTimeout: time.Hour})
	files := 0
	rapid.Check(t, func(rt *rapid.T) {
		files++
		s, err := session.Create(filepath.Join(t.TempDir(), strconv.Itoa(files)), session.Options{OwnerTimeout: time.Hour})
		if err != nil {
			rt.Fatal(err)
		}
		w := *base
		w.session = s
		defer s.Close()
		own := w.owner()
		defer func() { own.kill() }()
		owned := true
		var clients []*modelClient
		defer func() {
			for _, c := range clients {
				c.kill()
			}
		}()
		forget := func(c *modelClient) {
			for i := range clients {
				if clients[i] == c {
					clients = append(clients[:i], clients[i+1:]...)
					return
				}
			}
		}
		some := func(rt *rapid.T, fits func(*modelClient) bool) *modelClient {
			var fitting []*modelClient
			for _, c := range clients {
				if fits(c) {
					fitting = append(fitting, c)
				}
			}
			if len(fitting) == 0 {
				rt.Skip("nobody")
			}
			return rapid.SampledFrom(fitting).Draw(rt, "client")
		}
		free := func(c *modelClient) bool { return c.pending == 0 }
		joined := func(c *modelClient) bool { return c.pending == 0 && c.joined }
		gone := func(c *modelClient) {
			forget(c)
			if !c.joined || !owned {
				return
			}
			if got := own.reap(); got[c.pid] != c.launches {
				rt.Fatalf("reaped %v, want %d launches of %d", got, c.launches, c.pid)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"spawn": func(rt *rapid.T) {
				if len(clients) == 3 {
					rt.Skip("enough")
				}
				p := w.probe()
				clients = append(clients, &modelClient{probe: p, pid: p.cmd.Process.Pid})
			},
			"join": func(rt *rapid.T) {
				c := some(rt, func(c *modelClient) bool { return !c.joined })
				c.do("end")
				c.joined = true
				got := w.client(c.probe)
				c.slot, c.directive = got.Slot, got.Directive
			},
			"launch": func(rt *rapid.T) {
				c := some(rt, joined)
				n := rapid.IntRange(1, 6).Draw(rt, "n")
				c.send("launch %d", n)
				if owned && c.directive.Closed {
					c.pending = n
					if !c.active && !c.marked {
						c.active, c.job = true, c.job+1
					}
					w.eventually("stopped", func() bool { return w.client(c.probe).Drained })
					c.emptied, c.synced = c.launches, c.launches
					return
				}
				c.launch(n, owned)
				if got := c.answer(); got != "ok" {
					rt.Fatal(got)
				}
			},
			"capture": func(rt *rapid.T) {
				c := some(rt, func(c *modelClient) bool { return joined(c) && !c.capturing })
				c.do("capture")
				c.capturing = true
			},
			"launch into the capture": func(rt *rapid.T) {
				c := some(rt, func(c *modelClient) bool { return joined(c) && c.capturing })
				c.do("side 3")
				c.captured += 3
			},
			"uncapture": func(rt *rapid.T) {
				c := some(rt, func(c *modelClient) bool { return joined(c) && c.capturing })
				c.do("uncapture")
				c.capturing = false
			},
			"sync": func(rt *rapid.T) {
				c := some(rt, func(c *modelClient) bool { return joined(c) && !c.capturing })
				c.do("sync")
				c.emptied, c.synced = c.launches, c.launches
				if !c.marked {
					c.end()
				}
			},
			"begin": func(rt *rapid.T) {
				c := some(rt, joined)
				c.do("begin 5")
				c.end()
				c.marked, c.active, c.job = true, true, c.job+1
			},
			"end": func(rt *rapid.T) {
				c := some(rt, joined)
				c.do("end")
				c.end()
			},
			"direct": func(rt *rapid.T) {
				if !owned {
					rt.Skip("no owner")
				}
				c := some(rt, func(c *modelClient) bool { return c.joined })
				d := session.Directive{
					Closed:    rapid.Bool().Draw(rt, "closed"),
					SyncEvery: rapid.IntRange(0, 3).Draw(rt, "every"),
					Timed:     rapid.Bool().Draw(rt, "timed"),

					InFlightTime: time.Duration(rapid.IntRange(0, 3).Draw(rt, "bound")) * unknownKernel,
				}
				own.direct(c.slot, d)
				c.directive = d
				if c.pending > 0 && !d.Closed {
					if got := c.answer(); got != "ok" {
						rt.Fatal(got)
					}
					c.launch(c.pending, true)
					c.pending = 0
				}
				if c.pending > 0 {
					w.eventually("drained anew", func() bool { return w.client(c.probe).Drained })
				}
			},
			"exit": func(rt *rapid.T) {
				c := some(rt, free)
				c.exit()
				gone(c)
			},
			"kill": func(rt *rapid.T) {
				c := some(rt, func(*modelClient) bool { return true })
				c.kill()
				gone(c)
			},
			"kill owner": func(rt *rapid.T) {
				if !owned {
					rt.Skip("no owner")
				}
				own.kill()
				owned = false
				for _, c := range clients {
					if c.pending > 0 {
						if got := c.answer(); got != "ok" {
							rt.Fatal(got)
						}
						c.launch(c.pending, false)
						c.pending = 0
					}
				}
				time.Sleep(12 * time.Millisecond) // so long a client trusts its last look at the owner
			},
			"new owner": func(rt *rapid.T) {
				if owned {
					rt.Skip("there is one")
				}
				own = w.owner()
				owned = true
				own.reap()
			},
			"": func(rt *rapid.T) {
				for _, c := range clients {
					if !c.joined {
						continue
					}
					got := w.client(c.probe)
					state := session.Idle
					if c.active {
						state = session.Active
					}
					waiting := uint32(0)
					if c.pending > 0 {
						waiting = 1
					}
					if got.Launches != c.launches || got.Captured != c.captured || got.Queued != c.launches-c.emptied ||
						got.Syncs != c.syncs || got.State != state || got.Job != c.job || got.JobsEnded != c.ended ||
						got.JobMarked != c.marked || got.Waiting != waiting || got.Directive != c.directive || got.Slot != c.slot {
						rt.Fatalf("got %+v\nwant %+v", got, c)
					}
				}
			},
		})
	})
}
