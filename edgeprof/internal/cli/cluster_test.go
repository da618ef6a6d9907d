package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/testkit/promtest"
)

// answer is what POST /api/profiling?candidates=all says, or its refusal.
type answer struct {
	code       int
	Candidates []struct {
		Node    string   `json:"node"`
		Seconds float64  `json:"predicted_execution_time"`
		Reasons []string `json:"reasons"`
	} `json:"profiling_candidates"`
	Excluded []struct{ Node, Reason string } `json:"profiling_excluded"`
	Type     string                          `json:"type"`
	Detail   string                          `json:"detail"`
}

func (r *running) profile() answer {
	r.t.Helper()
	const body = `{"model":"m","conv_layers":20,"pool_layers":2,"fc_layers":1,"filter_details":4800,"total_parameters":11703912,"model_input_size":602112,"model_output_size":4000}`
	client := http.Client{Timeout: 2 * time.Minute}
	response, err := client.Post(r.url+"/api/profiling?candidates=all", "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	a := answer{code: response.StatusCode}
	if err := json.Unmarshal(text, &a); err != nil {
		r.t.Fatalf("%v %s", err, text)
	}
	return a
}

// A cluster of this binary, node_exporter and Prometheus: load changes the
// ranking, a node whose exporter ends is left out with its reason, and while
// Prometheus is down the service says so and needs no restart after.
func TestRealCluster(t *testing.T) {
	agents := map[string]string{}
	for _, node := range []string{"rpi-1", "rpi-2"} {
		agents[node] = strings.TrimPrefix(start(t, "agent", "--node", node, "--device-model", "Raspberry Pi 4B").url, "http://")
	}
	c := promtest.Start(t, agents)
	window := (8 * promtest.Interval).String()
	r := start(t, "serve", "--source", "prometheus", "--prometheus", c.Address, "--set", "source.load-window="+window, "--set", "source.max-age="+window, "--set", "refresh=100ms")
	fastest := func(node string) func() bool {
		return func() bool {
			a := r.profile()
			return a.code == 200 && len(a.Candidates) == 2 && a.Candidates[0].Node == node && a.Candidates[0].Seconds < a.Candidates[1].Seconds
		}
	}
	c.Busy("rpi-1", 1)
	until(t, "rpi-2 is faster while rpi-1 is busy", fastest("rpi-2"))
	c.Busy("rpi-1", 0)
	c.Busy("rpi-2", 1)
	until(t, "rpi-1 is faster while rpi-2 is busy", fastest("rpi-1"))

	c.StopExporter("rpi-1")
	until(t, "rpi-1 is left out", func() bool {
		a := r.profile()
		return a.code == 200 && len(a.Candidates) == 1 && a.Candidates[0].Node == "rpi-2" && len(a.Excluded) == 1 && a.Excluded[0].Node == "rpi-1" &&
			strings.Contains(a.Excluded[0].Reason, "node_exporter")
	})
	c.StopServer()
	until(t, "a problem while Prometheus is down", func() bool {
		a := r.profile()
		return a.code == http.StatusServiceUnavailable && a.Type == "urn:foretime:edgeprof:source-unreachable" && a.Detail != ""
	})
	var ready struct{ Status any }
	if code := r.get("/readyz", &ready); code != http.StatusServiceUnavailable {
		t.Errorf("ready without Prometheus: %d", code)
	}
	c.StartServer()
	until(t, "answers again", func() bool { a := r.profile(); return a.code == 200 && a.Candidates[0].Node == "rpi-2" })
}
