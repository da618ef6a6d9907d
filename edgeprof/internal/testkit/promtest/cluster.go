package promtest

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/testkit/porttest"
)

// Interval is the time between scrapes of Prometheus.
const Interval = 250 * time.Millisecond

// Cluster is a Prometheus that scrapes nodes whose load the test makes up.
type Cluster struct {
	Address string // of Prometheus, host:port
	t       *testing.T
	folder  string
	nodes   map[string]*node
	server  *process
}

// node is a made-up /proc, written again and again, and its exporter.
type node struct {
	proc     string
	mutex    sync.Mutex
	busy     float64
	busyTick float64
	idleTick float64
	exporter *process
}

// process is one running program.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	log  bytes.Buffer
}

// Start runs one node_exporter for each node and a Prometheus that scrapes them
// and the nodes' agents, which are given by address. Series of a node's
// exporter have its name as their instance. It returns when all are up.
func Start(t *testing.T, agents map[string]string) *Cluster {
	t.Helper()
	for _, program := range []string{"prometheus", "prometheus-node-exporter"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: install with apt-get install %s", program, program)
		}
	}
	c := &Cluster{t: t, folder: t.TempDir(), nodes: map[string]*node{}}
	var config strings.Builder
	fmt.Fprintf(&config, "global: {scrape_interval: %s, scrape_timeout: %s}\nscrape_configs:\n- job_name: node\n  static_configs:\n", Interval, Interval)
	for name := range agents {
		c.nodes[name] = &node{proc: filepath.Join(c.folder, name)}
		fmt.Fprintf(&config, "  - {targets: [%q], labels: {instance: %q}}\n", c.exporter(name), name)
	}
	config.WriteString("- job_name: agent\n  static_configs:\n")
	for _, address := range agents {
		fmt.Fprintf(&config, "  - {targets: [%q]}\n", address)
	}
	c.configure(config.String())
	return c
}

// Serve runs a Prometheus with a configuration and returns its address.
func Serve(t *testing.T, config string) string {
	t.Helper()
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("needs prometheus: install with apt-get install prometheus")
	}
	c := &Cluster{t: t, folder: t.TempDir()}
	c.configure(config)
	return c.Address
}

// configure starts Prometheus with a configuration.
func (c *Cluster) configure(config string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.folder, "prometheus.yml"), []byte(config), 0o644); err != nil {
		c.t.Fatal(err)
	}
	c.Address = free(c.t)
	c.StartServer()
}

// StartServer starts Prometheus at its address.
func (c *Cluster) StartServer() {
	c.t.Helper()
	c.server = c.run("http://"+c.Address+"/-/ready", "prometheus", "--config.file="+filepath.Join(c.folder, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(c.folder, "tsdb"), "--web.listen-address="+c.Address)
}

// StopServer ends Prometheus.
func (c *Cluster) StopServer() { c.server.stop() }

// StopExporter ends a node's exporter.
func (c *Cluster) StopExporter(name string) { c.nodes[name].exporter.stop() }

// Busy sets the share of time, 0 to 1, that a node's processors are busy from
// now on.
func (c *Cluster) Busy(name string, share float64) {
	n := c.nodes[name]
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.busy = share
}

// exporter makes up a node of two processors with its exporter, and returns the
// exporter's address.
func (c *Cluster) exporter(name string) string {
	c.t.Helper()
	n := c.nodes[name]
	for _, folder := range []string{"1", "pressure"} {
		if err := os.MkdirAll(filepath.Join(n.proc, folder), 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
	for file, text := range map[string]string{
		"loadavg": "2.50 2.00 1.00 3/100 9\n",
		"meminfo": "MemTotal: 4000000 kB\nMemAvailable: 3000000 kB\n", "pressure/memory": pressure(0), "pressure/io": pressure(0), "1/mounts": "/dev/root / ext4 rw 0 0\n",
	} {
		if err := os.WriteFile(filepath.Join(n.proc, file), []byte(text), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	start := time.Now()
	n.write(start, start)
	stop := make(chan struct{})
	c.t.Cleanup(func() { close(stop) })
	crash.Go(func() {
		last := start
		for {
			select {
			case <-stop:
				return
			case now := <-time.After(Interval / 5):
				n.write(last, now)
				last = now
			}
		}
	})
	address := free(c.t)
	n.exporter = c.run("http://"+address+"/metrics", "prometheus-node-exporter", "--web.listen-address="+address, "--path.procfs="+n.proc,
		"--collector.disable-defaults", "--collector.cpu", "--collector.meminfo", "--collector.filesystem", "--collector.uname", "--collector.loadavg", "--collector.stat", "--collector.pressure")
	return address
}

// write moves the processors' times on, 100 ticks a second, and writes them
// with all the modes that a kernel counts (proc(5)); tasks wait as long as the
// processors are busy.
func (n *node) write(from, to time.Time) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	ticks := 100 * to.Sub(from).Seconds()
	n.busyTick += n.busy * ticks
	n.idleTick += (1 - n.busy) * ticks
	var b strings.Builder
	for _, name := range []string{"cpu ", "cpu0", "cpu1"} {
		fmt.Fprintf(&b, "%s %d 0 %d %d 0 0 0 0 0 0\n", name, int(n.busyTick/2), int(n.busyTick/2), int(n.idleTick))
	}
	fmt.Fprintf(&b, "btime 1\nprocesses 1\nprocs_running %d\nprocs_blocked 0\n", 1+int(math.Ceil(2*n.busy))) // the exporter is one
	n.replace("stat", b.String())
	n.replace("pressure/cpu", pressure(n.busyTick/100))
}

// pressure returns the kernel's text about tasks that waited for some seconds
// (Documentation/accounting/psi.rst).
func pressure(seconds float64) string {
	line := fmt.Sprintf("avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n", int(seconds*1e6))
	return "some " + line + "full " + line
}

// replace writes a file so that a reader sees the old one or the new one.
func (n *node) replace(name, text string) {
	path := filepath.Join(n.proc, name)
	if os.WriteFile(path+".new", []byte(text), 0o644) == nil {
		_ = os.Rename(path+".new", path)
	}
}

// free returns a loopback address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	return fmt.Sprint("127.0.0.1:", porttest.Free(t))
}

// run starts a program and waits until it answers.
func (c *Cluster) run(probe, program string, args ...string) *process {
	c.t.Helper()
	p := &process{cmd: exec.Command(program, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	crash.Go(func() { _ = p.cmd.Wait(); close(p.done) })
	c.t.Cleanup(p.stop)
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		select {
		case <-p.done:
			c.t.Fatalf("%s ended:\n%s", program, &p.log)
		case <-time.After(50 * time.Millisecond):
		}
		if r, err := http.Get(probe); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return p
			}
		}
	}
	p.stop()
	c.t.Fatalf("%s did not answer in five minutes:\n%s", program, &p.log)
	return nil
}

// stop ends the program and waits for its end.
func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	<-p.done
}
