package hook_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/session"
)

// A program in another pid namespace, as in a container into which the
// session's file is mounted, joins, obeys, and when it is killed with all of
// its namespace its slot is free again.
func TestAnotherPIDNamespace(t *testing.T) {
	inside := []string{"--pid", "--fork", "--kill-child", "--mount-proc"}
	if err := exec.Command("unshare", append(inside, "true")...).Run(); err != nil {
		t.Skipf("unshare cannot make a pid namespace here: %v", err)
	}
	w := newWorld(t, session.Options{})
	path := filepath.Join(t.TempDir(), "session")
	shared, err := session.CreateFile(path, session.Options{OwnerTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	w.session.Close()
	w.session = shared
	cmd := w.command("unshare", append(inside, "env", "LD_PRELOAD="+w.lib, "DEFT_SESSION="+path, compileTest(t, "probe", "probe.c"))...)
	cmd.Env = append(cmd.Env, "LD_PRELOAD=")
	p := w.started(cmd)
	p.do("launch 3")
	one := func() session.Client {
		all := w.session.Clients()
		if len(all) != 1 {
			t.Fatalf("clients: %+v", all)
		}
		return all[0]
	}
	if c := one(); c.Launches != 3 || !c.Living() {
		t.Errorf("got %+v", c)
	}
	w.session.Direct(one().Slot, session.Directive{Closed: true})
	p.send("launch 1")
	w.eventually("stopped", func() bool { return one().Drained })
	p.kill()
	var gone []session.Client
	w.eventually("gone", func() bool { gone = append(gone, w.session.Reap()...); return len(gone) == 1 })
	if gone[0].Launches != 3 {
		t.Errorf("gone: %+v", gone)
	}
}
