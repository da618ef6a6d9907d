package slurm

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// packages are the programs a real Slurm needs and where they come from.
var packages = map[string]string{
	"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd",
	"sbatch": "slurm-client", "squeue": "slurm-client", "scontrol": "slurm-client", "sinfo": "slurm-client", "scancel": "slurm-client",
	"sacct": "slurm-client", "sacctmgr": "slurm-client",
	"slurmdbd": "slurmdbd", "mariadbd": "mariadb-server-core", "mariadb-install-db": "mariadb-server-core", "my_print_defaults": "mariadb-client-core",
}

// program finds a program of the system, those for its keeper included.
func program(t *testing.T, name string) string {
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

// cluster is a Slurm of four nodes with four pretended GPUs each, on
// loopback, in a folder of its own.
type cluster struct {
	t     *testing.T
	dir   string
	procs []*exec.Cmd // in the order of their start
	start chan func()
}

// startCluster starts a Slurm and sees to its end. What more starts comes
// before the controller.
func startCluster(t *testing.T, more ...func(*cluster)) *cluster {
	for name := range packages {
		program(t, name)
	}
	dir, err := os.MkdirTemp("", "slurm") // t.TempDir is too long a name for a socket
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, dir: dir, start: make(chan func())}
	// The children die with the thread that started them, so that nothing is
	// left even when this process is killed.
	go func() {
		runtime.LockOSThread()
		for f := range c.start {
			f()
		}
	}()
	t.Cleanup(c.stop)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.write()
	at := func(name string) string { return filepath.Join(dir, name) }
	c.spawn("munged", "--foreground", "--force", "--key-file="+at("munge.key"), "--socket="+at("munge.socket"),
		"--pid-file="+at("munge.pid"), "--log-file="+at("munge.log"), "--seed-file="+at("munge.seed"))
	c.await("munge", func() bool { _, err := os.Stat(at("munge.socket")); return err == nil })
	for _, start := range more {
		start(c)
	}
	c.spawn("slurmctld", "-D", "-f", at("slurm.conf"))
	for i := range 4 {
		c.spawn("slurmd", "-D", "-N", fmt.Sprintf("n%d", i), "-f", at("slurm.conf"))
	}
	c.await("four idle nodes", func() bool {
		out, err := c.run("sinfo", "--noheader", "--Node", "--format=%T")
		return err == nil && strings.Count(out, "idle\n") == 4
	})
	return c
}

func (c *cluster) write() {
	key := make([]byte, 1024)
	if _, err := rand.Read(key); err != nil {
		c.t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		c.t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		c.t.Fatal(err)
	}
	ports := c.ports(5)
	var nodes strings.Builder
	for i, port := range ports[1:] {
		fmt.Fprintf(&nodes, "NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 Gres=gpu:4\n", i, host, port)
	}
	conf := strings.NewReplacer("DIR", c.dir, "HOST", host, "USER", me.Username, "PORT", fmt.Sprint(ports[0])).Replace(`ClusterName=t
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
		if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(c.dir, name), 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
}

// configure adds to the settings of the cluster.
func (c *cluster) configure(text string) {
	f, err := os.OpenFile(filepath.Join(c.dir, "slurm.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// ports finds ports that nobody listens on.
func (c *cluster) ports(n int) []int {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			c.t.Fatal(err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}

// spawn starts a daemon in the foreground.
func (c *cluster) spawn(name string, args ...string) {
	cmd := exec.Command(program(c.t, name), args...)
	out, err := os.Create(filepath.Join(c.dir, fmt.Sprintf("%s.%d.out", name, len(c.procs))))
	if err != nil {
		c.t.Fatal(err)
	}
	defer out.Close()
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env(), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	c.start <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		c.t.Fatal(err)
	}
	c.procs = append(c.procs, cmd)
}

// env is the environment in which Slurm's commands find the cluster.
func (c *cluster) env(path ...string) []string {
	return append(os.Environ(), "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"), "PATH="+strings.Join(append(path, os.Getenv("PATH")), ":"))
}

func (c *cluster) run(argv ...string) (string, error) {
	b, err := Exec{Env: c.env(), Timeout: 30 * time.Second}.Run(context.Background(), argv, nil)
	return string(b), err
}

func (c *cluster) queue() []Job {
	c.t.Helper()
	jobs, err := (&Client{Runner: Exec{Env: c.env()}}).Queue(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	return jobs
}

// await waits for something to come true, for a minute at most.
func (c *cluster) await(what string, ok func() bool) {
	c.t.Helper()
	for range 600 {
		if ok() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.logs()
	c.t.Fatalf("waited in vain for %s", what)
}

func (c *cluster) logs() {
	paths, _ := filepath.Glob(filepath.Join(c.dir, "*.out"))
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
			c.t.Logf("%s:\n%s", filepath.Base(path), b[max(0, len(b)-2000):])
		}
	}
}

// stop ends the jobs, the daemons and the folder, and looks for whatever is
// left over.
func (c *cluster) stop() {
	_, _ = c.run("scancel", "--state=PENDING", "--partition=gpu")
	_, _ = c.run("scancel", "--partition=gpu")
	for range 100 {
		if out, err := c.run("squeue", "--noheader", "--states=RUNNING,COMPLETING"); err != nil || out == "" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for i := len(c.procs) - 1; i >= 0; i-- { // munge last
		cmd := c.procs[i]
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	}
	close(c.start)
	for _, pid := range c.left() {
		c.t.Errorf("process %d is left over", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err := os.RemoveAll(c.dir); err != nil {
		c.t.Error(err)
	}
}

// left are the processes that still have to do with the folder, a while after
// the end.
func (c *cluster) left() []int {
	var pids []int
	for range 50 {
		pids = pids[:0]
		paths, _ := filepath.Glob("/proc/[0-9]*")
		for _, path := range paths {
			line, _ := os.ReadFile(path + "/cmdline")
			env, _ := os.ReadFile(path + "/environ")
			var pid int
			if _, err := fmt.Sscanf(filepath.Base(path), "%d", &pid); err == nil && pid != os.Getpid() &&
				(bytes.Contains(line, []byte(c.dir)) || bytes.Contains(env, []byte(c.dir))) {
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
