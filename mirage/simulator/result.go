package simulator

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/foretime/foretime/mirage/cluster"
	"github.com/foretime/foretime/shared/regression"
)

// Result says when each job of a workload started.
type Result struct {
	Workload *Workload
	Starts   []int64 // by index of the job; notStarted for rejected ones
	// Places are where jobs ran, by index too; nil where nodes are only counted.
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

// recorder takes down the starts of a simulation.
func (r *Result) recorder(s *Simulator) func(job int32, at int64) {
	return func(job int32, at int64) {
		r.Starts[job] = at
		if r.Places != nil {
			r.Places[job] = s.nodes.PlaceOf(job)
		}
	}
}

// check makes sure that no job was lost.
func (r *Result) check() error {
	for i, start := range r.Starts {
		if (start == notStarted) != r.Workload.jobs[i].rejected {
			return fmt.Errorf("internal error: job %s was lost", r.Workload.Jobs[i].ID)
		}
	}
	return nil
}

// Started returns a job's start and end; ok is false for a rejected job.
func (r *Result) Started(i int) (start, end int64, ok bool) {
	if start = r.Starts[i]; start == notStarted {
		return 0, 0, false
	}
	return start, start + r.Workload.jobs[i].duration, true
}

// The values of the column status.
const (
	statusStarted  = "started"
	statusRejected = "rejected"
)

// WriteCSV writes jobs.csv, one row a job in the order of the workload: id,
// user, nodes, submit, start, end, limit_seconds, duration_seconds (as in the
// trace), actual_start and status (started or rejected); where nodes are of
// kinds also on, the numbers of its nodes from 0, spaces between them. Times are
// Unix seconds; a rejected job has neither start nor end.
func (r *Result) WriteCSV(w io.Writer) error {
	b := make([]byte, 0, 1<<16)
	b = append(b, "id,user,nodes,submit,start,end,limit_seconds,duration_seconds,actual_start,status"...)
	if r.Places != nil {
		b = append(b, ",on"...)
	}
	b = append(b, '\n')
	comma := func(n int64) { b = append(strconv.AppendInt(b, n, 10), ',') }
	for i := range r.Starts {
		j := &r.Workload.Jobs[i]
		b = append(quoted(b, j.ID), ',')
		b = append(quoted(b, j.User), ',')
		comma(int64(j.Nodes))
		comma(j.Submit)
		start, end, ok := r.Started(i)
		if ok {
			comma(start)
			comma(end)
		} else {
			b = append(b, ',', ',')
		}
		comma(j.Limit)
		comma(j.Duration())
		comma(j.Start)
		if ok {
			b = append(b, statusStarted...)
		} else {
			b = append(b, statusRejected...)
		}
		if r.Places != nil {
			b = r.appendPlace(append(b, ','), i)
		}
		b = append(b, '\n')
		if len(b) > 1<<16-512 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(b)
	return err
}

func (r *Result) appendPlace(b []byte, i int) []byte {
	if r.Places[i] == nil {
		return b
	}
	for k, n := range r.Places[i].On {
		if k > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return b
}

// quoted appends a cell, in quotes where CSV needs them.
func quoted(b []byte, s string) []byte {
	plain := s != ""
	for i := range len(s) {
		if c := s[i]; c == ',' || c == '"' || c == '\n' || c == '\r' {
			plain = false
		}
	}
	if plain {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
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

// Quality is how close the simulated waits came to the actual ones: waits are in
// hours, over the jobs that were started and whose start the log knows.
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

// Metrics computes the figures over all jobs.
func (r *Result) Metrics() Metrics { return r.MetricsBetween(math.MinInt64, math.MaxInt64) }

// MetricsBetween computes the figures over the jobs submitted from from on
// and before to.
func (r *Result) MetricsBetween(from, to int64) Metrics {
	var m Metrics
	var simulated, actual []float64
	first, last, busy := int64(math.MaxInt64), int64(math.MinInt64), 0.0
	for i := range r.Starts {
		t := &r.Workload.Jobs[i]
		if t.Submit < from || t.Submit >= to {
			continue
		}
		start, end, ok := r.Started(i)
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
		busy += run * r.held(i)
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

// held is what a job held: nodes, or CPUs where nodes are of kinds.
func (r *Result) held(i int) float64 {
	if r.Places != nil {
		return float64(r.Places[i].CPUs)
	}
	return float64(r.Workload.Jobs[i].Nodes)
}

// size is how much of it there is.
func (w *Workload) size() float64 {
	if w.layout == nil {
		return float64(w.Config.Nodes)
	}
	cpus := 0
	for _, k := range w.Config.Kinds {
		cpus += k.Nodes * k.CPUs
	}
	return float64(cpus)
}
