package slurmtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/testkit/porttest"
)

// packages maps the programs of a real Slurm to the Debian packages that contain
// them.
var packages = map[string]string{
	"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd",
	"sbatch": "slurm-client", "squeue": "slurm-client", "scontrol": "slurm-client", "sinfo": "slurm-client", "scancel": "slurm-client",
	"sacct": "slurm-client", "sacctmgr": "slurm-client",
	"slurmdbd": "slurmdbd", "mariadbd": "mariadb-server-core", "mariadb-install-db": "mariadb-server-core", "my_print_defaults": "mariadb-client-core",
}

// Program returns the path of a system program, those in sbin included.
func Program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if path, err := exec.LookPath("/usr/sbin/" + name); err == nil {
		return path
	}
	t.Skipf("needs %s: install with apt-get install %s", name, packages[name])
	return ""
}

// Need skips a test if Slurm is not installed.
func Need(t *testing.T) {
	t.Helper()
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		Program(t, name)
	}
}

// Cluster is a Slurm of four nodes with four fake GPUs each, on loopback, in a
// directory of its own.
type Cluster struct {
	T       *testing.T
	Dir     string      // settings and state
	procs   []*exec.Cmd // in start order
	stopped []*exec.Cmd // by Stop
	spawned int
	start   chan func()
}

// Start starts a Slurm and stops it at the end of the test. The functions more run
// before the controller starts.
func Start(t *testing.T, more ...func(*Cluster)) *Cluster {
	t.Helper()
	Need(t)
	dir, err := os.MkdirTemp("", "slurm") // t.TempDir is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{T: t, Dir: dir, start: make(chan func())}
	// The children die with the thread that started them, so nothing is left even
	// if this process is killed.
	crash.Go(func() {
		runtime.LockOSThread()
		for f := range c.start {
			f()
		}
	})
	t.Cleanup(c.stop)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.write()
	at := func(name string) string { return filepath.Join(dir, name) }
	c.Spawn("munged", "--foreground", "--force", "--key-file="+at("munge.key"), "--socket="+at("munge.socket"),
		"--pid-file="+at("munge.pid"), "--log-file="+at("munge.log"), "--seed-file="+at("munge.seed"))
	c.Await("munge", func() bool { _, err := os.Stat(at("munge.socket")); return err == nil })
	for _, start := range more {
		start(c)
	}
	c.Spawn("slurmctld", "-D", "-f", at("slurm.conf"))
	for i := range 4 {
		c.Spawn("slurmd", "-D", "-N", fmt.Sprintf("n%d", i), "-f", at("slurm.conf"))
	}
	c.Await("four idle nodes", func() bool {
		out, err := c.Run("sinfo", "--noheader", "--Node", "--partition=gpu", "--format=%T")
		return err == nil && strings.Count(out, "idle\n") == 4
	})
	return c
}

func (c *Cluster) write() {
	key := make([]byte, 1024)
	if _, err := rand.Read(key); err != nil {
		c.T.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		c.T.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		c.T.Fatal(err)
	}
	ports := c.Ports(5)
	var nodes strings.Builder
	for i, port := range ports[1:] {
		fmt.Fprintf(&nodes, "NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 Gres=gpu:4\n", i, host, port)
	}
	conf := strings.NewReplacer("DIR", c.Dir, "HOST", host, "USER", me.Username, "PORT", fmt.Sprint(ports[0])).Replace(`ClusterName=t
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=USER
SlurmdUser=USER
AuthType=auth/munge
AuthInfo=socket=DIR/munge.socket
CredType=cred/munge
SlurmctldPort=PORT
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool/%n
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.%n.pid
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc=DIR/jobcomp.log
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=100000,sched_interval=1,bf_interval=1,bf_resolution=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
GresTypes=gpu
PartitionName=gpu Nodes=n[0-3] Default=YES MaxTime=INFINITE State=UP
`) + nodes.String()
	for name, content := range map[string][]byte{
		"munge.key": key, "slurm.conf": []byte(conf),
		"gres.conf": []byte("NodeName=n[0-3] Name=gpu File=/dev/null,/dev/zero,/dev/full,/dev/urandom\n"),
	} {
		if err := os.WriteFile(filepath.Join(c.Dir, name), content, 0o600); err != nil {
			c.T.Fatal(err)
		}
	}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(c.Dir, name), 0o755); err != nil {
			c.T.Fatal(err)
		}
	}
}

// Configure appends to the settings of the cluster.
func (c *Cluster) Configure(text string) {
	f, err := os.OpenFile(filepath.Join(c.Dir, "slurm.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		c.T.Fatal(err)
	}
}

// ShareNodes lets four jobs run on a node, each with one of its four GPUs.
func ShareNodes(c *Cluster) {
	path := filepath.Join(c.Dir, "slurm.conf")
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.ReplaceAll(b, []byte("CPUs=1 "), []byte("CPUs=4 ")), 0o600)
	}
	if err != nil {
		c.T.Fatal(err)
	}
}

// Ports returns n ports that nobody listens on, each once in this process.
func (c *Cluster) Ports(n int) (ports []int) {
	for range n {
		ports = append(ports, porttest.Free(c.T))
	}
	return ports
}

// Spawn starts a daemon in the foreground.
func (c *Cluster) Spawn(name string, args ...string) {
	cmd := exec.Command(Program(c.T, name), args...)
	out, err := os.Create(filepath.Join(c.Dir, fmt.Sprintf("%s.%d.out", name, c.spawned)))
	if err != nil {
		c.T.Fatal(err)
	}
	defer out.Close()
	c.spawned++
	cmd.Env, cmd.Stdout, cmd.Stderr = c.Env(), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	c.start <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		c.T.Fatal(err)
	}
	c.procs = append(c.procs, cmd)
}

// Stop ends a daemon; Restart starts it again with the same arguments.
func (c *Cluster) Stop(name string) {
	i := slices.IndexFunc(c.procs, func(cmd *exec.Cmd) bool { return filepath.Base(cmd.Path) == name })
	if i < 0 {
		c.T.Errorf("%s does not run", name)
		return
	}
	cmd := c.procs[i]
	end(cmd)
	c.procs = slices.Delete(c.procs, i, i+1)
	c.stopped = append(c.stopped, cmd)
}

// Restart starts a daemon that Stop has ended.
func (c *Cluster) Restart(name string) {
	i := slices.IndexFunc(c.stopped, func(cmd *exec.Cmd) bool { return filepath.Base(cmd.Path) == name })
	if i < 0 {
		c.T.Errorf("%s was not stopped", name)
		return
	}
	args := c.stopped[i].Args[1:]
	c.stopped = slices.Delete(c.stopped, i, i+1)
	c.Spawn(name, args...)
}

// end ends a daemon, by force after ten seconds.
func end(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	kill.Stop()
}

// Env returns the environment for Slurm's commands.
func (c *Cluster) Env() []string {
	return append((&exec.Cmd{}).Environ(), "SLURM_CONF="+filepath.Join(c.Dir, "slurm.conf"))
}

// Run runs one of Slurm's commands for at most half a minute and returns its
// output.
func (c *Cluster) Run(argv ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = c.Env(), &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), err
}

// Await waits until ok returns true, for at most a minute.
func (c *Cluster) Await(what string, ok func() bool) {
	c.T.Helper()
	for range 600 {
		if ok() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.logs()
	c.T.Fatalf("no %s within a minute", what)
}

func (c *Cluster) logs() {
	paths, _ := filepath.Glob(filepath.Join(c.Dir, "*.out"))
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
			c.T.Logf("%s:\n%s", filepath.Base(path), b[max(0, len(b)-2000):])
		}
	}
}

// stop ends the jobs and daemons, removes the directory, and reports processes that
// are left.
func (c *Cluster) stop() {
	_, _ = c.Run("scancel", "--state=PENDING", "--partition=gpu")
	_, _ = c.Run("scancel", "--partition=gpu")
	for range 100 {
		if out, err := c.Run("squeue", "--noheader", "--states=RUNNING,COMPLETING"); err != nil || out == "" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for i := len(c.procs) - 1; i >= 0; i-- { // munge last
		end(c.procs[i])
	}
	close(c.start)
	for _, pid := range c.leftProcesses() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		c.T.Errorf("process %d is left over: %q", pid, line)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		c.T.Error(err)
	}
}

// leftProcesses returns the processes that still use the directory, after waiting for their
// end.
func (c *Cluster) leftProcesses() []int {
	var pids []int
	for range 50 {
		pids = pids[:0]
		paths, _ := filepath.Glob("/proc/[0-9]*")
		for _, path := range paths {
			line, _ := os.ReadFile(path + "/cmdline")
			env, _ := os.ReadFile(path + "/environ")
			var pid int
			if _, err := fmt.Sscanf(filepath.Base(path), "%d", &pid); err == nil && pid != os.Getpid() &&
				(bytes.Contains(line, []byte(c.Dir)) || bytes.Contains(env, []byte(c.Dir))) {
				pids = append(pids, pid)
			}
		}
		if len(pids) == 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return pids
}
