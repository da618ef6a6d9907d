package hook_test

import (
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// A graph counts as its kernels; one that is larger than the bound has the queue
// to itself.
func TestGraphsCountByWhatTheyCost(t *testing.T) {
	for _, tt := range []struct {
		name            string
		d               session.Directive
		graphs, kernels int
		syncs, queued   uint64 // points, and kernels queued at the end
	}{
		{"nothing asked", session.Directive{}, 10, 40, 0, 400},
		{"larger than the interval", session.Directive{SyncEvery: 16}, 10, 40, 9, 40},
		{"as large", session.Directive{SyncEvery: 16}, 10, 16, 9, 16},
		{"half as large", session.Directive{SyncEvery: 16}, 10, 8, 4, 16},
		{"larger than the bound in flight", session.Directive{InFlightTime: 1}, 10, 40, 0, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
			p := w.probe("SIMCUDA_NS_PER_BLOCK=20")
			p.do("graphs 1 %d", tt.kernels)
			p.do("sync")
			before := w.client(p)
			w.session.Direct(before.Slot, tt.d)
			p.do("graphs %d %d", tt.graphs, tt.kernels)
			c := w.client(p)
			if c.Syncs != tt.syncs || c.Queued != tt.queued || tt.d.InFlightTime > 0 && c.Stall <= 0 {
				t.Errorf("%d points, %d queued, stalled %v", c.Syncs, c.Queued, c.Stall)
			}
			if want := uint64(tt.graphs * tt.kernels); c.Kernels-before.Kernels != want || c.Launches-before.Launches != uint64(tt.graphs) || c.GraphLaunches != c.Launches {
				t.Errorf("%+v, want %d kernels more", c, want)
			}
			p.do("sync")
			if c := w.client(p); c.Queued != 0 {
				t.Errorf("%d queued after a synchronization", c.Queued)
			}
			p.exit()
		})
	}
}
