package slurmview

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
)

// Waits are the waits of a job in drawn futures, by future.
type Waits []simulator.Wait

// Seconds returns the waits in seconds, by future.
func (w Waits) Seconds() []float64 {
	seconds := make([]float64, len(w))
	for i := range w {
		seconds[i] = float64(w[i].Seconds)
	}
	return seconds
}

// SortSeconds returns the waits in seconds, sorted.
func (w Waits) SortSeconds() stats.Sorted { return stats.Sort(w.Seconds()) }

// Typical returns the wait of the future in the middle.
func (w Waits) Typical() simulator.Wait {
	order := slices.Clone(w)
	slices.SortFunc(order, func(a, b simulator.Wait) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return order[len(order)/2]
}

// AskWaits returns the waits of a job in drawn futures: jobs run as long as recent jobs of their
// users, and in half of the futures jobs arrive as in the last weeks. The job's partition,
// constraint, reservation, limits, begin time and dependency hold it back; without a priority it
// gets that of a new job of its user. All jobs that are asked of one view meet the same futures.
// The error wraps ErrNoStart, ErrNotAdmitted or cluster.ErrOversize.
func (v *View) AskWaits(a Ask) (Waits, error) {
	sim, job, err := v.simulation(a)
	if err != nil {
		return nil, err
	}
	draws, lengths := drawnFor(v.Pending), sim.Lengths()
	var waits Waits
	choices := []string{job.After}
	if a.Either && a.After != "" {
		choices = strings.Split(a.After, ",")
	}
	for _, after := range choices {
		job.After = after
		other, err := sim.Draw(job, draws, func(i int) simulator.Future {
			return simulator.Future{Length: tiltLengths(lengths, i, draws), Back: v.back(i)}
		})
		if err != nil {
			return nil, err
		}
		for i := range waits { // the first one is enough
			if waits[i].Seconds < other[i].Seconds {
				other[i] = waits[i]
			}
		}
		waits = other
	}
	return waits, nil
}

// simulation returns the simulation that a job is put into, and its row.
func (v *View) simulation(a Ask) (*simulator.Simulator, trace.Job, error) {
	h := v.Hardware
	if a.Held {
		return nil, a.Job, fmt.Errorf("%w: the job is held until scontrol release", ErrNoStart)
	}
	a = v.Complete(a)
	var err error
	if a.Partition, err = h.choosePartitions(a); err != nil {
		return nil, a.Job, err
	}
	if err := h.uneven(a); err != nil {
		return nil, a.Job, err
	}
	job := v.completeRow(a.Job)
	if job.Need.Only, err = h.only(a.Place, job.Nodes); err != nil {
		return nil, job, err
	}
	if v.config.Kinds != nil {
		if err := h.outages(v.config.Layout(), &job); err != nil {
			return nil, job, err
		}
	}
	if a.Singleton != "" {
		job.After = strings.Trim(job.After+","+strings.Join(namesakes(v.Jobs, a.User, a.Singleton, math.MaxInt64), ","), ",")
	}
	if err := v.checkDependency(a, job.After); err != nil {
		return nil, job, err
	}
	return v.addLimits(a, job)
}

// Complete fills in what Slurm would: the default partition, its limit, the account and
// QOS of the user, and the number of nodes that has room for a job that leaves it
// open.
func (v *View) Complete(a Ask) Ask {
	h := v.Hardware
	a.Accounts, a.QOS = v.limits.complete(a.User, a.Accounts, a.QOS)
	a.Partition = cmp.Or(a.Partition, h.Default)
	if a.Limit == 0 {
		first, _, _ := strings.Cut(a.Partition, ",")
		a.Limit = cmp.Or(h.partitions[first].seconds, trace.Unlimited)
	}
	if !a.Spread {
		return a
	}
	if n := h.spread(a); n > 0 {
		a.Nodes, a.Spread = n, false
		a.complete()
	}
	return a
}

// namesakes returns the ids of a user's jobs of a name that are not over and older than one.
func namesakes(jobs []Job, user, name string, before int64) (ids []string) {
	for i := range jobs {
		if j := &jobs[i]; j.User == user && j.Name == name && !j.State.Over() && j.ID < before {
			ids = append(ids, rowID(j))
		}
	}
	return ids
}

// checkDependency returns an error if the end of one of the jobs of a dependency, with commas
// between, is unknown, or is one that never releases the job.
func (v *View) checkDependency(a Ask, after string) error {
	for _, outcome := range a.Outcomes {
		if !a.Either && v.outcome(outcome) == never {
			return fmt.Errorf("%w: its dependency %s is never fulfilled", ErrNoStart, outcome)
		}
	}
	for item := range strings.SplitSeq(after, ",") {
		id, _, _ := strings.Cut(item, "+")
		if a.Queued != nil && id == rowID(a.Queued) {
			return fmt.Errorf("%w: it depends on itself", ErrNoStart)
		}
		same := func(j trace.Job) bool { return j.ID == id }
		if slices.ContainsFunc(v.standing.Running, same) || slices.ContainsFunc(v.standing.Pending, same) {
			continue
		}
		for i := range v.Jobs {
			j := &v.Jobs[i]
			hold, _ := trace.ReadReason(j.Reason)
			if rowID(j) == id && j.State.Pending() && (hold > trace.ForEvent || j.OnHold) {
				return fmt.Errorf("%w: it depends on job %s, which is pending with reason %s", ErrNoStart, id, j.Reason)
			}
		} // else it has ended
	}
	return nil
}

// What is known about the outcome of a job.
const (
	unknown = iota
	right   // as a dependency wants it
	never
)

// outcome returns what is known about an outcome such as "afterok:12".
func (v *View) outcome(text string) int {
	kind, id, _ := strings.Cut(text, ":")
	at := v.indexOf(strings.TrimSuffix(id, "(failed)"))
	switch {
	case strings.HasSuffix(id, "(failed)"):
		return never
	case at < 0 || !v.Jobs[at].State.Over() || kind != "afterok" && kind != "afternotok":
		return unknown
	case (v.Jobs[at].State == "COMPLETED") == (kind == "afterok"):
		return right
	}
	return never
}

// indexOf returns the index of a job in the queue, by its id; -1 if it is not there.
func (v *View) indexOf(id string) int {
	return slices.IndexFunc(v.Jobs, func(j Job) bool { return rowID(&j) == id })
}

// addLimits adds the limits of the job, and puts a job of a reservation among those of
// the reservation alone.
func (v *View) addLimits(a Ask, job trace.Job) (*simulator.Simulator, trace.Job, error) {
	config, st := v.config, v.standing
	s := v.subject(a)
	job.Charges, _ = v.limits.charges(s)
	if why := v.limits.refusal(s, job.Charges, a.Queued != nil); why != "" {
		return nil, job, fmt.Errorf("%w: %s", ErrNoStart, why)
	}
	st = v.withoutPreempted(st, s)
	if a.Reservation == "" && len(v.limits.caps) == len(config.Caps) && v.Hardware.preemption == "" {
		return v.sim, job, nil
	}
	config.Caps = v.limits.most()
	if a.Reservation != "" {
		r := v.Hardware.reservation(a.Reservation)
		if err := r.admit(a); err != nil {
			return nil, job, err
		}
		job.Eligible = max(job.Eligible, r.From)
		config.Down = slices.DeleteFunc(slices.Clone(config.Down), func(w cluster.Window) bool {
			return len(w.On) > 0 && slices.Equal(w.On, v.Hardware.numbersOf(r.Nodes))
		})
		config.Down = append(config.Down, cluster.Window{From: r.To, To: forGood, Nodes: len(r.Nodes), On: v.Hardware.numbersOf(r.Nodes)})
		if job.Limit > r.To-max(job.Eligible, v.Now) {
			return nil, job, fmt.Errorf("%w: the reservation %s ends before a job of %s could", ErrNotAdmitted, r.Name, trace.Span(job.Limit))
		}
		st.Pending = nil
	}
	sim, err := config.Resume(st)
	return sim, job, err
}

// subject returns a job as limits see it; one of whole nodes takes all of the largest ones.
func (v *View) subject(a Ask) *subject {
	s := &subject{user: a.User, qos: a.QOS, partition: a.Partition, seconds: a.Limit, array: a.Array, together: a.Together}
	if len(a.Accounts) > 0 {
		s.account = a.Accounts[0]
	}
	nodes, need := int64(max(a.Nodes, 1)), v.Hardware.need(a.Need, a.Partition, nil)
	s.amounts = map[string]int64{"node": nodes, "cpu": int64(need.CPUs), "gres/gpu": int64(need.GPUs), "mem": need.MemoryMB}
	if a.GPUType != "" {
		s.amounts["gres/gpu:"+a.GPUType] = int64(need.GPUs)
	}
	if need.Exclusive {
		for _, n := range v.Hardware.within(a) {
			s.amounts["cpu"] = max(s.amounts["cpu"], nodes*int64(n.kind.CPUs))
			s.amounts["gres/gpu"] = max(s.amounts["gres/gpu"], nodes*int64(n.kind.GPUs))
			s.amounts["mem"] = max(s.amounts["mem"], nodes*n.kind.MemoryMB)
		}
	}
	addLicenses(s.amounts, a.Licenses)
	return s
}

// FindUnknowns names what may hold a job back and is not part of the forecast: limits, licences
// and the reasons for which other jobs wait that share its limits.
func (v *View) FindUnknowns(a Ask) []string {
	a = v.Complete(a)
	unread := v.unknownsOf(v.subject(a))
	if strings.Contains(a.Licenses, "|") {
		unread = append(unread, "a choice of licences")
	}
	for _, outcome := range a.Outcomes {
		if v.outcome(outcome) == unknown {
			unread = append(unread, "the exit status for which it waits by "+outcome)
		}
	}
	for item := range strings.SplitSeq(a.After, ",") {
		id, _, _ := strings.Cut(item, "+")
		at := v.indexOf(id)
		if at < 0 && id != "" && a.Queued != nil {
			unread = append(unread, "job "+id+", on which it depends and which squeue does not show")
		}
		if at >= 0 && v.Jobs[at].State.Pending() && !slices.ContainsFunc(v.standing.Pending, func(row trace.Job) bool { return row.ID == id }) {
			unread = append(unread, "the start of job "+id+", on which it depends")
		}
	}
	if all, asleep := v.Hardware.countAsleep(a); v.boot == 0 && all-asleep < a.Nodes && asleep > 0 {
		unread = append(unread, fmt.Sprintf("how long %s that %s powered down take to resume", plural.Count(asleep, "node"), be(asleep)))
	}
	return unread
}

// FindUnknownsOf does it for a job of the queue.
func (v *View) FindUnknownsOf(j *Job) []string { return v.unknownsOf(j.subject()) }

func (v *View) unknownsOf(s *subject) []string {
	_, unread := v.limits.charges(s)
	unread = append(unread, v.limits.doubts(s)...)
	if strings.Contains(s.partition, ",") && slices.ContainsFunc(strings.Split(s.partition, ","), func(p string) bool { return v.limits.partition[p] != "" }) {
		unread = append(unread, "limits of the QOS of one of its partitions")
	}
	if by := v.Hardware.preemptors(s.partition, s.qos, v.limits); len(by) > 0 {
		unread = append(unread, "jobs of "+strings.Join(by, ", ")+", which may take its place")
	}
	if names := v.findHiddenUse(s.partition); len(names) > 0 {
		unread = append(unread, fmt.Sprintf("until when %s in use (%s): squeue does not show all jobs there", plural.Count(len(names), "node")+" "+be(len(names)), strings.Join(names[:min(len(names), 3)], ", ")))
	}
	known := map[string]bool{}
	for i := range v.Jobs {
		j := &v.Jobs[i]
		if j.overrun(v.Now) > 0 && v.Hardware.overlap(s.partition, j.Partition) {
			unread = append(unread, fmt.Sprintf("the end of job %d, which runs past its limit", j.ID))
		}
		if !j.State.Pending() || known[j.Reason] || v.explains(j) || !v.shares(s, j) {
			continue
		}
		known[j.Reason] = true
		unread = append(unread, fmt.Sprintf("the reason %s, for which job %d waits", j.Reason, j.ID))
	}
	return unread
}

// endedLately is the age in seconds up to which the end of a job may be later than the nodes'
// states.
const endedLately = 120

// findHiddenUse names the nodes of partitions on which jobs hold more CPUs than those that squeue
// shows.
func (v *View) findHiddenUse(partitions string) (names []string) {
	shown := map[string]int{}
	for i := range v.Jobs {
		j := &v.Jobs[i]
		if !j.State.Running() && (!j.State.Over() || j.End < v.Now-endedLately) {
			continue
		}
		on, cpus := hosts(j.On), trace.CPUs.In(j.TRES)
		if len(on) > 1 || cpus == 0 { // how many it has on each is not known
			cpus = math.MaxInt32
		}
		for _, name := range on {
			shown[name] += cpus
		}
	}
	for _, n := range v.Hardware.nodes {
		if n.in(partitions) && !n.out() && n.taken > shown[n.name] {
			names = append(names, n.name)
		}
	}
	return names
}

// FindContradiction names the reason of a job of the queue that could start at once in all drawn
// futures and has been waiting for longer than Slurm takes to start such a job.
func (v *View) FindContradiction(a Ask, waits Waits) []string {
	j := a.Queued
	if j == nil || !v.explains(j) || v.Now-max(j.Submit, j.Eligible) < startSeconds {
		return nil
	}
	if waits.SortSeconds().Quantile(1) > float64(v.config.Rules.Backfill.IntervalSeconds) {
		return nil
	}
	return []string{"the reason " + cmp.Or(j.Reason, "None") + ", for which it waits although there is room for it"}
}

// startSeconds is the time within which Slurm starts a job that has room: its main pass comes
// round each minute, and backfill's each half.
const startSeconds = 120

// explains reports whether the reason of a pending job is part of the forecast.
func (v *View) explains(j *Job) bool {
	switch h, _ := trace.ReadReason(j.Reason); h {
	case trace.Unmodelled, trace.ForBudget:
		return false
	case trace.ForLimit:
		return v.limits.charge(&trace.Job{}, j)
	}
	return true
}

// shares reports whether a job is under the limits for which another one waits.
func (v *View) shares(s *subject, j *Job) bool {
	o, reason := j.subject(), j.Reason
	quality := func(s *subject) [2]string { return [2]string{v.limits.partition[s.partition], s.qos} }
	switch {
	case strings.Contains(reason, "PerUser") && s.user != o.user, strings.Contains(reason, "PerAccount") && s.account != o.account:
		return false
	case strings.HasPrefix(reason, "QOS"), strings.HasPrefix(reason, "Max"):
		return quality(s) == quality(o)
	case strings.HasPrefix(reason, "Assoc"), strings.HasPrefix(reason, "Accounting"):
		return s.account == o.account && (strings.HasPrefix(reason, "AssocGrp") || s.user == o.user)
	}
	return false
}

// behindEqual is less than the difference between two of Slurm's priorities, which are whole
// numbers.
const behindEqual = 1e-3

// Ask returns the job as somebody asks for it before it is submitted: without a priority and
// without nodes of its own.
func (j *Job) Ask() Ask {
	row := trace.Job{User: j.User, Partition: j.Partition, QOS: j.QOS, Nodes: max(j.Nodes, 1), Limit: int64(j.Limit.Seconds()), Need: trace.NeedOf(j.TRES)}
	a := Ask{Job: row, Place: j.Place, Tasks: j.Tasks, Array: j.Array, Together: j.Together, Licenses: j.Licenses, Outcomes: j.Outcomes}
	if j.Account != "" {
		a.Accounts = []string{j.Account}
	}
	return a
}

// ErrNoJob is returned when the queue does not contain a job.
var ErrNoJob = errors.New("no such pending job")

// FindQueued returns a job of the queue that waits, by its id, "12345" or "12345_7", as it
// is asked, and a view without it. The error wraps ErrNoJob or ErrNoStart.
func (v *View) FindQueued(id string) (Ask, *Job, *View, error) {
	number, task, isTask := strings.Cut(id, "_")
	at := slices.IndexFunc(v.Jobs, func(j Job) bool {
		if !isTask {
			return rowID(&j) == number
		}
		_, listed := trace.TaskIndex(j.List, task)
		return strconv.FormatInt(j.Array, 10) == number && (j.Task == task && j.Tasks == 1 || j.State.Pending() && listed)
	})
	if at < 0 {
		return Ask{}, nil, nil, fmt.Errorf("%w: %s is not in the queue", ErrNoJob, id)
	}
	j := &v.Jobs[at]
	if !j.State.Pending() {
		return Ask{}, j, nil, fmt.Errorf("%w: job %s is %s", ErrNoJob, id, strings.ToLower(string(j.State)))
	}
	a := j.Ask()
	a.Priority, a.Queued = j.Priority, j
	w := *v
	w.Unread = slices.Concat(v.Unread, j.Unread)
	if j.NeedsRelease() {
		return a, j, nil, fmt.Errorf("%w: job %s is held (%s): scontrol release %s", ErrNoStart, id, cmp.Or(j.Reason, string(j.State)), id)
	}
	switch h, _ := trace.ReadReason(j.Reason); h {
	case trace.ForNothing:
		return a, j, nil, fmt.Errorf("%w: job %s is pending with reason %s, which time does not change", ErrNoStart, id, j.Reason)
	case trace.ForBudget:
		return a, j, nil, fmt.Errorf("%w: job %s is pending with reason %s: a budget of minutes is used up", ErrNoStart, id, j.Reason)
	case trace.ForPerson:
		return a, j, nil, fmt.Errorf("%w: job %s is pending with reason %s, until somebody changes that", ErrNoStart, id, j.Reason)
	case trace.Unmodelled, trace.ForLimit:
		if !v.explains(j) {
			w.Unread = append(slices.Clip(w.Unread), "the reason "+j.Reason+", for which it waits")
		}
	}
	switch j.Reason {
	case "BeginTime":
		a.Eligible = j.Eligible
	case "Dependency":
		after := j.dependencies(v.Jobs)
		if len(after) == 0 {
			w.Unread = append(slices.Clip(w.Unread), "the dependency of the job, which squeue does not name")
		}
		a.Either, a.After = j.Either, strings.Join(after, ",")
	}
	st := v.standing
	st.Pending = slices.Clone(st.Pending)
	// The tasks of an array before it go first, those behind it do not matter.
	w.Jobs = slices.Delete(slices.Clone(v.Jobs), at, at+1)
	own, before := rowID(j), 0
	first, _ := trace.TaskIndex(j.List, task)
	st.Pending = slices.DeleteFunc(st.Pending, func(row trace.Job) bool {
		if row.ID != own {
			return false
		}
		a.Priority = row.Priority
		before++
		return before > first
	})
	for i := range st.Pending { // of equal priority, the job that was submitted first goes first
		row := &st.Pending[i]
		id, _ := strconv.ParseInt(row.ID, 10, 64)
		if row.Priority == a.Priority && (row.Submit > j.Submit || row.Submit == j.Submit && id > j.ID) {
			row.Priority -= behindEqual
		}
	}
	var err error
	w.standing, w.Pending = st, len(st.Pending)
	w.sim, err = w.config.Resume(st)
	return a, j, &w, err
}
