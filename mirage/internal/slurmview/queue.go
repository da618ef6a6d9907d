package slurmview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace"
)

// finishedJobs returns the jobs of a queue that the controller still knows though they ended.
func finishedJobs(jobs []Job) (rows []trace.Job) {
	for i := range jobs {
		j := &jobs[i]
		if j.State.Over() && j.Start > 0 && j.End >= j.Start && j.Limit > 0 {
			rows = append(rows, trace.Job{User: j.User, Nodes: max(j.Nodes, 1), Submit: min(j.Submit, j.Start), Start: j.Start, End: j.End, Limit: int64(j.Limit.Seconds())})
		}
	}
	return rows
}

// stand returns the queue as the simulator takes it up: the running jobs, those that would
// start if there were room, each task of an array on its own, and the chain's own running
// ones apart.
func (v *View) stand(own func(int64) bool) simulator.Standing {
	now := v.Now
	st := simulator.Standing{Now: now}
	for i := range v.Jobs {
		j := &v.Jobs[i]
		row := trace.Job{
			ID: rowID(j), User: j.User, Nodes: max(j.Nodes, 1), Priority: j.Priority,
			Submit: min(j.Submit, now), Limit: cmp.Or(max(int64(j.Limit.Seconds()), 0), trace.Unlimited),
		}
		v.Hardware.detail(&row, j)
		limited := v.limits.charge(&row, j)
		isOwn := own != nil && own(j.ID)
		switch {
		case j.State.Running():
			row.Start = min(j.Start, now)
			row.Submit = min(row.Submit, row.Start)
			row.Limit += 2 * j.overrun(now) // it goes on as long again
			if isOwn {
				st.Own = append(st.Own, row)
			} else {
				st.Running = append(st.Running, row)
			}
		case j.State.Pending() && j.waits(&row, v.Jobs, now, limited) && !isOwn:
			for range max(j.Tasks, 1) {
				st.Pending = append(st.Pending, row)
			}
		}
	}
	onlyReleased(&st)
	return st
}

// rowID returns the id of a job as a row has it.
func rowID(j *Job) string { return strconv.FormatInt(j.ID, 10) }

// overrunSeconds is the time after its limit at which Slurm has ended a job, if it does: it
// checks limits twice a minute and then waits for KillWait.
const overrunSeconds = 120

// overrun returns for how many seconds a job has been running past its limit, if that is so
// long that nobody knows its end; else 0.
func (j *Job) overrun(now int64) int64 {
	over := now - j.Start - int64(j.Limit.Seconds())
	if !j.State.Running() || j.State == "COMPLETING" || j.State == "SUSPENDED" || j.Limit <= 0 || over < overrunSeconds {
		return 0
	}
	return over
}

// onlyReleased leaves out pending jobs that wait for one that is not in the queue: nobody
// knows when it ends.
func onlyReleased(st *simulator.Standing) {
	for left := -1; left != len(st.Pending); {
		left = len(st.Pending)
		ids := map[string]bool{"": true}
		for _, rows := range [][]trace.Job{st.Running, st.Own, st.Pending} {
			for i := range rows {
				ids[rows[i].ID] = true
			}
		}
		st.Pending = slices.DeleteFunc(st.Pending, func(row trace.Job) bool { return !ids[row.After] })
	}
}

// waits reports whether a pending job waits for room, or will: for a time, another job's
// end or others of its group, which go into its row.
func (j *Job) waits(row *trace.Job, jobs []Job, now int64, limited bool) bool {
	if j.Reservation != "" || j.NeedsRelease() { // it does not run on what other jobs may have
		return false
	}
	switch h, _ := trace.ReadReason(j.Reason); {
	case h == trace.ForRoom:
		return true
	case h == trace.ForLimit:
		return limited
	case j.Reason == "BeginTime" && j.Eligible > 0:
		row.Eligible = j.Eligible
		return row.Eligible > now
	case j.Reason == "Dependency" && !j.Either:
		row.After = latestOf(j.dependencies(jobs))
		return row.After != ""
	}
	return false
}

// dependencies returns the ids of the jobs for which a job waits, its older namesakes included.
func (j *Job) dependencies(jobs []Job) []string {
	if !j.Singleton {
		return j.After
	}
	return slices.Concat(j.After, namesakes(jobs, j.User, j.Name, j.ID))
}

// latestOf returns the dependency that is the latest submission, and so mostly the last to end;
// "" for none, or if one of them is the begin of a job.
func latestOf(after []string) (latest string) {
	for _, id := range after {
		if strings.Contains(id, "+") {
			return ""
		}
		if len(id) > len(latest) || len(id) == len(latest) && id > latest {
			latest = id
		}
	}
	return latest
}

// NeedsRelease reports whether a pending job is held until scontrol release.
func (j *Job) NeedsRelease() bool {
	h, _ := trace.ReadReason(j.Reason)
	return j.OnHold || h == trace.ForPerson && !strings.HasPrefix(j.Reason, "Partition")
}

// Held says that a pending job waits for something other than room, or for room in its
// own reservation.
func (j *Job) Held() bool {
	h, _ := trace.ReadReason(j.Reason)
	return j.Reservation != "" || j.OnHold || h != trace.ForRoom
}

// subject returns the job as limits see it.
func (j *Job) subject() *subject {
	s := &subject{j.User, j.Account, j.QOS, j.Partition, trace.Amounts(j.TRES), int64(j.Limit.Seconds()), j.Array, j.Together}
	addLicenses(s.amounts, j.Licenses)
	return s
}

// charge adds the charges of a job to its row, and reports whether the limit for which it
// waits is among them.
func (l *limits) charge(row *trace.Job, j *Job) bool {
	row.Charges, _ = l.charges(j.subject())
	_, kind := trace.ReadReason(j.Reason)
	return slices.ContainsFunc(row.Charges, func(c trace.Charge) bool { return l.caps[c.Cap].kind == kind })
}
