package forecast

import (
	"errors"
	"slices"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/stats"
)

// futures is the number of futures in which a log's queue is simulated: half of them without new
// arrivals, the others with those of one to four weeks before.
const futures = 20

// compare adds the shapes that would start earlier in the simulated queue, if that agrees
// with the answer.
func (l *Log) compare(a *Answer, job trace.Job, shapes []shape) error {
	if l.seen.limit == 0 || len(shapes) == 0 { // without limits nothing can be planned
		return nil
	}
	waits, err := l.waits(job)
	if err != nil || waits == nil {
		return err
	}
	if median := stats.Median(waits) / 3600; median < a.Wait.Low || median > a.Wait.High {
		return nil // the simulated queue is not the log's: its gains would not be, either
	}
	return a.compare(waits, shapes, func(s shape) ([]float64, error) { return l.waits(s.job) })
}

// waits returns the waits of a job in the simulated futures of its partition's queue,
// in seconds; nil if it can never start there.
func (l *Log) waits(job trace.Job) ([]float64, error) {
	sim, err := l.queue(job.Partition)
	if err != nil {
		return nil, err
	}
	lengths := sim.Lengths()
	job.End = job.Start + job.Limit
	waits, err := sim.Draw(job, futures, func(i int) simulator.Future {
		return simulator.Future{Length: lengths.Draw(i), Back: int64(i%2*(1+i/2%4)) * usualSeconds}
	})
	if errors.Is(err, cluster.ErrOversize) {
		return nil, nil
	}
	return slurmview.Waits(waits).Seconds(), err
}

// queue returns the queue of a partition at the time of the question, on the cluster
// that the settings describe, or else on one as large as the partition's largest use,
// with the user limit that its users seem to have.
func (l *Log) queue(partition string) (*simulator.Simulator, error) {
	if sim := l.queues[partition]; sim != nil {
		return sim, nil
	}
	st := simulator.Standing{Now: l.at, Repeats: true}
	own := &trace.Trace{}
	for _, j := range l.jobs {
		if j.Submit >= l.at || j.Partition != partition {
			continue
		}
		switch {
		case j.Start >= l.at:
			st.Pending = append(st.Pending, j)
			continue
		case j.End >= l.at:
			st.Running = append(st.Running, j)
			j.End = l.at
		case !j.NoStart:
			st.Ended = append(st.Ended, j)
		}
		own.Jobs = append(own.Jobs, j)
	}
	if len(own.Jobs) == 0 {
		return nil, nil
	}
	c := l.config
	if c == nil {
		r := cluster.Defaults(cluster.Slurm)
		r.LoggedPriority = slices.ContainsFunc(l.jobs, func(j trace.Job) bool { return j.Priority != 0 })
		if most, users := trace.PeakUserJobs(own.Jobs); users >= limitedUsers {
			r.UserLimit = most
		}
		c = &simulator.Config{Machine: cluster.Machine{Nodes: max(own.PeakNodes(), 1)}, Rules: r}
	}
	sim, err := c.Resume(st)
	l.queues[partition] = sim
	return sim, err
}

// limitedUsers is the number of users who must have run the same largest number of jobs at once
// for it to count as a limit.
const limitedUsers = 3
