package slurm

import (
	"fmt"
	"io"
	"math"
	"sync"
)

// Metrics counts what a provisioner does. It may be written out while the
// provisioner works.
type Metrics struct {
	mu sync.Mutex

	decisions, submissions, unclear, refusals, recovered, doubles, pollErrors float64

	lastPoll           float64
	pending, running   float64
	nodes, unavailable float64
	expected           float64
	summary            Summary
}

// update changes what is counted.
func (m *Metrics) update(f func(*Metrics)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m)
}

func (m *Metrics) add(counter *float64) { m.update(func(*Metrics) { *counter++ }) }

func (m *Metrics) chain(l *Ledger) { m.update(func(m *Metrics) { m.summary = l.Summary() }) }

func (m *Metrics) queue(jobs []Job, nodes, unavailable int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending, m.running = 0, 0
	for i := range jobs {
		switch {
		case jobs[i].State.Pending():
			m.pending += float64(max(jobs[i].Tasks, 1))
		case jobs[i].State.Running():
			m.running++
		}
	}
	m.nodes, m.unavailable = float64(nodes), float64(unavailable)
}

// WriteTo writes the metrics in the Prometheus text format, version 0.0.4.
func (m *Metrics) WriteTo(w io.Writer) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := []struct {
		name, kind, help string
		value            float64
	}{
		{"decisions_total", "counter", "Decisions taken.", m.decisions},
		{"submissions_total", "counter", "Times sbatch was run.", m.submissions},
		{"submissions_unclear_total", "counter", "Submissions whose reply was not understood.", m.unclear},
		{"submissions_refused_total", "counter", "Submissions that Slurm refused.", m.refusals},
		{"submissions_recovered_total", "counter", "Jobs found by their token.", m.recovered},
		{"doubles_total", "counter", "Second jobs found for a link; above 0 something is wrong.", m.doubles},
		{"poll_errors_total", "counter", "Polls that Slurm did not answer.", m.pollErrors},
		{"last_poll_timestamp_seconds", "gauge", "Time of the last snapshot of the queue.", m.lastPoll},
		{"queue_pending_jobs", "gauge", "Pending jobs at the last snapshot.", m.pending},
		{"queue_running_jobs", "gauge", "Running jobs at the last snapshot.", m.running},
		{"nodes", "gauge", "Nodes of the cluster.", m.nodes},
		{"nodes_unavailable", "gauge", "Nodes that take no jobs.", m.unavailable},
		{"expected_reward_hours", "gauge", "Reward the policy last expected of submitting at once.", m.expected},
		{"services", "gauge", "Services of the chain so far.", float64(m.summary.Links)},
		{"hand_overs", "gauge", "Hand-overs so far.", float64(m.summary.HandOvers)},
		{"interruption_seconds", "gauge", "Time without a running service so far.", m.summary.Interruption},
		{"overlap_seconds", "gauge", "Time with two running services so far.", m.summary.Overlap},
	}
	var n int64
	for _, r := range rows {
		if math.IsNaN(r.value) {
			continue
		}
		k, err := fmt.Fprintf(w, "# HELP mirage_provision_%s %s\n# TYPE mirage_provision_%s %s\nmirage_provision_%s %v\n",
			r.name, r.help, r.name, r.kind, r.name, r.value)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
