//go:build !race

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/jobs"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/timing"
)

func TestTrain(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args  []string
		want  error
		usage bool
	}{
		{[]string{"jobs", "lenet", "--epochs", "3", "--batches", "1", "--out-dir", dir, "--cpu", "--numThreads", "1"}, nil, false},
		{[]string{"jobs", "lenet", "--epochs", "3", "--gpu", "--numGPUs", "1"}, jobs.ErrDeviceUnavailable, false},
		{[]string{"jobs", "lenet", "--epochs", "0"}, jobs.ErrOption, true},
	} {
		var out, stderr bytes.Buffer
		cmd := New(cli.NewEnv(nil, &out, &stderr))
		cmd.SetArgs(c.args)
		cmd.SetOut(&out)
		cmd.SetErr(&stderr)
		err := cmd.ExecuteContext(context.Background())
		var usage *cli.UsageError
		if !errors.Is(err, c.want) || errors.As(err, &usage) != c.usage {
			t.Errorf("%v: %v, want %v", c.args, err, c.want)
		}
		if err != nil {
			continue
		}
		report, err := timing.ParseOutput(&out, timing.Extend)
		if err != nil || len(report.Laps()) != 5 {
			t.Errorf("%v: %v laps, %v", c.args, report, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "lenet.checkpoint")); err != nil {
			t.Error(err)
		}
	}
}
