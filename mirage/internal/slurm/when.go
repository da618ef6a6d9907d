package slurm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

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
}

// How far back the accounting is read for how long jobs run and when they arrive: for an
// answer, and for a chain, whose policy repeats the arrivals of four weeks.
const (
	pastDays  = 14
	chainDays = 28
)

// Look takes a snapshot of a Slurm: nodes, partitions, reservations, limits, queue, and how
// long jobs ran lately. The rules, where they are not nil, take the place of what the
// controller reports. Times of the controller are in the zone of now.
func (c *Client) Look(ctx context.Context, now time.Time, rules *cluster.Rules) (*View, error) {
	k, err := c.Controller(ctx)
	if err != nil {
		return nil, err
	}
	h, err := c.Hardware(ctx, k)
	if err != nil {
		return nil, err
	}
	v := &View{limits: newLimits()}
	c.holds(ctx, v, h, k, now)
	jobs, err := c.Queue(ctx)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		if j := &jobs[i]; !j.State.Over() {
			v.limits.count(j.subject(), int64(max(j.Tasks, 1)), j.State.Running())
		}
	}
	st := standing(jobs, now.Unix(), func(int64) bool { return false }, func(row *trace.Job, j *Job) bool {
		h.detail(row, j)
		return v.limits.charge(row, j)
	})
	if st.Ended = ended(jobs); k.Accounting {
		if past, err := c.past(ctx, now, pastDays); err != nil {
			v.Notes = append(v.Notes, fmt.Sprintf("the accounting does not answer, so run times are those of the %s that the controller remembers: %v", plural.Count(len(st.Ended), "finished job"), err))
		} else {
			for i := range past {
				past[i].Need = h.need(past[i].Need, past[i].Partition, nil)
			}
			st.Ended, st.Repeats = past, !k.Private
		}
	}
	config := simulator.Config{Machine: h.Machine, Rules: liveRules(k.Parameters), Caps: v.limits.most()}
	if rules != nil {
		config.Rules = *rules
	}
	v.Private, v.Jobs, v.order = k.Private, jobs, k.priorities
	if k.priorities.unread != "" && rules == nil {
		v.Notes = append(v.Notes, k.priorities.unread)
	}
	if rules != nil { // the simulator adds the points for age
		v.order = priorities{multifactor: true}
	}
	return v, v.stand(h, st, config)
}

// holds reads what holds jobs back, apart from other jobs: reservations and limits.
func (c *Client) holds(ctx context.Context, v *View, h *Hardware, k Controller, now time.Time) {
	all, err := c.Reservations(ctx, now.Location())
	if err != nil {
		v.Unread = append(v.Unread, fmt.Sprintf("reservations (%v)", err))
	}
	if unknown := h.reserve(all, now.Unix(), now.Location()); len(unknown) > 0 {
		v.Unread = append(v.Unread, "some nodes of the reservations "+strings.Join(unknown, ", "))
	}
	defer func() {
		c.readLicenses(ctx, v.limits)
		for name, p := range h.partitions {
			v.limits.partition[name] = p.qos
		}
	}()
	if !k.Limits && !h.listed() {
		return
	}
	l, err := c.readLimits(ctx, k.Cluster)
	switch {
	case err == nil && k.Limits:
		v.limits = l
	case err == nil: // only the default accounts matter
		v.limits.account = l.account
		for key, r := range l.assoc {
			v.limits.assoc[key] = columns{"DefaultQOS": r["DefaultQOS"]}
		}
	case k.Limits:
		v.Unread = append(v.Unread, fmt.Sprintf("limits of accounts and QOS (%v)", err))
	}
}

func (v *View) stand(h *Hardware, st simulator.Standing, config simulator.Config) (err error) {
	v.Now, v.Hardware, v.Pending = st.Now, h, len(st.Pending)
	spare(&config, st.Pending)
	ageless(st.Pending, v.Now, &config.Rules)
	v.standing, v.config = st, config
	v.sim, err = config.Resume(st)
	return err
}

// Queues of more than so many jobs are planned by fewer backfill passes over fewer jobs, of
// these numbers, which gives an answer at once.
const (
	longQueue   = 300
	sparePasses = 100
	spareJobs   = 100
)

// spare plans a long queue more coarsely.
func spare(c *simulator.Config, pending []trace.Job) {
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
	b.IntervalSeconds = max(b.IntervalSeconds, int64(drain/sparePasses))
	b.MaxJobTest = min(cmp.Or(b.MaxJobTest, spareJobs), spareJobs)
}

// past returns the recent jobs of the accounting.
func (c *Client) past(ctx context.Context, now time.Time, days int) ([]trace.Job, error) {
	b, err := c.Runner.Run(ctx, []string{
		"env", "TZ=UTC", "sacct", "--allusers", "--allocations", "--parsable2",
		"--starttime=" + now.AddDate(0, 0, -days).UTC().Format("2006-01-02T15:04:05"),
		"--format=JobID,User,Partition,Submit,Start,End,Timelimit,State,NNodes,Priority,ReqTRES",
	}, nil)
	if err != nil {
		return nil, err
	}
	t, err := trace.Read(bytes.NewReader(b), "sacct", trace.Options{Layout: trace.SACCT})
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

// Waits returns the waits, in seconds, of a job submitted now, in drawn futures: jobs run
// as long as recent jobs of their users, and in half of the futures jobs arrive as in the
// last weeks. The number of futures is divided by part. A job without a priority gets the
// one that a new job of its user is expected to have. The error wraps cluster.ErrOversize
// if it can never start.
func (v *View) Waits(job trace.Job, part int) (stats.Sorted, error) {
	draws, lengths := max(drawnFor(v.Pending)/part, 4), v.sim.Lengths()
	return v.drawn(job, draws, func(i int) length { return tiltLengths(lengths, i, draws) })
}

// length returns the total run time in seconds of a job that has run for ran by now.
type length = func(job int32, ran int64) int64

func (v *View) drawn(job trace.Job, draws int, lengths func(draw int) length) (stats.Sorted, error) {
	all, err := v.draw(v.sim, v.completeRow(job), draws, lengths)
	waits := make([]float64, len(all))
	for i := range all {
		waits[i] = float64(all[i].Seconds)
	}
	return stats.Sort(waits), err
}

// completeRow completes a job: its partition, its needs and, if it has none, its priority.
func (v *View) completeRow(job trace.Job) trace.Job {
	job.Partition = cmp.Or(job.Partition, v.Hardware.Default)
	on := []int32(nil)
	if job.Need != nil {
		on = job.Need.Only
	}
	job.Need = v.Hardware.need(job.Need, job.Partition, nil)
	job.Need.Only = on
	if job.Priority == 0 {
		job.Priority = v.order.forNew(&job, &v.standing)
	}
	job.End = job.Start + job.Limit
	return job
}

// draw returns the wait of a job in each drawn future of a simulation.
func (v *View) draw(sim *simulator.Simulator, job trace.Job, draws int, lengths func(draw int) length) ([]simulator.Wait, error) {
	waits := make([]simulator.Wait, draws)
	var group crash.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range waits {
		group.Go(func() (err error) {
			waits[i], err = sim.WaitIn(simulator.Future{Length: lengths(i), Back: v.back(i)}, job, simulator.Farthest)
			return err
		})
	}
	return waits, group.Wait()
}

// back returns how long before now the jobs of a drawn future's arrivals were submitted, in
// seconds. Half of the futures have none; the others repeat the last week or two, if the
// accounting knows them.
func (v *View) back(draw int) int64 {
	if !v.standing.Repeats || draw%2 == 0 {
		return 0
	}
	return int64(1+draw/2%(pastDays/7)) * 7 * 86400
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

// ErrTestOnly is returned when sbatch --test-only prints no start time.
var ErrTestOnly = errors.New("no start time")

// TestOnly returns the start that sbatch --test-only predicts, in Unix seconds. The
// error wraps ErrTestOnly or ErrCommand.
func (c *Client) TestOnly(ctx context.Context, options []string) (int64, error) {
	argv := append([]string{"sh", "-c", `exec "$0" "$@" 2>&1`, "env", "TZ=UTC", "sbatch", "--test-only", "--wrap=true"}, options...)
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

// Options returns sbatch's options for a job.
func Options(a Ask) []string {
	o := shapeOptions(&a.Job)
	for _, x := range []struct{ name, value string }{
		{"account", strings.Join(a.Accounts, ",")}, {"qos", a.QOS}, {"constraint", a.Features}, {"reservation", a.Reservation},
		{"nodelist", a.Required}, {"exclude", a.Excluded},
	} {
		if x.value != "" {
			o = append(o, "--"+x.name+"="+x.value)
		}
	}
	if a.GPUType != "" {
		o = slices.DeleteFunc(o, func(x string) bool { return strings.HasPrefix(x, "--gres=") })
		o = append(o, fmt.Sprintf("--gres=gpu:%s:%d", a.GPUType, max(a.TypedGPUs, 1)))
	}
	if a.Eligible > 0 {
		o = append(o, "--begin="+time.Unix(a.Eligible, 0).UTC().Format("2006-01-02T15:04:05"))
	}
	if a.After != "" {
		o = append(o, "--dependency=afterany:"+strings.ReplaceAll(a.After, ",", ":"))
	}
	return o
}

func shapeOptions(j *trace.Job) []string {
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
