package device

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"
)

// Work of the least weight takes nothing away, and ordinary work its share: the
// difference between the two is felt, whatever else the machine does.
func TestProbe(t *testing.T) {
	p := Probe{Window: 300 * time.Millisecond}
	beside := func(nice string) float64 {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for range 4 {
			cmd := exec.CommandContext(ctx, "nice", "-n", nice, "sh", "-c", "while :; do :; done")
			if err := cmd.Start(); err != nil {
				t.Skipf("no nice: %v", err)
			}
			t.Cleanup(func() { _ = cmd.Wait() })
		}
		felt, err := p.Measure(ctx)
		if err != nil {
			t.Fatal(err)
		}
		stop()
		return felt
	}
	least, usual := 0.0, 0.0 // sums, as other work comes and goes
	for tries := 1.0; ; tries++ {
		least, usual = least+beside("19"), usual+beside("0")
		if usual > least+tries {
			break
		}
		if tries == 30 {
			t.Fatalf("felt %.2f beside four tasks of the least weight, %.2f beside usual ones", least/tries, usual/tries)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.Measure(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
