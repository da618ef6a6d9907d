package cli

import (
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/placement"
)

// What seven counts predict by the rates that are built in, for families left out:
// of networks with convolutions a time within a factor of 3 at the median.
func TestBuiltInLaws(t *testing.T) {
	m, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Settings {
		law, err := placement.FitPowerLaw(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s, %d threads: off by a factor of %.1f with convolutions, %.1f without, at the median", c.Facts.Runtime, c.Facts.Threads, law.Convolutional.Error, law.Other.Error)
		if law.Convolutional.Error > 3 {
			t.Errorf("%+v", law.Convolutional)
		}
	}
}
