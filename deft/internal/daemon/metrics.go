package daemon

import (
	"bytes"
	"fmt"
	"net/http"
)

// metric is a family of the metrics of clients.
type metric struct {
	name, kind, help string
	value            func(Client) float64
}

// clientMetrics lists the metrics with the labels program and pid.
var clientMetrics = []metric{
	{"launches_total", "counter", "Launches of kernels and graphs.", func(c Client) float64 { return float64(c.Launches) }},
	{"jobs_total", "counter", "Finished jobs.", func(c Client) float64 { return float64(c.Jobs) }},
	{"in_flight_seconds_total", "counter", "Time with work queued on the device.", func(c Client) float64 { return c.GPU }},
	{"gate_closed_seconds_total", "counter", "Time for which the gate was closed.", func(c Client) float64 { return c.GateClosed }},
	{"gate_wait_seconds_total", "counter", "Time that launches waited at the closed gate.", func(c Client) float64 { return c.AtGate }},
	{"gate_waits_total", "counter", "Launches that found the gate closed.", func(c Client) float64 { return float64(c.Stops) }},
	{"queue_wait_seconds_total", "counter", "Time in added synchronization points and at the bound in flight.", func(c Client) float64 { return c.Stall }},
	{"synchronizations_total", "counter", "Added synchronization points.", func(c Client) float64 { return float64(c.Syncs) }},
	{"queued_kernels", "gauge", "Kernels that may still be queued.", func(c Client) float64 { return float64(c.Queued) }},
	{"memory_bytes", "gauge", "Device memory held.", func(c Client) float64 { return float64(c.Memory) }},
}

// metricsHandler returns the metrics of the session in the Prometheus text format,
// version 0.0.4. Clients of one process and name are one series.
func (d *Daemon) metricsHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(exposition(d.status())) // the client may have gone
	})
}

// exposition writes the metrics.
func exposition(s Status) []byte {
	var b bytes.Buffer
	head := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP deft_%s %s\n# TYPE deft_%s %s\n", name, help, name, kind)
	}
	head("session_info", "gauge", "The session and its policy.")
	fmt.Fprintf(&b, "deft_session_info{session=%q,policy=%q} 1\n", s.Session, s.Policy)
	head("owner_seconds", "gauge", "Time since the owner started.")
	fmt.Fprintf(&b, "deft_owner_seconds %v\n", s.Age)
	states := map[string]int{}
	for _, c := range s.Clients {
		states[c.State]++
	}
	head("clients", "gauge", "Clients by state.")
	for _, state := range []string{"idle", "active"} {
		fmt.Fprintf(&b, "deft_clients{state=%q} %d\n", state, states[state])
	}
	for _, m := range clientMetrics {
		head("client_"+m.name, m.kind, m.help)
		var series []string
		sums := map[string]float64{}
		for _, c := range s.Clients {
			// %q escapes as the format wants: the session shows names without control characters.
			labels := fmt.Sprintf("{program=%q,pid=\"%d\"}", c.Name, c.PID)
			if _, known := sums[labels]; !known {
				series = append(series, labels)
			}
			sums[labels] += m.value(c)
		}
		for _, labels := range series {
			fmt.Fprintf(&b, "deft_client_%s%s %v\n", m.name, labels, sums[labels])
		}
	}
	return b.Bytes()
}
