package slurmview

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ErrPrivate says that squeue hides other users' jobs.
var ErrPrivate = errors.New("PrivateData in slurm.conf contains jobs: unless this user is an operator, squeue shows only its own jobs, and predictions ignore all others")

// View is a snapshot of a Slurm, which predicts when a job would start.
type View struct {
	Now      int64 // Unix seconds
	Hardware *Hardware
	Private  bool     // only this user's jobs are seen
	Jobs     []Job    // as the controller reports them
	Pending  int      // jobs that wait for room
	Unread   []string // what could not be read and may hold jobs back: the interval has no upper end
	Notes    []string // what could not be read and makes answers less certain
	sim      *simulator.Simulator
	order    priorities
	limits   *limits
	standing simulator.Standing
	config   simulator.Config
	boot     time.Duration // the longest time that a powered-down node takes to resume
}

// Sight says what is known before a look, and how to look.
type Sight struct {
	Controller *Controller // nil asks for it
	Jobs       []Job       // of the queue; nil asks for them
	// Own reports whether a job belongs to the chain that looks; nil is no job.
	Own func(id int64) bool
	// Past holds recent jobs. Without them, the accounting is asked for those of so many
	// days; 0 does not ask.
	Past []trace.Job
	Days int
}

// AnswerDays is the age in days of the oldest jobs from which an answer learns.
const AnswerDays = 14

// Look takes a snapshot of a Slurm: nodes, partitions, reservations, limits, queue, and how
// long jobs ran lately. Times of the controller are in the zone of now.
func (c *Client) Look(ctx context.Context, now time.Time, s Sight) (*View, error) {
	k := s.Controller
	if k == nil {
		asked, err := c.Controller(ctx)
		if err != nil {
			return nil, err
		}
		k = &asked
	}
	h, err := c.Hardware(ctx, *k)
	if err != nil {
		return nil, err
	}
	jobs := s.Jobs
	if jobs == nil {
		if jobs, err = c.Queue(ctx); err != nil {
			return nil, err
		}
	}
	v := &View{Now: now.Unix(), Hardware: h, Private: k.Private, Jobs: jobs, limits: newLimits(), order: k.priorities, boot: k.Boot}
	c.readHolds(ctx, v, *k, now)
	st := v.stand(s.Own)
	st.Ended = finishedJobs(jobs)
	if s.Past != nil {
		st.Ended, st.Repeats = slices.Clone(s.Past), !k.Private
	} else if k.Accounting && s.Days > 0 {
		past, err := c.Past(ctx, now, s.Days)
		if err == nil {
			st.Ended, st.Repeats = past, !k.Private
		} else {
			v.Notes = append(v.Notes, fmt.Sprintf("the accounting does not answer, so run times are those of the %s that the controller remembers: %v", plural.Count(len(st.Ended), "finished job"), err))
		}
	}
	for i := range st.Ended {
		st.Ended[i].Need = h.need(st.Ended[i].Need, st.Ended[i].Partition, nil)
	}
	config := simulator.Config{Machine: h.Machine, Rules: liveRules(k.Parameters), Caps: v.limits.most()}
	if k.priorities.unread != "" {
		v.Notes = append(v.Notes, k.priorities.unread)
	}
	return v, v.resume(st, config)
}

// readHolds reads what holds jobs back, apart from other jobs: reservations, limits, licences.
func (c *Client) readHolds(ctx context.Context, v *View, k Controller, now time.Time) {
	h := v.Hardware
	all, err := c.Reservations(ctx, now.Location())
	if err != nil {
		v.Unread = append(v.Unread, fmt.Sprintf("reservations (%v)", err))
	}
	if unknown := h.reserve(all, now.Unix(), now.Location()); len(unknown) > 0 {
		v.Unread = append(v.Unread, "some nodes of the reservations "+strings.Join(unknown, ", "))
	}
	if n := len(h.unexplained); n > 0 {
		v.Unread = append(v.Unread, fmt.Sprintf("for whom and until when %s reserved (%s): no reservation shows it", plural.Count(n, "node")+" "+be(n), strings.Join(h.unexplained[:min(n, 3)], ", ")))
	}
	if k.Limits || k.Associations || h.hasLists() { // without limits only the names matter
		l, err := c.readLimits(ctx, k.Cluster)
		switch {
		case err != nil && k.Limits:
			v.Unread = append(v.Unread, fmt.Sprintf("limits of accounts and QOS (%v)", err))
		case k.Limits:
			v.limits = l
		default:
			v.limits.account = l.account
			for name := range l.qos {
				v.limits.qos[name] = columns{"Name": name}
			}
			for key, r := range l.assoc {
				v.limits.assoc[key] = columns{"User": r["User"], "Account": r["Account"], "DefaultQOS": r["DefaultQOS"]}
			}
		}
		v.limits.enforced = k.Associations && err == nil
	}
	c.readLicenses(ctx, v.limits)
	for name, p := range h.partitions {
		v.limits.partition[name] = p.qos
	}
	for i := range v.Jobs {
		if j := &v.Jobs[i]; !j.State.Over() {
			v.limits.count(j.subject(), int64(max(j.Tasks, 1)), j.State.Running())
		}
	}
}

// resume makes the simulation of a queue that answers begin with.
func (v *View) resume(st simulator.Standing, config simulator.Config) (err error) {
	v.Pending = len(st.Pending)
	coarsen(&config, st.Pending)
	v.standing, v.config = st, config
	v.sim, err = config.Resume(st)
	return err
}

// Successor returns the next job of the chain that looked, which takes what the running one
// has, and the simulation of the queue in which the running one uses all of the next one's
// limit. One whose ID is in the queue has its priority.
func (v *View) Successor(next trace.Job) (trace.Job, *simulator.Simulator, error) {
	st := v.standing
	st.Own = slices.Clone(st.Own)
	next.Partition = v.Hardware.Default
	for i := range st.Own {
		own := &st.Own[i]
		own.Limit = next.Limit
		next.User = own.User
		next.Partition = own.Partition
		next.Need = own.Need
		next.Charges = own.Charges
	}
	next.Need = v.Hardware.need(next.Need, next.Partition, nil)
	sim, err := v.config.Resume(st)
	next.Priority = v.order.forNew(&next, &st)
	if at := slices.IndexFunc(v.Jobs, func(j Job) bool { return rowID(&j) == next.ID }); at >= 0 {
		next.Priority = v.Jobs[at].Priority
	}
	return next, sim, err
}

// Queues of more than so many jobs are planned by fewer backfill passes over fewer jobs, of
// these numbers, which gives an answer at once.
const (
	longQueue    = 300
	coarsePasses = 100
	coarseJobs   = 100
)

// coarsen plans a long queue with fewer passes over fewer jobs.
func coarsen(c *simulator.Config, pending []trace.Job) {
	if len(pending) <= longQueue {
		return
	}
	var cpus, gpus float64 // seconds of them that the queue asks for
	for i := range pending {
		j := &pending[i]
		cpus += float64(j.Need.CPUs) * float64(j.Limit)
		gpus += float64(j.Need.GPUs) * float64(j.Limit)
	}
	var haveCPUs, haveGPUs float64
	for _, k := range c.Kinds {
		haveCPUs += float64(k.Nodes * k.CPUs)
		haveGPUs += float64(k.Nodes * k.GPUs)
	}
	drain := max(cpus/max(haveCPUs, 1), gpus/max(haveGPUs, 1))
	b := &c.Backfill
	b.IntervalSeconds = max(b.IntervalSeconds, int64(drain/coarsePasses))
	b.MaxJobTest = min(cmp.Or(b.MaxJobTest, coarseJobs), coarseJobs)
}

// Past returns the jobs of the accounting that began in the last days.
func (c *Client) Past(ctx context.Context, now time.Time, days int) ([]trace.Job, error) {
	b, err := c.Runner.Run(ctx, []string{
		"env", "TZ=UTC", "sacct", "--allusers", "--allocations", "--parsable2",
		"--starttime=" + now.AddDate(0, 0, -days).UTC().Format("2006-01-02T15:04:05"),
		"--format=JobID,User,Partition,Submit,Start,End,Timelimit,State,NNodes,Priority,ReqTRES",
	}, nil)
	if err != nil {
		return nil, err
	}
	t, err := trace.Read(bytes.NewReader(b), "sacct", trace.Options{})
	if errors.Is(err, trace.ErrNoJobs) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(t.Jobs, func(j trace.Job) bool { return j.NoStart }), nil
}

// drawnFor returns the number of futures for a queue of so many jobs: more if each costs
// less.
func drawnFor(pending int) int { return min(max(8000/max(pending, 1), 8), 60) }

// length returns the total run time in seconds of a job that has run for ran by now.
type length = func(job int32, ran int64) int64

// completeRow completes a job: its partition, its needs and, if it has none, its priority.
func (v *View) completeRow(job trace.Job) trace.Job {
	job.Partition = cmp.Or(job.Partition, v.Hardware.Default)
	job.Need = v.Hardware.need(job.Need, job.Partition, nil)
	if job.Priority == 0 {
		job.Priority = v.order.forNew(&job, &v.standing)
	}
	job.End = job.Start + job.Limit
	return job
}

// back returns how long before now the jobs of a drawn future's arrivals were submitted, in
// seconds. Half of the futures have none; the others repeat the last week or two, if the
// accounting knows them.
func (v *View) back(draw int) int64 {
	if !v.standing.Repeats || draw%2 == 0 {
		return 0
	}
	return int64(1+draw/2%(AnswerDays/7)) * 7 * 86400
}

// tiltLengths returns the lengths of draw i of n. All are longer, or all shorter, than those of
// the known jobs, by a quantile of the normal error of their mean.
func tiltLengths(l *simulator.Lengths, i, n int) length {
	z := distuv.UnitNormal.Quantile((float64(i) + .5) / float64(n))
	factor, drawn := math.Exp(z*l.StandardError()), l.Draw(i)
	return func(job int32, ran int64) int64 {
		return ran + max(int64(float64(drawn(job, ran)-ran)*factor), 1)
	}
}

// Expect returns the median of drawn waits, in seconds, with an interval of a level.
func Expect(waits stats.Sorted, level float64) uncertainty.Prediction {
	return uncertainty.Prediction{Value: waits.Median(), Low: waits.Quantile((1 - level) / 2), High: waits.Quantile((1 + level) / 2), Level: level}
}

// AddBoot adds to a wait in seconds the time that powered-down nodes of a job's partition may
// take to resume, and says so; "" if there are none.
func (v *View) AddBoot(p uncertainty.Prediction, a Ask) (uncertainty.Prediction, string) {
	all, asleep := v.Hardware.countAsleep(v.Complete(a))
	if asleep == 0 || v.boot == 0 {
		return p, ""
	}
	p.High += v.boot.Seconds()
	if all-asleep < a.Nodes {
		p.Value += v.boot.Seconds() / 2
	}
	return p, fmt.Sprintf("%s of %d %s powered down: to resume takes up to %v (ResumeTimeout)", plural.Count(asleep, "node"), all, be(asleep), v.boot)
}

// ErrTestOnly is returned when sbatch --test-only prints no start time.
var ErrTestOnly = errors.New("no start time")

// TestOnly returns the start that sbatch --test-only predicts, in Unix seconds. The
// error wraps ErrTestOnly or ErrCommand.
func (c *Client) TestOnly(ctx context.Context, options []string) (int64, error) {
	argv := append([]string{"sh", "-c", `said=$("$0" "$@" 2>&1) || { echo "$said" >&2; exit 1; }; echo "$said"`, "env", "TZ=UTC", "sbatch", "--test-only", "--wrap=true"}, options...)
	b, err := c.Runner.Run(ctx, argv, nil)
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(b), " to start at ")
	text, _, _ := strings.Cut(after, " ")
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		return 0, fmt.Errorf("sbatch: %w: %s", ErrTestOnly, bytes.TrimSpace(b))
	}
	return at.Unix(), nil
}

// ShapeOptions returns sbatch's options for the shape of a job.
func ShapeOptions(j *trace.Job) []string {
	o := []string{"--nodes=" + strconv.Itoa(j.Nodes), "--time=" + strconv.FormatInt((j.Limit+59)/60, 10)}
	if j.Partition != "" {
		o = append(o, "--partition="+j.Partition)
	}
	n := j.Need
	if n == nil {
		return append(o, "--exclusive")
	}
	each := func(total int) string { return strconv.Itoa((total + j.Nodes - 1) / j.Nodes) }
	if n.CPUs > 0 {
		o = append(o, "--ntasks-per-node=1", "--cpus-per-task="+each(n.CPUs))
	}
	if n.GPUs > 0 {
		o = append(o, "--gres=gpu:"+each(n.GPUs))
	}
	if n.MemoryMB > 0 {
		o = append(o, "--mem="+each(int(n.MemoryMB)))
	}
	return slices.Clip(o)
}
