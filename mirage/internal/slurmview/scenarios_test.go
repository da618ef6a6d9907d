package slurmview_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
	"github.com/foretime/foretime/shared/uncertainty"
)

var (
	scenarioAnswers = flag.Int("scenario-answers", 0, "answers about pending jobs in each of eleven scenarios on a real Slurm; 24 make a table, 0 is three under a parent account")
	scenarioSeed    = flag.Uint64("scenario-seed", 1, "seed of the jobs in these scenarios")
)

// scenario is a stream of jobs that wait for one of a site's rules.
type scenario struct {
	name string
	gap  float64 // mean seconds between two jobs
	// job returns sbatch's options for a job, and whether it is asked about; tasks are the numbers of
	// its array's tasks.
	job   func(rng *rand.Rand, i int) (options string, asked bool)
	tasks int
}

// gpus returns a number of GPUs of one node.
func gpus(rng *rand.Rand) string { return fmt.Sprintf("--gres=gpu:%d", 1+rng.IntN(4)) }

// always returns the same options for each job, which is asked about.
func always(options string) func(*rand.Rand, int) (string, bool) {
	return func(*rand.Rand, int) (string, bool) { return options, true }
}

// among returns one after another of some options.
func among(options ...string) func(*rand.Rand, int) (string, bool) {
	return func(_ *rand.Rand, i int) (string, bool) { return options[i%len(options)], true }
}

// urgent mixes jobs of a partition with those of a higher tier, which are not asked about.
func urgent(partition string) func(*rand.Rand, int) (string, bool) {
	return func(rng *rand.Rand, i int) (string, bool) {
		if i%3 == 0 {
			return "--partition=prio " + gpus(rng), false
		}
		return "--partition=" + partition + " " + gpus(rng), true
	}
}

var scenarios = []scenario{
	{name: "free GPUs", gap: 2.6, job: func(rng *rand.Rand, _ int) (string, bool) { return gpus(rng), true }},
	{name: "nodes of another kind", gap: 4.5, job: func(rng *rand.Rand, _ int) (string, bool) {
		return fmt.Sprintf("--partition=cpu --cpus-per-task=%d", 1+rng.IntN(8)), true
	}},
	{name: "a higher tier", gap: 2.6, job: urgent("gpu")},
	{name: "preemption", gap: 2.6, job: urgent("scav")},
	{name: "licences", gap: 8, job: always("--licenses=lic:1")},
	{name: "a QOS", gap: 5.5, job: always("--qos=narrow")},
	{name: "a QOS, for each account", gap: 3, job: among("--qos=each --account=lab", "--qos=each --account=ext")},
	{name: "the QOS of a partition", gap: 5.5, job: always("--partition=qgpu")},
	{name: "dependencies", gap: 4, job: among("--gres=gpu:2", "--gres=gpu:2 --dependency=afterany:BEFORE", "--gres=gpu:2 --dependency=singleton --job-name=one")},
	{name: "a parent account", gap: 5.5, job: among("--account=left", "--account=right")},
	{name: "arrays", gap: 5, job: always("--gres=gpu:2 --array=0-3%2"), tasks: 4},
}

// TestRealScenarios asks when pending jobs of a Slurm with two kinds of nodes, five partitions
// in tiers, preemption, licences, limits of QOS and accounts, and fair share start, once each,
// and compares the answers with the starts and with what Slurm predicts.
func TestRealScenarios(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	chosen, answers := scenarios, *scenarioAnswers
	if answers == 0 {
		chosen, answers = scenarios[len(scenarios)-2:len(scenarios)-1], 3
	}
	for _, s := range chosen {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			q := &queued{t: t, c: startSite(t), options: map[string][]string{}, starts: map[string]int64{}}
			q.play(s, answers)
			q.report()
			for _, x := range q.questions {
				if x.answer.High == 0 && q.wait(x) > 30 {
					t.Errorf("job %s: predicted to start at once, waited %.0f s", x.job, q.wait(x))
				}
			}
		})
	}
}

// startSite starts a Slurm with the rules of a site.
func startSite(t *testing.T) *slurmtest.Cluster {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	c := slurmtest.Start(t, slurmtest.KeepAccounts, slurmtest.ShareNodes, configureSite, func(c *slurmtest.Cluster) {
		for _, words := range []string{
			"add qos narrow GrpTRES=cpu=3", "add qos each MaxTRESPerAccount=cpu=3", "add qos part GrpTRES=cpu=3",
			"add account top", "add account lab parent=top", "add account ext parent=top",
			"add account tight GrpTRES=cpu=3", "add account left parent=tight", "add account right parent=tight",
			"add user " + me.Username + " Account=lab,ext,left,right DefaultAccount=lab QOS=normal,narrow,each,part",
		} {
			if _, err := c.Run(append([]string{"sacctmgr", "--immediate"}, strings.Fields(words)...)...); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Cleanup(func() {
		for _, state := range []string{"PENDING", "RUNNING"} {
			_, _ = c.Run("scancel", "--state="+state, "--user="+me.Username)
		}
	})
	for _, node := range []string{"m0", "m1"} {
		c.Spawn("slurmd", "-D", "-N", node, "-f", filepath.Join(c.Dir, "slurm.conf"))
	}
	c.Await("six idle nodes", func() bool {
		out, err := c.Run("sinfo", "--noheader", "--Node", "--partition=cpu", "--format=%T")
		return err == nil && strings.Count(out, "idle\n") == 2
	})
	return c
}

// configureSite writes the settings of the site.
func configureSite(c *slurmtest.Cluster) {
	path := filepath.Join(c.Dir, "slurm.conf")
	b, err := os.ReadFile(path)
	if err != nil {
		c.T.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		c.T.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	text := strings.Replace(string(b), "Default=YES MaxTime=INFINITE State=UP", "Default=YES MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF", 1)
	text += `PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityMaxAge=7-0
PriorityWeightFairshare=10000
PriorityDecayHalfLife=0-1
PriorityCalcPeriod=1
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits,qos
Licenses=lic:2
MinJobAge=3600
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=scav Nodes=n[0-3] MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=prio Nodes=n[0-3] MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF
PartitionName=qgpu Nodes=n[0-3] MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF QOS=part
PartitionName=cpu Nodes=m[0-1] MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF
`
	for i, port := range c.Ports(2) {
		text += fmt.Sprintf("NodeName=m%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=8\n", i, host, port)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.T.Fatal(err)
	}
}

const (
	pastJobs  = 24 // jobs that end before the first question
	aheadJobs = 8  // jobs that are submitted at once and not asked about
)

// play submits the jobs of a scenario, and asks about each once, soon after its submission, if it
// is pending then, until there are so many answers and the jobs have started.
func (q *queued) play(s scenario, answers int) {
	rng := rand.New(rand.NewPCG(*scenarioSeed, uint64(len(s.name))))
	for i := range pastJobs {
		q.run("sbatch", "--time=1", "--nodes=1", "--output=/dev/null", "--partition="+[]string{"gpu", "cpu"}[i%2], fmt.Sprintf("--wrap=sleep %.1f", 60*slurmview.Share(rng)))
	}
	for q.run("squeue", "--noheader") != "" {
		time.Sleep(time.Second)
	}
	client := &slurmview.Client{Runner: slurmview.Exec{Env: q.c.Env()}}
	before := ""
	for i := 0; len(q.questions) < answers && q.t.Context().Err() == nil; i++ {
		text, asked := s.job(rng, i)
		if before == "" {
			text = strings.Replace(text, "--dependency=afterany:BEFORE", "", 1)
		}
		options := append(strings.Fields(strings.ReplaceAll(text, "BEFORE", before)), "--time=1", "--nodes=1", "--ntasks-per-node=1")
		testOnly := math.NaN()
		asked = asked && i >= aheadJobs/max(s.tasks, 1)
		submitted := time.Now()
		if at, err := client.TestOnly(q.t.Context(), options); asked && err == nil {
			testOnly = float64(at)
		}
		wrap := "--wrap=set --" // each task of an array has its own run time
		for range max(s.tasks, 1) {
			wrap += fmt.Sprintf(" %.1f", 60*slurmview.Share(rng))
		}
		wrap += "; shift ${SLURM_ARRAY_TASK_ID:-0}; exec sleep $1"
		before = strings.TrimSpace(q.run("sbatch", append(options, "--parsable", "--output=/dev/null", wrap)...))
		if !asked {
			continue
		}
		time.Sleep(1500 * time.Millisecond) // Slurm plans its start
		v, err := client.Look(q.t.Context(), time.Now(), slurmview.Sight{Days: slurmview.AnswerDays})
		if err != nil {
			q.t.Fatal(err)
		}
		q.noteFirst(v.Jobs)
		for task := range max(s.tasks, 1) {
			id := before
			if s.tasks > 0 {
				id += "_" + strconv.Itoa(task)
			}
			q.askOnce(v, id, options, testOnly)
		}
		time.Sleep(time.Until(submitted.Add(time.Duration(rng.ExpFloat64() * s.gap * float64(time.Second)))))
	}
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Second) {
		jobs, err := client.Queue(q.t.Context())
		if err != nil {
			q.t.Fatal(err)
		}
		if q.noteFirst(jobs); len(q.starts) == len(q.options) {
			return
		}
		if time.Now().After(end) {
			q.t.Fatalf("%d of %d jobs have started", len(q.starts), len(q.options))
		}
	}
}

// askOnce asks when a pending job starts.
func (q *queued) askOnce(v *slurmview.View, id string, options []string, testOnly float64) {
	a, err := forecast.Live(v, forecast.Question{Queued: id}, 0.8, func(p uncertainty.Prediction) uncertainty.Prediction { return p })
	if err != nil {
		_, j, _, _ := v.FindQueued(id)
		if j == nil || j.State.Pending() {
			q.t.Errorf("job %s: %v", id, err)
		}
		return
	}
	if a.Started {
		return
	}
	_, j, _, _ := v.FindQueued(id)
	x := question{job: id, at: v.Now, answer: a.Wait.Times(3600), reason: j.Reason, testOnly: max(testOnly-float64(v.Now), 0), squeue: math.NaN()}
	if j.Start > 0 {
		x.squeue = max(float64(j.Start-v.Now), 0)
	}
	q.options[id] = options
	q.questions = append(q.questions, x)
}

// noteFirst keeps the first start of each job that was asked about.
func (q *queued) noteFirst(jobs []slurmview.Job) {
	for i := range jobs {
		j := &jobs[i]
		id := strconv.FormatInt(j.ID, 10)
		if j.Array != 0 {
			id = fmt.Sprintf("%d_%s", j.Array, j.Task)
		}
		if j.HasStarted() && q.options[id] != nil {
			q.starts[id] = cmp.Or(q.starts[id], j.Start)
		}
	}
}
