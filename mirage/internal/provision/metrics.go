package provision

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foretime/foretime/mirage/internal/slurmview"
)

// Metrics counts what a provisioner does. Its registry may be read while the provisioner
// works.
type Metrics struct {
	Registry *prometheus.Registry

	submissions, refusals, doubles, pollErrors                  prometheus.Counter
	lastPoll, pending, running, services, interruption, overlap prometheus.Gauge
}

// newMetrics returns metrics that are all 0.
func newMetrics() *Metrics {
	m := &Metrics{Registry: prometheus.NewRegistry()}
	for _, c := range []struct {
		counter    *prometheus.Counter
		name, help string
	}{
		{&m.submissions, "submissions_total", "Times sbatch was run."},
		{&m.refusals, "submissions_refused_total", "Submissions that Slurm refused."},
		{&m.doubles, "doubles_total", "Second jobs found for a link; above 0 something is wrong."},
		{&m.pollErrors, "poll_errors_total", "Polls that Slurm did not answer."},
	} {
		*c.counter = prometheus.NewCounter(prometheus.CounterOpts{Name: "mirage_provision_" + c.name, Help: c.help})
		m.Registry.MustRegister(*c.counter)
	}
	for _, g := range []struct {
		gauge      *prometheus.Gauge
		name, help string
	}{
		{&m.lastPoll, "last_poll_timestamp_seconds", "Time of the last snapshot of the queue."},
		{&m.pending, "queue_pending_jobs", "Pending jobs at the last snapshot."},
		{&m.running, "queue_running_jobs", "Running jobs at the last snapshot."},
		{&m.services, "services", "Services of the chain so far."},
		{&m.interruption, "interruption_seconds", "Time without a running service so far."},
		{&m.overlap, "overlap_seconds", "Time with two running services so far."},
	} {
		*g.gauge = prometheus.NewGauge(prometheus.GaugeOpts{Name: "mirage_provision_" + g.name, Help: g.help})
		m.Registry.MustRegister(*g.gauge)
	}
	return m
}

// chain exports the summary of a chain.
func (m *Metrics) chain(l *Ledger) {
	s := l.Summary()
	m.services.Set(float64(s.Links))
	m.interruption.Set(s.Interruption)
	m.overlap.Set(s.Overlap)
}

// queue exports a snapshot of the queue.
func (m *Metrics) queue(jobs []slurmview.Job) {
	pending, running := 0, 0
	for i := range jobs {
		switch {
		case jobs[i].State.Pending():
			pending += max(jobs[i].Tasks, 1)
		case jobs[i].State.Running():
			running++
		}
	}
	m.pending.Set(float64(pending))
	m.running.Set(float64(running))
}
