package provision

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

var (
	faultHandovers = flag.Int("fault-handovers", 8, "handovers of a chain on a real Slurm with one fault each; 30 make a table")
	faultLead      = flag.Float64("fault-lead", 0, "seconds before the end at which that chain submits; 0 is futures")
)

// A service of a chain with faults runs for so long, so a fault has time to come and go.
const faultySeconds = 9

// fault is something that goes wrong during a handover. It does not happen if begin
// returns an error, because the job has started or ended in between.
type fault struct {
	name  string
	begin func(f *faulty, job int64) error
	end   func(f *faulty)
	late  bool // it is about the successor, which waits until the fault has come
}

// faults returns what goes wrong, in turn.
func faults() []fault {
	return []fault{
		{
			name: "submit limit",
			begin: func(f *faulty, _ int64) error {
				f.manage("modify", "qos", "chain", "set", "MaxSubmitJobsPerUser=1")
				return nil
			},
			end: func(f *faulty) { f.manage("modify", "qos", "chain", "set", "MaxSubmitJobsPerUser=-1") },
		},
		{name: "moved partition", late: true, begin: func(f *faulty, job int64) error { return f.change(job, "Partition=other") }},
		{name: "cancelled successor", late: true, begin: func(f *faulty, job int64) error {
			_, err := f.c.Run("scancel", "--state=PENDING", fmt.Sprint(job))
			return err
		}},
		{name: "requeue", begin: (*faulty).requeue},
		{name: "slurmctld restart", begin: func(f *faulty, _ int64) error { f.c.Stop("slurmctld"); return nil }, end: func(f *faulty) { f.c.Restart("slurmctld") }},
		{name: "slurmdbd down", begin: func(f *faulty, _ int64) error { f.c.Stop("slurmdbd"); return nil }, end: func(f *faulty) { f.c.Restart("slurmdbd") }},
		{name: "full disk", begin: func(f *faulty, _ int64) error { f.fill(); return nil }, end: func(f *faulty) { f.empty() }},
		{name: "kill -9", begin: func(f *faulty, _ int64) error { f.kill(); return nil }},
	}
}

// change changes a setting of a job.
func (f *faulty) change(job int64, setting string) error {
	_, err := f.c.Run("scontrol", "update", fmt.Sprintf("JobId=%d", job), setting)
	return err
}

// requeue lets a running job wait again; Slurm would start it two minutes later.
func (f *faulty) requeue(job int64) error {
	if err := f.change(job, "Requeue=1"); err != nil {
		return err
	}
	if _, err := f.c.Run("scontrol", "requeue", fmt.Sprint(job)); err != nil {
		return err
	}
	for range 100 {
		if f.pending(job) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err := f.change(job, "StartTime=now"); err != nil {
		f.t.Log(err) // it starts later
	}
	return nil
}

func (f *faulty) pending(job int64) bool {
	out, err := f.c.Run("squeue", "--noheader", "--format=%T", fmt.Sprintf("--jobs=%d", job))
	return err == nil && strings.HasPrefix(out, "PENDING")
}

// faulty is a chain on a real Slurm, to which faults happen.
type faulty struct {
	t        *testing.T
	c        *slurmtest.Cluster
	state    string
	disk     bool // the state has a small disk of its own
	mu       sync.Mutex
	process  *os.Process
	happened map[int]string // fault of the handover from a link
}

// TestRealFaults keeps a chain going while something goes wrong in each handover, and
// checks that each link had one job, besides those that a fault cancelled.
func TestRealFaults(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	f := &faulty{t: t, happened: map[int]string{}}
	f.c = slurmtest.Start(t, slurmtest.KeepAccounts, func(c *slurmtest.Cluster) {
		c.Configure("AccountingStorageEnforce=associations,limits,qos\nMinJobAge=7200\nPartitionName=other Nodes=n[0-3] MaxTime=INFINITE State=UP\n")
		f.c = c
		me, err := user.Current()
		if err != nil {
			t.Fatal(err)
		}
		f.manage("add", "qos", "chain")
		f.manage("add", "account", "lab")
		f.manage("add", "user", me.Username, "Account=lab")
		f.manage("modify", "user", me.Username, "set", "DefaultAccount=lab", "QOS=normal,chain")
	})
	mirage := filepath.Join(f.c.Dir, "mirage")
	run(t, nil, "go", "build", "-o", mirage, "../../cmd/mirage")
	f.state = filepath.Join(f.c.Dir, "disk")
	if err := os.Mkdir(f.state, 0o755); err != nil {
		t.Fatal(err)
	}
	f.smallDisk()
	links := *faultHandovers + 1
	argv := []string{"--slurm-option=--qos=chain", "--set", "decide.request_timeout=2s"}
	model := "futures"
	if *faultLead > 0 {
		model, argv = "fixed", append(argv, "--set", leadOf(*faultLead))
	}
	argv = provision(mirage, filepath.Join(f.state, "chain"), model, faultySeconds, links, service(t, f.c.Dir, faultySeconds), argv...)
	done := make(chan struct{})
	var injector sync.WaitGroup
	injector.Go(func() { f.inject(done) })
	out := f.lives(argv)
	close(done)
	injector.Wait()
	var sum Summary
	if err := json.Unmarshal(out, &sum); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f.verify(sum, links)
}

// smallDisk puts the state on a file system of its own, which ends with this process:
// its only name is that of an open descriptor. Without the right to mount there is none.
func (f *faulty) smallDisk() {
	if err := syscall.Mount("none", f.state, "tmpfs", 0, "size=4m"); err != nil {
		f.t.Logf("no full disk: %v", err)
		return
	}
	dir, err := os.Open(f.state)
	if err := errors.Join(err, syscall.Unmount(f.state, syscall.MNT_DETACH)); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { dir.Close() })
	f.state, f.disk = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), dir.Fd()), true
}

func (f *faulty) run(argv ...string) string {
	out, err := f.c.Run(argv...)
	if err != nil {
		f.t.Error(err)
	}
	return out
}

func (f *faulty) manage(argv ...string) {
	f.run(append([]string{"sacctmgr", "--immediate"}, argv...)...)
}

// lives runs the command until it ends by itself, and returns what it printed.
func (f *faulty) lives(argv []string) []byte {
	for {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = f.c.Env(), &stdout, &stderr, time.Second
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			f.t.Fatal(err)
		}
		f.mu.Lock()
		f.process = cmd.Process
		f.mu.Unlock()
		err := cmd.Wait()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
			time.Sleep(time.Second)
			continue
		}
		if err != nil {
			f.t.Fatalf("%v\n%s", err, stderr.Bytes())
		}
		f.t.Log(stderr.String())
		return stdout.Bytes()
	}
}

func (f *faulty) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.process.Kill()
}

// fill leaves no room on the disk of the state.
func (f *faulty) fill() {
	file, err := os.Create(filepath.Join(f.state, "filler"))
	if err != nil {
		f.t.Error(err)
		return
	}
	defer file.Close()
	for size := 1 << 16; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
	}
}

func (f *faulty) empty() {
	if err := os.Remove(filepath.Join(f.state, "filler")); err != nil {
		f.t.Error(err)
	}
}

// inject lets other jobs take the nodes that the service leaves, and a fault happen, at
// each start of a service.
func (f *faulty) inject(done <-chan struct{}) {
	all := faults()
	for link := 0; ; link++ {
		if !f.await(done, func(l *Ledger) bool { return len(l.Links) > link && l.Links[link].First > 0 }) {
			return
		}
		if link >= *faultHandovers {
			continue
		}
		this := all[link%len(all)]
		if this.name == "full disk" && !f.disk {
			continue
		}
		f.run("sbatch", "--time=1", "--nodes=3", "--exclusive", "--output=/dev/null", fmt.Sprintf("--wrap=sleep %d", 4+link*5%7))
		job := f.ledger().Links[link].Job
		if this.late {
			if !f.await(done, func(l *Ledger) bool { return len(l.Links) > link+1 && l.Links[link+1].Job != 0 }) {
				return
			}
			job = f.ledger().Links[link+1].Job
			if !f.pending(job) {
				continue // it runs already
			}
		}
		if err := this.begin(f, job); err != nil {
			f.t.Logf("%s: %v", this.name, err)
			continue
		}
		if f.happened[link] = this.name; this.end != nil {
			time.Sleep(4 * time.Second)
			this.end(f)
		}
	}
}

// ledger reads the journal.
func (f *faulty) ledger() *Ledger {
	l, err := ReadLedger(filepath.Join(f.state, "chain", "journal.jsonl"))
	if err != nil {
		return &Ledger{}
	}
	return l
}

// await waits until something is in the journal, or the chain is done.
func (f *faulty) await(done <-chan struct{}, ok func(*Ledger) bool) bool {
	for !ok(f.ledger()) {
		select {
		case <-done:
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
	return true
}

// verify counts the jobs of each link.
func (f *faulty) verify(sum Summary, links int) {
	l := f.ledger()
	if sum.Links != links || sum.Ended != links {
		f.t.Errorf("%+v, want %d services that have ended", sum, links)
	}
	jobs, ran, states := map[string]int{}, map[string]int{}, map[string][]string{}
	for _, j := range queue(f.c) {
		jobs[j.Comment]++
		states[j.Comment] = append(states[j.Comment], fmt.Sprintf("%d %s %d to %d", j.ID, j.State, j.Start, j.End))
		if j.State != "CANCELLED" { // a job that is requeued as it starts may fail
			ran[j.Comment]++
		}
	}
	type row struct{ handovers, interruption, overlap float64 }
	rows := map[string]row{}
	for i, k := range l.Links {
		if token := l.Token(i); jobs[token] != 1+len(k.Void) || ran[token] != 1 {
			f.t.Errorf("link %d: %d jobs, %d of which ran; want 1 and %d that were cancelled: %q, %+v", i, jobs[token], ran[token], len(k.Void), states[token], k)
		}
		if i == 0 {
			continue
		}
		name := f.happened[i-1]
		if name == "" {
			name = "none"
		}
		r, reward := rows[name], float64(k.First-l.Links[i-1].End)
		r.handovers, r.interruption, r.overlap = r.handovers+1, r.interruption+max(reward, 0), r.overlap+max(-reward, 0)
		rows[name] = r
	}
	for name, r := range rows {
		f.t.Logf("%-20s %2.0f handovers, each %.1f s without a service and %.1f s with two", name, r.handovers, r.interruption/r.handovers, r.overlap/r.handovers)
	}
	f.t.Logf("%+v", sum)
	if *faultHandovers >= len(faults()) && len(rows) < len(faults())-2 {
		f.t.Errorf("%d kinds of faults have happened: %v", len(rows), f.happened)
	}
}
