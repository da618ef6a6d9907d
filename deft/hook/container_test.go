package hook_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/deft/internal/daemon"
	"github.com/foretime/foretime/deft/internal/session"
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
	shared, err := session.Create(path, session.Options{OwnerTimeout: time.Hour})
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

// Another user, though he be root of a namespace of his own, reaches a session neither
// by its file, nor by its folder, nor through its owner; his program is told so in a line
// and launches without one; and a folder that he made in a user's name holds none.
func TestAnotherUser(t *testing.T) {
	const other = 65534 // nobody
	as := func(cmd *exec.Cmd) *exec.Cmd {
		only := []syscall.SysProcIDMap{{ContainerID: 0, HostID: other, Size: 1}}
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER, UidMappings: only, GidMappings: only, GidMappingsEnableSetgroups: true,
			Credential: &syscall.Credential{},
		}
		return cmd
	}
	if err := as(exec.Command("true")).Run(); err != nil {
		t.Skipf("cannot make a user namespace for another user here: %v", err)
	}
	w := newWorld(t, session.Options{})
	open, err := os.MkdirTemp("", "deft-open-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(open) })
	at, err := daemon.NewPlace(filepath.Join(open, "deft-0"), "x")
	if err != nil {
		t.Fatal(err)
	}
	inside, err := session.Create(at.Session(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	file := filepath.Join(open, "session") // in a folder that is everybody's
	outside, err := session.Create(file, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("chmod", "-R", "a+rX", built).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, path := range []string{file, at.Session(), w.session.Path()} {
		for _, way := range []string{`exec 3<"$0"`, `exec 3<>"$0"`, `: >>"$0"`, `mv "$0" "$0.his"`, `flock -n "$0" true`} {
			cmd := as(exec.Command("sh", "-c", way, path))
			if strings.HasPrefix(way, "mv") && path != at.Session() {
				continue // in a folder that is everybody's; not a name
			}
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "ermission denied") {
				t.Errorf("%s of %s: %v, %s", way, path, err, out)
			}
		}
		cmd := as(w.command(w.clients.Client, "v2", "10"))
		cmd.Env = append(cmd.Env, "DEFT_SESSION="+path, "SIMCUDA_DEVICE="+filepath.Join(open, "device"), "SIMCUDA_COUNTS=")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if out, err := cmd.Output(); err != nil || string(out) != "launches 10\n" || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: %v, %q, %q", path, err, out, stderr.String())
		}
	}
	for _, s := range []*session.Session{inside, outside, w.session} {
		if all := s.Clients(); len(all) > 0 {
			t.Errorf("he joined: %+v", all)
		}
	}
	his := filepath.Join(open, "deft-1")
	if out, err := as(exec.Command("mkdir", "-m", "700", his)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := daemon.NewPlace(his, "x"); !errors.Is(err, daemon.ErrPlace) {
		t.Errorf("a folder of his: %v", err)
	}
}
