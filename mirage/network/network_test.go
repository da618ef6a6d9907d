//go:build !race

package network

import (
	"testing"

	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/mirage/samples"
)

// TestNetworks is not for the race detector: it brings checkptr along, which
// the networks' backend does not pass.
func TestNetworks(t *testing.T) {
	for _, k := range []string{"mlp", "moe", "transformer"} {
		t.Run(k, func(t *testing.T) {
			l := learner(t, k)
			set := pairs(60, l.View.Reduce)
			m, r, err := model.Train(t.Context(), k, l, []*samples.Set{set}, model.Settings{OverlapCost: 1, Seed: 3, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			// Waits are spread evenly from 0 to 20 h.
			if r.MAEHours > 2 || r.Spearman < .9 {
				t.Errorf("%+v", r)
			}
			reloaded(t, m)
		})
	}
}
