package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/shared/cli"
)

// A table's graphs may be thousands: reading them ends when it is asked to.
func TestReadLatenciesEnds(t *testing.T) {
	table := filepath.Join(t.TempDir(), "latency.csv")
	if err := os.WriteFile(table, []byte("board,threads,powersave,gpu_device,model,avg_ms\npi,1,0,-1,alexnet,3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readLatencies(ctx, &cli.Env{}, []string{table}, t.TempDir(), false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
