package daemon

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
)

// scrape returns the metrics of a daemon.
func scrape(t *testing.T, d *Daemon) string {
	t.Helper()
	w := httptest.NewRecorder()
	d.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%d, %q", w.Code, w.Header())
	}
	return w.Body.String()
}

// runDaemon runs a daemon until the test ends.
func runDaemon(t *testing.T, d *Daemon) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// The metrics are those of the session's clients.
func TestMetrics(t *testing.T) {
	at := place(t)
	d, err := Start(at, Settings{Policy: "priority"})
	if err != nil {
		t.Fatal(err)
	}
	runDaemon(t, d)
	s, err := session.Open(at.Session())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{`a "quoted" \ name`, `a "quoted" \ name`} { // one series
		m, err := simcudatest.Join(s, name, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Leave()
		m.Begin()
	}
	eventually(t, "both are active", func() bool {
		return strings.Contains(scrape(t, d), "deft_clients{state=\"active\"} 2\n")
	})
	text := scrape(t, d)
	for _, want := range []string{
		"# TYPE deft_client_launches_total counter\n",
		"deft_session_info{policy=\"priority\",session=\"x\"} 1\n",
		`",program="a \"quoted\" \\ name"} 0` + "\n# HELP deft_client_gate_wait_seconds_total",
		`deft_client_in_flight_seconds_total{`, `deft_client_gate_waits_total{`,
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%d times %q in\n%s", strings.Count(text, want), want, text)
		}
	}
}

// sample is a line of the Prometheus text format.
var sample = regexp.MustCompile(`^[a-z_]+(\{[a-z_]+="(\\["\\n]|[^"\\\n])*"(,[a-z_]+="(\\["\\n]|[^"\\\n])*")*\})? [0-9.e+-]+$`)

// exposition returns the metrics of a state as Prometheus reads them.
func exposition(s Status) *bytes.Buffer {
	w := httptest.NewRecorder()
	metricsHandler(func() Status { return s }, "1").ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body
}

// Each line of the metrics is valid, and each series is there once.
func TestExposition(t *testing.T) {
	series := map[string]bool{}
	clients := []Client{{PID: 1, Name: `\"`, GPU: 1e-9}, {PID: 1, Name: `\"`, Launches: 1 << 60}, {PID: 2, Name: "ü"}}
	for s := bufio.NewScanner(exposition(Status{Session: "x", Policy: "none", Clients: clients})); s.Scan(); {
		if strings.HasPrefix(s.Text(), "# ") {
			continue
		}
		name := s.Text()[:strings.LastIndex(s.Text(), " ")]
		if !sample.MatchString(s.Text()) || series[name] {
			t.Errorf("not valid, or twice: %q", s.Text())
		}
		series[name] = true
	}
	if len(series) != 5+2*len(clientMetrics) {
		t.Errorf("%d series", len(series))
	}
}

// TestRealPrometheus has the metrics read by Prometheus' own checker and its server.
func TestRealPrometheus(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("needs promtool: install with apt-get install prometheus")
	}
	cmd := exec.Command("promtool", "check", "metrics")
	cmd.Stdin = exposition(Status{Session: "x", Policy: "none", Clients: []Client{{PID: 1, Name: `a "b" \ ü`, State: "active"}}})
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
