//go:build !race

package jobs

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"testing"
)

// A guess is right once in ten. Before it has learnt a network is no better than
// chance allows; after these epochs, of the size that the job has by default,
// each recognises nine of ten images that it has not seen.
func TestStatisticsJobsLearn(t *testing.T) {
	for name, epochs := range map[string]int{"lenet": 15, "googlenet": 40} {
		t.Run(name, func(t *testing.T) { learns(t, name, epochs) })
	}
}

// TestJobsLearn trains the smallest of them.
func TestJobsLearn(t *testing.T) { learns(t, "lenet", 15) }

func learns(t *testing.T, name string, epochs int) {
	before := accuracy(t, name, Options{Epochs: 1, BatchesPerEpoch: 1, BatchSize: 1, Seed: 1})
	after := accuracy(t, name, Options{Epochs: epochs, Seed: 1})
	t.Logf("held-out accuracy %.3f after two images, %.3f after %d epochs", before, after, epochs)
	if before > 0.4 || after < 0.9 {
		t.Errorf("held-out accuracy %.3f then %.3f, want at most 0.4, then at least 0.9", before, after)
	}
}

func accuracy(t *testing.T, name string, o Options) float64 {
	t.Helper()
	var out bytes.Buffer
	o.Out, o.Dir = &out, t.TempDir()
	if err := Run(context.Background(), name, o); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`held-out accuracy ([0-9.]+)`).FindStringSubmatch(out.String())
	if found == nil {
		t.Fatalf("no accuracy in %q", out.String())
	}
	v, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
