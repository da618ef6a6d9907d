package launch

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	scratch := t.TempDir()
	start := func() *exec.Cmd {
		cmd := exec.Command("sleep", "3600")
		cmd.Env = []string{"TMPDIR=" + scratch}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd
	}
	marked := start()
	Guard(strings.NewReader("\x00"), scratch) // the run ended
	if _, err := os.Stat(scratch); err != nil {
		t.Fatalf("the guard of a run that ended removed its folder: %v", err)
	}
	Guard(strings.NewReader(""), scratch) // the Runner was killed
	if err := marked.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the job's process: %v", err)
	}
	if _, err := os.Stat(scratch); err == nil {
		t.Error("the folder is left")
	}
}
