package slurmview_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/testkit/slurmtest"
	"github.com/foretime/foretime/shared/uncertainty"
)

var (
	queuedJobs  = flag.Int("queued-jobs", 0, "pending jobs of each real Slurm whose starts mirage when --job predicts; 30 make a table, 0 is one small queue")
	queuedSeed  = flag.Uint64("queued-seed", 1, "seed of these jobs")
	queuedPast  = flag.Int("queued-past", 64, "jobs that end before these questions, in the table")
	queuedEvery = flag.Duration("queued-every", 15*time.Second, "time between two questions about each of these jobs")
)

// holding is what keeps jobs from starting on a real Slurm, besides other jobs.
type holding struct {
	maintenance int  // seconds until no node is available; 0: all remain available
	span        int  // seconds for which none is
	qos         bool // every third job has a QOS that runs two CPUs at once
	dependency  bool // every third job waits for the one three before it
	minutes     int  // longest limit
}

// question is one answer about a pending job, in seconds from the question.
type question struct {
	job      string
	at       int64 // Unix seconds
	answer   uncertainty.Prediction
	reason   string
	testOnly float64 // predicted by sbatch --test-only; NaN if unknown
	squeue   float64 // predicted by squeue --start; NaN if unknown
}

// TestRealQueued asks again and again when the pending jobs of a busy Slurm start, with
// the function behind mirage when --job, and compares the answers with the starts.
func TestRealQueued(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	if *queuedJobs == 0 {
		q := newQueued(t, holding{maintenance: 20, span: 30, qos: true, dependency: true, minutes: 1}, 8)
		q.follow()
		q.check()
		return
	}
	for name, h := range map[string]holding{
		"alone": {}, "maintenance": {maintenance: 80, span: 60}, "QOS limit": {qos: true}, "dependency": {dependency: true},
	} {
		h.minutes = 4
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueued(t, h, *queuedJobs)
			q.follow()
			q.report()
		})
	}
}

// queued is a real Slurm with pending jobs, and the questions about them.
type queued struct {
	t         *testing.T
	c         *slurmtest.Cluster
	options   map[string][]string // of sbatch, by job
	qos       map[string]bool     // jobs with the limited QOS
	after     map[string]string   // job that a job waits for
	starts    map[string]int64    // Unix seconds
	questions []question
	down      [2]int64 // maintenance; zero is none
}

// newQueued starts a Slurm of sixteen GPUs with accounting, fills it, and submits jobs
// of one to four GPUs that use as much of their limits as jobs of Lonestar6 did.
func newQueued(t *testing.T, h holding, jobs int) *queued {
	c := slurmtest.Start(t, slurmtest.KeepAccounts, slurmtest.ShareNodes, func(c *slurmtest.Cluster) {
		c.Configure("AccountingStorageTRES=gres/gpu\nAccountingStorageEnforce=associations,limits,qos\n")
	}, account)
	q := &queued{t: t, c: c, options: map[string][]string{}, qos: map[string]bool{}, after: map[string]string{}, starts: map[string]int64{}}
	rng := rand.New(rand.NewPCG(*queuedSeed, 11))
	if *queuedJobs > 0 {
		q.past(rng, *queuedPast)
	}
	if h.maintenance > 0 {
		now := time.Now().Unix() + int64(h.maintenance)
		q.down = [2]int64{now, now + int64(h.span)}
		q.run("scontrol", "create", "reservation", "ReservationName=service", "Users=root", "Nodes=ALL", "Flags=MAINT,IGNORE_JOBS",
			"StartTime="+time.Unix(q.down[0], 0).Format("2006-01-02T15:04:05"), "EndTime="+time.Unix(q.down[1], 0).Format("2006-01-02T15:04:05"))
	}
	var ids []string
	for i := range filling + jobs {
		gpus, minutes := 1+rng.IntN(4), 1+rng.IntN(h.minutes)
		run := float64(60*minutes) * slurmview.Share(rng)
		options := []string{
			"--time=" + strconv.Itoa(minutes), "--nodes=1", "--ntasks-per-node=1", "--cpus-per-task=1", "--gres=gpu:" + strconv.Itoa(gpus),
		}
		limited, follows := h.qos && i >= filling && i%3 == 0, h.dependency && i >= filling+3 && i%3 == 1
		if limited {
			options = append(options, "--qos=narrow")
		}
		if follows {
			options = append(options, "--dependency=afterany:"+ids[i-3])
		}
		id := strings.TrimSpace(q.run("sbatch", append(options, "--parsable", "--output=/dev/null", fmt.Sprintf("--wrap=sleep %.1f", run))...))
		ids = append(ids, id)
		if i < filling {
			continue
		}
		q.options[id], q.qos[id] = options, limited
		if follows {
			q.after[id] = ids[i-3]
		}
	}
	return q
}

// past runs jobs to their ends, which tell how much of their limits jobs use.
func (q *queued) past(rng *rand.Rand, jobs int) {
	for range jobs {
		q.run("sbatch", "--time=1", "--nodes=1", "--ntasks-per-node=1", "--cpus-per-task=1", "--gres=gpu:1", "--output=/dev/null", fmt.Sprintf("--wrap=sleep %.1f", 60*slurmview.Share(rng)))
	}
	for q.run("squeue", "--noheader") != "" {
		time.Sleep(time.Second)
	}
}

// filling is the number of jobs that fill the cluster before.
const filling = 14

// account makes an account with a limited QOS for this user.
func account(c *slurmtest.Cluster) {
	me, err := user.Current()
	if err != nil {
		c.T.Fatal(err)
	}
	for _, what := range [][]string{
		{"add", "qos", "narrow", "GrpTRES=cpu=2"}, {"add", "account", "lab"}, {"add", "user", me.Username, "Account=lab"},
		{"modify", "user", me.Username, "set", "DefaultAccount=lab", "QOS=normal,narrow"},
	} {
		if _, err := c.Run(append([]string{"sacctmgr", "--immediate"}, what...)...); err != nil {
			c.T.Fatal(err)
		}
	}
}

func (q *queued) run(name string, args ...string) string {
	out, err := q.c.Run(append([]string{name}, args...)...)
	if err != nil {
		q.t.Fatal(err)
	}
	return out
}

// follow asks about every pending job until none is pending.
func (q *queued) follow() {
	client := &slurmview.Client{Runner: slurmview.Exec{Env: q.c.Env()}}
	next := time.Now()
	for left := len(q.options); left > 0 && q.t.Context().Err() == nil; {
		v, err := client.Look(q.t.Context(), time.Now(), slurmview.Sight{Days: slurmview.AnswerDays})
		if err != nil {
			q.t.Fatal(err)
		}
		if left = len(q.options) - q.note(v.Jobs); !time.Now().Before(next) {
			next = time.Now().Add(*queuedEvery)
			for i := range v.Jobs {
				if j := &v.Jobs[i]; j.State.Pending() {
					q.ask(client, v, j)
				}
			}
		}
		time.Sleep(time.Second)
	}
}

// note keeps the times of jobs, which the controller forgets, and returns how many have started.
func (q *queued) note(jobs []slurmview.Job) int {
	for i := range jobs {
		if j := &jobs[i]; j.HasStarted() {
			id := strconv.FormatInt(j.ID, 10)
			if q.options[id] != nil {
				q.starts[id] = j.Start
			}
		}
	}
	return len(q.starts)
}

func (q *queued) ask(client *slurmview.Client, v *slurmview.View, j *slurmview.Job) {
	id := strconv.FormatInt(j.ID, 10)
	if q.options[id] == nil { // one of those that fill the cluster
		return
	}
	x := question{job: id, at: v.Now, reason: j.Reason, testOnly: math.NaN(), squeue: math.NaN()}
	a, err := forecast.Live(v, forecast.Question{Queued: id}, 0.8, func(p uncertainty.Prediction) uncertainty.Prediction { return p })
	if errors.Is(err, slurmview.ErrNoStart) && q.turning(v.Now) {
		return // nodes are still reserved, and the reservation is gone
	}
	if err != nil {
		q.t.Errorf("job %s (%s): %v", id, j.Reason, err)
		return
	}
	x.answer = a.Wait.Times(3600)
	if at, err := client.TestOnly(q.t.Context(), q.options[id]); err == nil {
		x.testOnly = max(float64(at-v.Now), 0)
	}
	if j.Start > 0 {
		x.squeue = max(float64(j.Start-v.Now), 0)
	}
	q.questions = append(q.questions, x)
}

// turning reports whether the maintenance begins or ends about now: Slurm takes some
// seconds to change the states of nodes.
func (q *queued) turning(now int64) bool {
	return slices.ContainsFunc(q.down[:], func(at int64) bool { return now >= at-2 && now <= at+30 })
}

// slack is the time in seconds that Slurm takes to start a job.
const slack = 2

// report prints the errors of all answers, of those with a certain reason, and of Slurm's.
func (q *queued) report() {
	for _, x := range q.questions {
		q.t.Logf("job %s, %s: waited %4.0f s, predicted %4.0f [%.0f, %.0f], --test-only %4.0f, squeue --start %4.0f", x.job, x.reason, q.wait(x), x.answer.Value, x.answer.Low, x.answer.High, x.testOnly, x.squeue)
	}
	kinds := map[string]func(question) bool{
		"all":          func(question) bool { return true },
		"with the QOS": func(x question) bool { return q.qos[x.job] },
		"after a job":  func(x question) bool { return q.after[x.job] != "" },
	}
	for name, of := range kinds {
		var n, held, said, came float64
		var errs, widths []float64
		var test, start [2][]float64 // errors of Slurm, and ours for the same jobs
		for _, x := range q.questions {
			if !of(x) {
				continue
			}
			wait := q.wait(x)
			n, said, came = n+1, said+x.answer.Value, came+wait
			if wait >= x.answer.Low-slack && wait <= x.answer.High+slack {
				held++
			}
			off := math.Abs(wait - x.answer.Value)
			errs, widths = append(errs, off), append(widths, x.answer.Width())
			for _, rival := range []struct {
				value float64
				to    *[2][]float64
			}{{x.testOnly, &test}, {x.squeue, &start}} {
				if !math.IsNaN(rival.value) {
					rival.to[0], rival.to[1] = append(rival.to[0], math.Abs(wait-rival.value)), append(rival.to[1], off)
				}
			}
		}
		if n == 0 {
			continue
		}
		q.t.Logf("%s: %.0f answers, mean wait %.1f s, mean error %.1f s, bias %+.0f %%, 80 %% intervals hold %.2f, mean width %.0f s; --test-only: %d answers, mean error %.1f s (ours %.1f s); squeue --start: %d answers, %.1f s (ours %.1f s)",
			name, n, came/n, mean(errs), 100*(said/came-1), held/n, mean(widths), len(test[0]), mean(test[0]), mean(test[1]), len(start[0]), mean(start[0]), mean(start[1]))
	}
}

func (q *queued) wait(x question) float64 { return max(float64(q.starts[x.job]-x.at), 0) }

func mean(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return stat.Mean(x, nil)
}

// check wants answers that are better than Slurm's own, and none that starts a job during
// the maintenance.
func (q *queued) check() {
	q.report()
	var ours, theirs []float64
	during := 0
	for _, x := range q.questions {
		if x.at >= q.down[0] && x.at < q.down[1] {
			during++
			if least := float64(q.down[1] - x.at); x.answer.Low < least-slack {
				q.t.Errorf("job %s could start %.0f s before the end of the maintenance", x.job, least-x.answer.Low)
			}
		}
		if !math.IsNaN(x.testOnly) {
			ours, theirs = append(ours, math.Abs(x.answer.Value-q.wait(x))), append(theirs, math.Abs(x.testOnly-q.wait(x)))
		}
	}
	if len(ours) < 8 || during == 0 || mean(ours) >= mean(theirs) {
		q.t.Errorf("%d answers, %d of them during the maintenance: mean error %.1f s, of sbatch --test-only %.1f s", len(ours), during, mean(ours), mean(theirs))
	}
}
