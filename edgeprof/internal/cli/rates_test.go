package cli

import (
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
)

// The built-in rates are those of one thread, and a kernel of every class was measured. What
// seven counts predict by them, for families left out, is a time within a factor of 3 at the
// median for networks with convolutions.
func TestBuiltInRates(t *testing.T) {
	c, err := (&prediction.Catalog{Builtin: builtInRates}).Rates("")
	if err != nil {
		t.Fatal(err)
	}
	if c.Facts.Threads != 1 || !c.Facts.Shipped {
		t.Errorf("%+v", c.Facts)
	}
	for class, r := range c.Rates {
		if r.Nodes == 0 {
			t.Errorf("class %s has no kernel", class)
		}
	}
	law, err := placement.FitPowerLaw(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("off by a factor of %.1f with convolutions, %.1f without, at the median", law.Convolutional.Error, law.Other.Error)
	if law.Convolutional.Error > 3 {
		t.Errorf("%+v", law.Convolutional)
	}
}
