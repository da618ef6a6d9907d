package simulator

import (
	"cmp"
	"io"
	"math"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/regression"
)

// Result says when each job of a workload started.
type Result struct {
	Workload *Workload
	Starts   []int64 // by index of the job; notStarted for rejected ones
	// Places holds the nodes of jobs, by index too; nil if nodes are only counted.
	Places []*cluster.Place
}

const notStarted = math.MinInt64

func newResult(w *Workload) *Result {
	r := &Result{Workload: w, Starts: make([]int64, len(w.jobs))}
	for i := range r.Starts {
		r.Starts[i] = notStarted
	}
	if w.layout != nil {
		r.Places = make([]*cluster.Place, len(w.jobs))
	}
	return r
}

// Times returns a job's start and end; ok is false for a rejected job.
func (r *Result) Times(i int) (start, end int64, ok bool) {
	if start = r.Starts[i]; start == notStarted {
		return 0, 0, false
	}
	return start, start + r.Workload.jobs[i].duration, true
}

// outcome is a row of jobs.csv: a job's start and end in Unix seconds, none for a
// rejected one, its duration and start in the trace.
type outcome struct {
	ID          string `dataset:"id"`
	User        string `dataset:"user"`
	Nodes       int    `dataset:"nodes"`
	Submit      int64  `dataset:"submit"`
	Start       *int64 `dataset:"start"`
	End         *int64 `dataset:"end"`
	Limit       int64  `dataset:"limit_seconds"`
	Duration    int64  `dataset:"duration_seconds"`
	ActualStart int64  `dataset:"actual_start"`
	Status      string `dataset:"status"` // started or rejected
}

// WriteCSV writes jobs.csv, one row a job in the order of the workload.
func (r *Result) WriteCSV(w io.Writer) error {
	out, err := dataset.NewWriter[outcome](w, dataset.CSV, dataset.Options{})
	if err != nil {
		return err
	}
	for i := range r.Starts {
		if err := out.Write(r.outcome(i)); err != nil {
			return err
		}
	}
	return out.Close()
}

func (r *Result) outcome(i int) outcome {
	j := &r.Workload.Jobs[i]
	o := outcome{ID: j.ID, User: j.User, Nodes: j.Nodes, Submit: j.Submit, Limit: j.Limit, Duration: j.Duration(), ActualStart: j.Start, Status: "rejected"}
	if start, end, ok := r.Times(i); ok {
		o.Start, o.End = &start, &end
		o.Status = "started"
	}
	return o
}

// Metrics compare a simulation with the trace.
type Metrics struct {
	Quality
	Rejected int `json:"rejected"`
	// BoundedSlowdown is the mean of max(1, (wait+run)/max(run, 10 s)).
	BoundedSlowdown float64 `json:"bounded_slowdown"`
	// Utilisation is the node time used over nodes times makespan, or that of CPUs
	// where nodes are of kinds.
	Utilisation float64 `json:"utilisation"`
	// MakespanDays runs from the first submission to the last end.
	MakespanDays float64 `json:"makespan_days"`
}

// Quality compares the simulated waits with the actual ones, in hours, over the started jobs
// whose start the log contains.
type Quality struct {
	Jobs                int     `json:"jobs"`
	MeanWaitHours       float64 `json:"mean_wait_hours"`
	ActualMeanWaitHours float64 `json:"actual_mean_wait_hours"`
	// Spearman is the Pearson correlation of the tie-averaged ranks of
	// simulated and actual waits; 0 where it does not exist.
	Spearman float64 `json:"spearman"`
	// MAEHours is the mean of |simulated - actual| wait.
	MAEHours float64 `json:"mae_hours"`
}

// MetricsBetween computes the figures over the jobs submitted from from on
// and before to.
func (r *Result) MetricsBetween(from, to int64) Metrics {
	var m Metrics
	var simulated, actual []float64
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	busy := 0.0
	for i := range r.Starts {
		t := &r.Workload.Jobs[i]
		if t.Submit < from || t.Submit >= to {
			continue
		}
		start, end, ok := r.Times(i)
		if !ok {
			m.Rejected++
			continue
		}
		run := float64(end - start)
		wait := float64(start - t.Submit)
		m.Jobs++
		if !t.NoStart {
			simulated, actual = append(simulated, wait/3600), append(actual, float64(t.Wait())/3600)
		}
		m.BoundedSlowdown += max(1, (wait+run)/max(run, 10))
		busy += run * r.sizeOf(i)
		first, last = min(first, t.Submit), max(last, end)
	}
	if m.Jobs == 0 {
		return m
	}
	known := float64(max(len(simulated), 1))
	for i := range simulated {
		m.MeanWaitHours += simulated[i]
		m.ActualMeanWaitHours += actual[i]
		m.MAEHours += math.Abs(simulated[i] - actual[i])
	}
	m.MeanWaitHours /= known
	m.ActualMeanWaitHours /= known
	m.MAEHours /= known
	m.BoundedSlowdown /= float64(m.Jobs)
	if rho, err := regression.Spearman(simulated, actual); err == nil {
		m.Spearman = rho
	}
	if span := float64(last - first); span > 0 {
		m.MakespanDays = span / 86400
		m.Utilisation = busy / (span * r.Workload.size())
	}
	return m
}

// sizeOf returns the size of a job: nodes, or CPUs on a machine with kinds of nodes.
func (r *Result) sizeOf(i int) float64 {
	if r.Places != nil {
		return float64(r.Places[i].CPUs)
	}
	return float64(r.Workload.Jobs[i].Nodes)
}

// size returns the amount of the machine's unit.
func (w *Workload) size() (cpus float64) {
	for _, k := range w.Config.Kinds {
		cpus += float64(k.Nodes * k.CPUs)
	}
	return cmp.Or(cpus, float64(w.Config.Nodes))
}
