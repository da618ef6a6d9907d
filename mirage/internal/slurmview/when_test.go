package slurmview

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
	"github.com/foretime/foretime/shared/uncertainty"
)

var (
	whenJobs = flag.Int("when-jobs", 8, "jobs whose starts are predicted on a real Slurm; 50 make a table")
	whenSeed = flag.Uint64("when-seed", 3, "seed of the jobs and of their coming")
)

// asked is a job whose start was predicted.
type asked struct {
	id        int64
	at        float64 // Unix seconds of the question
	predicted uncertainty.Prediction
	own       float64 // wait in seconds that Slurm itself predicted
	pending   int
}

// shares are the quantiles, in steps of a twentieth, of the share of its limit that a
// job of the Lonestar6 A100 queue ran, October 2022 to February 2023: 5 in 100 at the
// median, 30 on average.
var shares = [...]float64{0, 0, 0, 0, 0.0003, 0.0007, 0.0019, 0.0046, 0.0098, 0.0222, 0.0477, 0.0946, 0.18, 0.2667, 0.4139, 0.5933, 0.7967, 1, 1, 1, 1}

// before is how many jobs fill the cluster and tell how long they run.
const before = 14

// share draws one of quantiles.
func share(rng *rand.Rand, of []float64) float64 {
	i, part := rng.IntN(len(of)-1), rng.Float64()
	return of[i] + part*(of[i+1]-of[i])
}

// TestRealWhen submits jobs of one to four GPUs to a busy Slurm of sixteen, after
// asking when each would start, and holds the answers, and Slurm's own, against
// when it did.
func TestRealWhen(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	c := slurmtest.Start(t, slurmtest.ShareNodes)
	client := &Client{Runner: Exec{Env: c.Env()}}
	rng := rand.New(rand.NewPCG(*whenSeed, 4))
	var all []asked
	starts := map[int64]int64{}
	for i := range before + *whenJobs {
		gpus, limit := 1+rng.IntN(4), 1+rng.IntN(3)
		a := asked{at: float64(time.Now().UnixMilli()) / 1000}
		if i >= before {
			job := trace.Job{User: "root", Nodes: 1, Limit: int64(60 * limit), Need: &trace.Need{CPUs: 1, GPUs: gpus}}
			v, err := client.Look(t.Context(), time.Now(), Sight{Days: AnswerDays})
			if err != nil {
				t.Fatal(err)
			}
			waits, err := waitsOf(v, job)
			if err != nil {
				t.Fatal(err)
			}
			own, err := client.TestOnly(t.Context(), ShapeOptions(&job))
			if err != nil {
				t.Fatal(err)
			}
			a.predicted, a.own, a.pending = Expect(waits, .8), max(float64(own)-a.at, 0), v.Pending
		}
		run := float64(60*limit) * share(rng, shares[:])
		out, err := c.Run("sbatch", "--parsable", "--time="+strconv.Itoa(limit), "--ntasks-per-node=1", "--cpus-per-task=1", "--nodes=1",
			"--gres=gpu:"+strconv.Itoa(gpus), "--output=/dev/null", fmt.Sprintf("--wrap=sleep %.1f", run))
		if err != nil {
			t.Fatal(err)
		}
		if a.id, err = strconv.ParseInt(strings.TrimSpace(out), 10, 64); err != nil {
			t.Fatal(err)
		}
		if i >= before {
			all = append(all, a)
			note(c, all, starts)
			time.Sleep(time.Duration(rng.ExpFloat64() * 6 * float64(time.Second)))
		}
	}
	for !note(c, all, starts) && t.Context().Err() == nil {
		time.Sleep(time.Second)
	}
	judgeWhen(t, all, starts)
}

// note takes down the starts that the controller tells of, which it forgets later,
// and says whether all jobs have started.
func note(c *slurmtest.Cluster, all []asked, starts map[int64]int64) bool {
	for _, j := range queue(c) {
		if j.HasStarted() {
			starts[j.ID] = j.Start
		}
	}
	return !slices.ContainsFunc(all, func(a asked) bool { return starts[a.id] == 0 })
}

// judgeWhen tells how far off the answers were. A start is seen by the second, and
// Slurm takes one or two from a job's coming, or another's end, to a start.
func judgeWhen(t *testing.T, all []asked, starts map[int64]int64) {
	const slack = 2
	var held, loose, waited float64
	var ours, theirs, widths, said, came []float64
	for _, a := range all {
		wait := max(float64(starts[a.id])-a.at, 0)
		t.Logf("job %d, %d pending: waited %4.0f s, predicted %4.0f [%.0f, %.0f], Slurm %4.0f", a.id, a.pending, wait, a.predicted.Value, a.predicted.Low, a.predicted.High, a.own)
		if a.predicted.Contains(wait) {
			held++
		}
		if wait >= a.predicted.Low-slack && wait <= a.predicted.High+slack {
			loose++
		}
		if wait > slack {
			waited++
		}
		ours, theirs = append(ours, math.Abs(wait-a.predicted.Value)), append(theirs, math.Abs(wait-a.own))
		widths, said, came = append(widths, a.predicted.Width()), append(said, a.predicted.Value), append(came, wait)
	}
	n := float64(len(all))
	t.Logf("%v jobs, %v of which waited: 80 %% intervals hold %.2f, within %d s of them %.2f, mean width %.0f s; answers %+.0f %% too long; absolute error mean %.1f, median %.1f s; Slurm's --test-only %.1f, %.1f s",
		n, waited, held/n, slack, loose/n, mean(widths), 100*(mean(said)/mean(came)-1), mean(ours), stats.Median(ours), mean(theirs), stats.Median(theirs))
	if n >= 40 && loose/n < .6 {
		t.Errorf("the 80 %% intervals hold %.2f", loose/n)
	}
}

func mean(x []float64) float64 { return stat.Mean(x, nil) }

// queue returns the jobs that the cluster's controller holds.
func queue(c *slurmtest.Cluster) []Job {
	c.T.Helper()
	jobs, err := (&Client{Runner: Exec{Env: c.Env()}}).Queue(c.T.Context())
	if err != nil {
		c.T.Fatal(err)
	}
	return jobs
}
