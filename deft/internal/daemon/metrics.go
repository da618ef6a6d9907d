package daemon

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// clientMetrics lists the metrics with the labels program and pid.
var clientMetrics = []struct {
	name, help string
	kind       prometheus.ValueType
	value      func(Client) float64
}{
	{"launches_total", "Launches of kernels and graphs.", prometheus.CounterValue, func(c Client) float64 { return float64(c.Launches) }},
	{"jobs_total", "Finished jobs.", prometheus.CounterValue, func(c Client) float64 { return float64(c.Jobs) }},
	{"in_flight_seconds_total", "Time with work queued on the device.", prometheus.CounterValue, func(c Client) float64 { return c.GPU }},
	{"gate_closed_seconds_total", "Time for which the gate was closed.", prometheus.CounterValue, func(c Client) float64 { return c.GateClosed }},
	{"gate_wait_seconds_total", "Time that launches waited at the closed gate.", prometheus.CounterValue, func(c Client) float64 { return c.AtGate }},
	{"gate_waits_total", "Launches that found the gate closed.", prometheus.CounterValue, func(c Client) float64 { return float64(c.Stops) }},
	{"queue_wait_seconds_total", "Time in added synchronization points and at the bound in flight.", prometheus.CounterValue, func(c Client) float64 { return c.Stall }},
	{"synchronizations_total", "Added synchronization points.", prometheus.CounterValue, func(c Client) float64 { return float64(c.Syncs) }},
	{"queued_kernels", "Kernels that may still be queued.", prometheus.GaugeValue, func(c Client) float64 { return float64(c.Queued) }},
	{"memory_bytes", "Device memory held.", prometheus.GaugeValue, func(c Client) float64 { return float64(c.Memory) }},
}

// collector collects the metrics of the state that it returns.
type collector func() Status

func (c collector) Describe(descs chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, descs) }

// Collect adds up clients of one process and name: they are one series.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	s := c()
	send := func(name, help string, kind prometheus.ValueType, value float64, labels []string, values ...string) {
		metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc("deft_"+name, help, labels, nil), kind, value, values...)
	}
	send("session_info", "The session and its policy.", prometheus.GaugeValue, 1, []string{"session", "policy"}, s.Session, s.Policy)
	send("owner_seconds", "Time since the owner started.", prometheus.GaugeValue, s.Age, nil)
	states := map[string]float64{}
	for _, c := range s.Clients {
		states[c.State]++
	}
	for _, state := range []string{"idle", "active"} {
		send("clients", "Clients by state.", prometheus.GaugeValue, states[state], []string{"state"}, state)
	}
	for _, m := range clientMetrics {
		sums := map[[2]string]float64{}
		for _, c := range s.Clients {
			sums[[2]string{c.Name, strconv.Itoa(c.PID)}] += m.value(c)
		}
		for labels, sum := range sums {
			send("client_"+m.name, m.help, m.kind, sum, []string{"program", "pid"}, labels[:]...)
		}
	}
}

// metricsHandler returns the metrics of a session's state in the formats of Prometheus.
func metricsHandler(status func() Status, version string) http.Handler {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "deft_build_info", Help: "1, with the version of the program.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector(status), build)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
