package observer

import (
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/session"
)

// Kernels that were launched count as done after twice their usual time, unless the
// program waits for them.
func TestBusy(t *testing.T) {
	c := session.Client{Kernels: 110, Queued: 10, Words: session.Words{GPU: time.Millisecond}} // 10 us each
	o := &Observer{launchedAt: 1000}
	for _, tt := range []struct {
		us     int64
		inWait uint32
		want   bool
	}{{50, 0, true}, {150, 0, true}, {250, 0, false}, {250, 1, true}, {1e6, 1, true}} {
		c.InWait = tt.inWait
		if got := o.busy(c, 1000+tt.us*1000); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	c.Queued = 0
	if o.busy(c, 1000) {
		t.Error("busy with an empty queue")
	}
}
