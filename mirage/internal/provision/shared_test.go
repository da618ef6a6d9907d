package provision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// TestRealSharedNodes: of sixteen GPUs in four nodes eleven are taken by jobs of
// one each, so that there is room for a successor at once; who counts nodes sees
// a full machine.
func TestRealSharedNodes(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	c := slurmtest.Start(t, slurmtest.ShareNodes)
	mirage := filepath.Join(c.Dir, "mirage")
	run(t, nil, "go", "build", "-o", mirage, "../../cmd/mirage")
	for range 11 {
		if _, err := c.Run("sbatch", "--parsable", "--time=10", "--gres=gpu:1", "--output=/dev/null", "--wrap=sleep 300"); err != nil {
			t.Fatal(err)
		}
	}
	c.Await("eleven running jobs", func() bool {
		out, err := c.Run("squeue", "--noheader", "--states=R", "--format=%i")
		return err == nil && bytes.Count([]byte(out), []byte("\n")) == 11
	})
	const seconds = 20
	script := filepath.Join(c.Dir, "service.sh")
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nexec sleep %d\n", seconds), 0o755); err != nil {
		t.Fatal(err)
	}
	out := run(t, c.Env(), mirage, "provision", "--state-dir", filepath.Join(c.Dir, "chain"), "--set", "service.limit=1m", "--set", fmt.Sprintf("service.time=%ds", seconds),
		"--set", "decide.interval=1s", "--services", "3", "--json", "--slurm-option=--gres=gpu:1", "--slurm-option=--output=/dev/null", script)
	var sum Summary
	if err := json.Unmarshal([]byte(out), &sum); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%+v", sum)
	if sum.HandOvers != 2 {
		t.Errorf("%d hand-overs, want 2", sum.HandOvers)
	}
	decisions, err := os.ReadFile(filepath.Join(c.Dir, "chain", "decisions.jsonl"))
	if err != nil || !bytes.Contains(decisions, []byte(`"expected"`)) || foreseesWait(t, decisions) {
		t.Errorf("%v: no forecast was asked for, or a successor was submitted before it was time:\n%s", err, decisions)
	}
}
