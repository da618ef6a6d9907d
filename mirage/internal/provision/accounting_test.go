package provision

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// TestRealAccounting reads the accounting log of a real Slurm, as sacct prints
// it, and simulates it.
func TestRealAccounting(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.KeepAccounts)
	const jobs = 30
	l := newLoad(3)
	for range jobs {
		_, _, nodes := l.next()
		if _, err := c.Run("sbatch", "--parsable", "--time=1", "--output=/dev/null", fmt.Sprintf("--nodes=%d", nodes), "--wrap=sleep 1"); err != nil {
			t.Fatal(err)
		}
	}
	// One that never starts.
	if _, err := c.Run("sbatch", "--parsable", "--time=1", "--hold", "--wrap=true"); err != nil {
		t.Fatal(err)
	}
	columns := "JobID,JobName,User,Partition,QOS,Submit,Start,End,Priority,Timelimit,ExitCode,State,NNodes"
	var log string
	c.Await("the accounts of all jobs", func() bool {
		out, err := c.Run("env", "TZ=UTC", "sacct", "--allusers", "--parsable2", "--starttime=now-1hour", "--format="+columns)
		log = out
		return err == nil && strings.Count(out, "|COMPLETED|") == 2*jobs // each with its step
	})
	dir := t.TempDir()
	mirage, file := filepath.Join(dir, "mirage"), filepath.Join(dir, "sacct.log")
	run(t, nil, "go", "build", "-o", mirage, "../../cmd/mirage")
	if err := os.WriteFile(file, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	var stats struct {
		Rows      int
		Bad       []any
		PeakNodes int `json:"peak_nodes"`
	}
	unmarshal(t, run(t, nil, mirage, "log", "stats", file, "--set", "log.zone=UTC", "--json"), &stats)
	if stats.Rows != jobs || len(stats.Bad) > 0 || stats.PeakNodes < 1 || stats.PeakNodes > 4 {
		t.Errorf("%+v of\n%s", stats, log)
	}
	var simulated struct {
		Jobs, Rejected int
		Wait           float64 `json:"mean_wait_hours"`
		Actual         float64 `json:"actual_mean_wait_hours"`
		Spearman       float64
	}
	unmarshal(t, run(t, nil, mirage, "simulate", file, "--set", "log.zone=UTC", "--nodes", "4", "--set", "backfill.bf_interval=1", "--json"), &simulated)
	if simulated.Jobs != jobs || simulated.Rejected > 0 {
		t.Errorf("%+v", simulated)
	}
	t.Logf("%+v, %+v", stats, simulated)
}

func unmarshal(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
