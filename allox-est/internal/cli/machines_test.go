package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/shared/slurmtest"
)

// away runs a job of twenty epochs on a machine, and returns its journal and
// what is said.
func away(t *testing.T, machine string, env []string) ([]journal.Run, string) {
	t.Helper()
	dir := t.TempDir()
	job := filepath.Join(dir, "job.yaml")
	text := `
name: job
command: [allox-est, jobs, burner, --setup, "0.05", --epoch, "0.02", --teardown, "0", --epochs, "{epochs}"]
epochs: 200
devices: {cpu: {threads: 1, ` + machine + `}}
`
	if err := os.WriteFile(job, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "j.jsonl")
	cmd := exec.Command("allox-est", "run", job, "--journal", path)
	cmd.Env, cmd.Dir = append(os.Environ(), env...), dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	j, err := journal.Read(path)
	if err != nil || len(j.Runs) == 0 {
		t.Fatal(err, j)
	}
	return j.Runs, string(out)
}

// TestRealSSH: samples through a real sshd on loopback.
func TestRealSSH(t *testing.T) {
	byName(t)
	sshd, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		t.Skip("needs sshd: install with apt-get install openssh-server")
	}
	command(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at("key")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("sshd_config", fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nSetEnv PATH=%s XDG_CACHE_HOME=%s\n",
		port, at("key"), at("key.pub"), os.Getenv("PATH"), dir), 0o600)
	write("ssh", fmt.Sprintf("#!/bin/sh\nexec %s -F none -i %s -p %d -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \"$@\"\n", program(t, "ssh"), at("key"), port), 0o700)
	server := exec.Command(sshd, "-D", "-e", "-f", at("sshd_config"))
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Skip("needs to make /run/sshd: ", err)
	}
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	for range 600 {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			c.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	runs, out := away(t, "ssh: 127.0.0.1", []string{"PATH=" + dir + ":" + os.Getenv("PATH")})
	if r := runs[0]; r.Failed() || len(r.Laps) != r.Epochs+2 || r.Inputs == "" || !strings.Contains(out, "wall as now") {
		t.Errorf("%+v\n%s", r, out)
	}
}

func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("needs %s: install with apt-get install openssh-client", name)
	}
	return path
}

// TestRealSrun: samples on the nodes of a real Slurm.
func TestRealSrun(t *testing.T) {
	byName(t)
	slurmtest.Need(t)
	command(t)
	c := slurmtest.Start(t)
	runs, out := away(t, `slurm: "--gres=gpu:1"`, c.Env())
	if r := runs[0]; r.Failed() || len(r.Laps) != r.Epochs+2 || r.Host != "slurm --gres=gpu:1" || !strings.Contains(out, "wall as now") {
		t.Errorf("%+v\n%s", r, out)
	}
}
