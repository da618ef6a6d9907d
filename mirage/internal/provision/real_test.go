package provision

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
)

// TestMain has more real Slurms at once than there are cores: they mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const (
	serviceSeconds = 7
	services       = 10
)

// load is a seeded stream of jobs that compete with the service: one or two
// nodes for two to eight seconds, on average 2.6 of four nodes.
type load struct {
	rng *rand.Rand
	gap float64 // mean seconds between two jobs
}

func newLoad(seed uint64) load { return load{rand.New(rand.NewPCG(seed, 7)), 2.55} }

func (l load) next() (gap, seconds float64, nodes int) {
	nodes = 1
	if l.rng.IntN(3) == 0 {
		nodes = 2
	}
	return l.rng.ExpFloat64() * l.gap, 2 + 6*l.rng.Float64(), nodes
}

// TestRealProvision keeps chains of services going on real Slurms under
// competing load, reactively and with a trained model; and one whose process is killed
// again and again.
func TestRealProvision(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	dir := t.TempDir()
	mirage := filepath.Join(dir, "mirage")
	run(t, nil, "go", "build", "-o", mirage, "../../cmd/mirage")
	model := train(t, dir, mirage)
	var reactive, learnt Summary
	t.Run("chains", func(t *testing.T) {
		t.Run("reactive", func(t *testing.T) { t.Parallel(); reactive, _ = chainOf(t, mirage, services, "reactive") })
		t.Run("model", func(t *testing.T) {
			t.Parallel()
			early := 0
			if learnt, early = chainOf(t, mirage, services, model); early < services/2 {
				t.Errorf("%d successors of %d submitted early", early, services-1)
			}
		})
		t.Run("killed", func(t *testing.T) { t.Parallel(); killed(t, mirage) })
	})
	t.Logf("reactive: %+v", reactive)
	t.Logf("model:    %+v", learnt)
}

var (
	handovers = flag.Int("handovers", 5, "services of each chain that hands over on a real Slurm by the curve or after a fixed time; 40 make a table")
	loadSeed  = flag.Uint64("load-seed", 2, "seed of the jobs that compete with chains")
)

// TestRealHandover keeps chains going on real Slurms under the same competing load, by
// the curve of what the live queue may come to and by fixed times, each successor
// exactly once, and tells what the handovers cost.
func TestRealHandover(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	mirage := filepath.Join(t.TempDir(), "mirage")
	run(t, nil, "go", "build", "-o", mirage, "../../cmd/mirage")
	t.Run("chains", func(t *testing.T) {
		for _, lead := range []float64{0, 1.5, 3, 6} { // seconds; 0 is the curve
			how := []string{"futures"}
			if lead > 0 {
				how = []string{"fixed", "--set", leadOf(lead)}
			}
			t.Run(fmt.Sprint(how[0], lead), func(t *testing.T) {
				t.Parallel()
				sum, early := chainOf(t, mirage, *handovers, how[0], how[1:]...)
				n := float64(sum.HandOvers)
				t.Logf("%d handovers, %d submitted early, %d interrupted: each %.2f s without a service and %.2f s with two", sum.HandOvers, early, sum.Interrupted, sum.Interruption/n, sum.Overlap/n)
				if lead > 0 && early < sum.HandOvers/2 {
					t.Errorf("%d successors of %d submitted a fixed time before the end", early, sum.HandOvers)
				}
			})
		}
	})
}

func run(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", argv, err, out, stderr.Bytes())
	}
	return string(out)
}

// leadOf returns the setting of a lead of so many seconds.
func leadOf(seconds float64) string { return fmt.Sprintf("policy.lead_hours=%v", seconds/3600) }

// train makes a month of such load, with ten minutes for a second, and learns from it,
// with the queue's own forecast; it returns the settings of the cluster and the model.
func train(t *testing.T, dir, mirage string) (model string) {
	const factor = 600
	l := newLoad(1)
	begin := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	var jobs []trace.Job
	for at := 0.0; at < 28*86400; {
		gap, seconds, nodes := l.next()
		at += gap * factor
		submit := begin + int64(at)
		// A second goes by until a job is scheduled and started.
		jobs = append(jobs, trace.Job{ID: fmt.Sprint(len(jobs) + 1), User: "u", Submit: submit, Start: submit, End: submit + int64((seconds+1)*factor), Limit: 60 * factor, Nodes: nodes})
	}
	log := filepath.Join(dir, "load.log")
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(trace.WriteMirage(f, jobs, time.UTC), f.Close()); err != nil {
		t.Fatal(err)
	}
	model = filepath.Join(dir, "model.json")
	samples := filepath.Join(dir, "samples")
	run(t, nil, mirage, "generate", log, "--nodes", "4", "--episodes", "160", "--probes", "5", "--interval", "3h", "--start", "2023-01-05",
		"--history", "3d", "--set", fmt.Sprintf("service.limit=%ds", serviceSeconds*factor), "--out-dir", samples)
	t.Log(strings.TrimSpace(run(t, nil, mirage, "train", samples, "--out", model)))
	return model
}

// service is the script of the service.
func service(t *testing.T, dir string, seconds int) string {
	path := filepath.Join(dir, "service.sh")
	if err := os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\n[ \"$CUDA_VISIBLE_DEVICES\" = 0,1 ] || exit 3\nexec sleep %d\n", seconds), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// provision is the command line; state is the folder.
func provision(mirage, state, model string, seconds, services int, script string, more ...string) []string {
	argv := append([]string{
		mirage, "provision", "--state-dir", state, "--model", model, "--set", "service.limit=1m", "--set", fmt.Sprintf("service.time=%ds", seconds),
		"--set", "decide.interval=1s", "--services", fmt.Sprint(services), "--json",
		"--slurm-option=--gres=gpu:2", "--slurm-option=--output=/dev/null",
	}, more...)
	return append(argv, script)
}

// chainOf keeps one chain going to its end and checks it against the
// controller and the log of completed jobs. It tells how many successors were
// submitted before the end of their predecessor.
func chainOf(t *testing.T, mirage string, services int, model string, more ...string) (sum Summary, early int) {
	c := slurmtest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { compete(c, ctx, newLoad(*loadSeed)) })
	state := filepath.Join(c.Dir, "chain")
	port := c.Ports(1)[0]
	argv := provision(mirage, state, model, serviceSeconds, services, service(t, c.Dir, serviceSeconds), append(more, "--metrics", fmt.Sprintf("127.0.0.1:%d", port))...)
	scraped := make(chan string, 1)
	go func() {
		time.Sleep(8 * time.Second)
		scraped <- scrape(port)
	}()
	out := run(t, c.Env(), argv...)
	if err := json.Unmarshal([]byte(out), &sum); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if text := <-scraped; !strings.Contains(text, "\nmirage_provision_submissions_total ") {
		t.Errorf("metrics: %q", text)
	}
	if sum.Links != services || sum.Ended != services || sum.Submissions != services || sum.HandOvers != services-1 {
		t.Errorf("%+v", sum)
	}
	once(c, state, services)
	b, err := os.ReadFile(filepath.Join(state, "decisions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if early = bytes.Count(b, []byte(`"why":"policy"`)); model == "reactive" && early > 0 {
		t.Errorf("%d successors submitted before the end", early)
	}
	t.Logf("%d decisions, %d other jobs, %+v", bytes.Count(b, []byte("\n")), len(queue(c))-services, sum)
	return sum, early
}

func scrape(port int) string {
	r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", port))
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return string(b)
}

// compete submits the load until the context is done.
func compete(c *slurmtest.Cluster, ctx context.Context, l load, options ...string) {
	next := time.Now()
	for {
		gap, seconds, nodes := l.next()
		next = next.Add(time.Duration(gap * float64(time.Second)))
		if (Wall{}).Sleep(ctx, time.Until(next)) != nil {
			return
		}
		argv := []string{"sbatch", "--parsable", "--time=1", "--output=/dev/null", fmt.Sprintf("--nodes=%d", nodes), fmt.Sprintf("--wrap=sleep %.1f", seconds)}
		if _, err := c.Run(append(argv, options...)...); err != nil {
			c.T.Error(err)
		}
	}
}

// once checks that each link has exactly one job, by the controller and by
// the log of completed jobs, each on its own.
func once(c *slurmtest.Cluster, state string, links int) {
	c.T.Helper()
	l, err := OpenLedger(filepath.Join(state, "journal.jsonl"))
	if err != nil {
		c.T.Fatal(err)
	}
	defer l.Close()
	known := map[string]int{}
	for _, j := range queue(c) {
		known[j.Comment]++
		if strings.HasPrefix(j.Comment, "foretime/") && j.State != "COMPLETED" {
			c.T.Errorf("job %d of %s is %s", j.ID, j.Comment, j.State)
		}
	}
	completed, err := os.ReadFile(filepath.Join(c.Dir, "jobcomp.log"))
	if err != nil {
		c.T.Fatal(err)
	}
	for i := range links {
		if n := known[l.Token(i)]; n != 1 {
			c.T.Errorf("the controller knows %d jobs for link %d", n, i)
		}
		if n := bytes.Count(completed, fmt.Appendf(nil, " Name=service-%s-%d ", l.Chain, i)); n != 1 {
			c.T.Errorf("%d jobs of link %d have completed", n, i)
		}
	}
	if n := bytes.Count(completed, fmt.Appendf(nil, " Name=service-%s-", l.Chain)); n != links {
		c.T.Errorf("%d services have completed, want %d", n, links)
	}
}

// murderous is an sbatch that kills who calls it, before, during or after the
// submission, and loses replies.
const murderous = `#!/bin/sh
n=$(od -An -N1 -tu1 /dev/urandom)
case $((n % 5)) in
0) echo before >> "$FATES"; kill -9 $PPID; exit 1;;
1) echo orphan >> "$FATES"; kill -9 $PPID; sleep 1.5; exec "$SBATCH" "$@";;
2) echo after >> "$FATES"; "$SBATCH" "$@" > /dev/null; kill -9 $PPID; exit 0;;
3) echo lost >> "$FATES"; "$SBATCH" "$@" > /dev/null; exit 1;;
*) exec "$SBATCH" "$@";;
esac
`

// killed kills the process fifty times, in sbatch and at random moments, and
// lets it go on each time.
func killed(t *testing.T, mirage string) {
	const kills, seconds = 50, 3
	c := slurmtest.Start(t)
	bin, fates := filepath.Join(c.Dir, "bin"), filepath.Join(c.Dir, "fates")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), []byte(murderous), 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(c.Env(), "PATH="+bin+":"+os.Getenv("PATH"), "SBATCH="+slurmtest.Program(t, "sbatch"), "FATES="+fates)
	state, script := filepath.Join(c.Dir, "chain"), service(t, c.Dir, seconds)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 3))
	died, stopped, lives, links := 0, 0, 0, 0 // links 0: the chain has no end yet
	var stderr bytes.Buffer
	for done := false; !done; lives++ {
		if lives > 10*kills {
			t.Fatalf("%d lives without an end:\n%s", lives, stderr.Bytes())
		}
		if died >= kills && links == 0 {
			links = len(readLinks(t, state)) + 1
		}
		argv := provision(mirage, state, "fixed", seconds, links, script, "--set", leadOf(1.2), "--set", "decide.request_timeout=1s")
		cmd := exec.Command(argv[0], argv[1:]...)
		stderr.Reset()
		cmd.Env, cmd.Stderr = env, &stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		cmd.WaitDelay = 10 * time.Millisecond // an sbatch left over holds stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var timer *time.Timer
		if died < kills {
			signal := syscall.SIGKILL
			if rng.IntN(8) == 0 {
				signal = syscall.SIGTERM
			}
			timer = time.AfterFunc(time.Duration(20+rng.IntN(2500))*time.Millisecond, func() { _ = cmd.Process.Signal(signal) })
		}
		_ = cmd.Wait()
		if timer != nil {
			timer.Stop()
		}
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		switch {
		case status.Signaled() && status.Signal() == syscall.SIGKILL:
			died++
		case status.Signaled() && status.Signal() == syscall.SIGTERM: // it came before main
		case status.ExitStatus() == 1 && bytes.HasSuffix(stderr.Bytes(), []byte("mirage: interrupted\n")):
			stopped++
		case status.ExitStatus() == 0:
			done = true
		default:
			t.Fatalf("%v\n%s", cmd.ProcessState, stderr.Bytes())
		}
	}
	once(c, state, links)
	b, _ := os.ReadFile(fates)
	tries := 0
	for _, k := range readLinks(t, state) {
		tries += k.Tries
	}
	count := func(fate string) int { return bytes.Count(b, []byte(fate+"\n")) }
	t.Logf("killed %d times, in sbatch %d before, %d during, %d after, and stopped %d times; %d replies lost; %d services of %d submissions intended, none double, none lost",
		died, count("before"), count("orphan"), count("after"), stopped, count("lost"), links, tries)
}

// readLinks reads a journal that another process may have left unfinished.
func readLinks(t *testing.T, state string) []Link {
	b, err := os.ReadFile(filepath.Join(state, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Links
}

// queue is what the cluster's controller holds.
func queue(c *slurmtest.Cluster) []slurmview.Job {
	c.T.Helper()
	jobs, err := (&slurmview.Client{Runner: slurmview.Exec{Env: c.Env()}}).Queue(context.Background())
	if err != nil {
		c.T.Fatal(err)
	}
	return jobs
}
