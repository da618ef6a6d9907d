package cli

import (
	"slices"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/shared/access"
	"github.com/foretime/foretime/shared/uncertainty"
)

// mostShapes limits the shapes of jobs whose predicted waits are exported: the latest.
const mostShapes = 50

// serveMetrics counts the requests of a server and exports its predictions and, once jobs
// have started, their errors.
type serveMetrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	waits    *prometheus.GaugeVec
	errors   prometheus.Histogram
	outcomes *prometheus.CounterVec

	mutex  sync.Mutex
	shapes [][]string // labels of waits, the latest last
}

func newServeMetrics() *serveMetrics {
	m := &serveMetrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mirage_http_requests_total", Help: "Requests by path and status."}, []string{"path", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mirage_http_request_seconds", Help: "Response time by path.", Buckets: prometheus.ExponentialBuckets(1e-3, 4, 8),
		}, []string{"path"}),
		waits: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "mirage_predicted_wait_seconds", Help: "Predicted wait of the shapes asked for last: the value and the ends of its interval; +Inf is no upper end.",
		}, []string{"partition", "nodes", "limit", "bound"}),
		errors: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "mirage_start_error_seconds", Help: "Actual wait minus predicted wait of jobs that have started.",
			Buckets: []float64{-86400, -14400, -3600, -600, -60, 0, 60, 600, 3600, 14400, 86400},
		}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "mirage_start_outcomes_total", Help: "Jobs that have started, by the position of their wait relative to the interval."}, []string{"interval"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.waits, m.errors, m.outcomes, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// exportBuild exports the version of the program.
func (m *serveMetrics) exportBuild(version string) {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "mirage_build_info", Help: "1, with the version of the program.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(build)
}

// exportAge exports the time since the log was read, in seconds.
func (m *serveMetrics) exportAge(seconds func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "mirage_log_age_seconds", Help: "Time since the log that answers come from was read."}, seconds))
}

// request counts a request.
func (m *serveMetrics) request(r access.Request) {
	m.requests.WithLabelValues(r.Route, strconv.Itoa(r.Status)).Inc()
	m.seconds.WithLabelValues(r.Route).Observe(r.Took.Seconds())
}

// exportWait exports the predicted wait of an answer.
func (m *serveMetrics) exportWait(a *forecast.Answer) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	labels := []string{a.Job.Partition, strconv.Itoa(a.Job.Nodes), trace.Span(a.Job.Limit)}
	if i := slices.IndexFunc(m.shapes, func(s []string) bool { return slices.Equal(s, labels) }); i >= 0 {
		m.shapes = slices.Delete(m.shapes, i, i+1)
	}
	if m.shapes = append(m.shapes, labels); len(m.shapes) > mostShapes {
		oldest := m.shapes[0]
		m.waits.DeletePartialMatch(prometheus.Labels{"partition": oldest[0], "nodes": oldest[1], "limit": oldest[2]})
		m.shapes = m.shapes[1:]
	}
	for bound, hours := range map[string]float64{"low": a.Wait.Low, "value": a.Wait.Value, "high": a.Wait.High} {
		m.waits.WithLabelValues(append(slices.Clip(labels), bound)...).Set(3600 * hours)
	}
}

// outcome exports the actual wait of a job, in seconds, next to the predicted one.
func (m *serveMetrics) outcome(p uncertainty.Prediction, seconds float64) {
	position := "inside"
	switch {
	case seconds < p.Low:
		position = "below"
	case seconds > p.High:
		position = "above"
	}
	m.outcomes.WithLabelValues(position).Inc()
	m.errors.Observe(seconds - p.Value)
}
