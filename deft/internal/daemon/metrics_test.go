package daemon

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
)

// scrape returns the metrics at a TCP address.
func scrape(t *testing.T, address string) string {
	t.Helper()
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%s, %q: %v", r.Status, r.Header, err)
	}
	return string(text)
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

// The metrics on TCP are those of the session's clients; the rest of the service is on
// the socket only.
func TestMetrics(t *testing.T) {
	at := place(t)
	d, err := Start(at, Settings{Policy: "priority", Metrics: Metrics{Address: "127.0.0.1:0"}})
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
		return strings.Contains(scrape(t, d.MetricsAddress()), "deft_clients{state=\"active\"} 2\n")
	})
	text := scrape(t, d.MetricsAddress())
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
	if r, err := http.Get("http://" + d.MetricsAddress() + "/session"); err != nil || r.StatusCode != http.StatusNotFound {
		t.Errorf("/session on TCP: %v, %v", r, err)
	}
	if _, err := Start(place(t), Settings{Metrics: Metrics{Address: d.MetricsAddress()}}); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("an address in use: %v", err)
	}
}

// Clients that only hold connections cost the owner at most mostConnections of them, and lock
// neither a scrape nor the session's socket out.
func TestMetricsConnections(t *testing.T) {
	at := place(t)
	d, err := Start(at, Settings{Metrics: Metrics{Address: "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	runDaemon(t, d)
	const clients = 3 * mostConnections
	ended := make(chan error, clients)
	for range clients {
		c, err := net.Dial("tcp", d.MetricsAddress())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") // the owner may have closed it
		go func() {
			_, err := io.Copy(io.Discard, c)
			ended <- err
		}()
	}
	for range clients - mostConnections {
		<-ended
	}
	if text := scrape(t, d.MetricsAddress()); !strings.Contains(text, "deft_build_info") {
		t.Errorf("beside idle clients: %s", text)
	}
	if _, err := at.Status(); err != nil {
		t.Error(err)
	}
}

// A token guards the metrics on TCP only, and a request's header has a bound.
func TestMetricsToken(t *testing.T) {
	at := place(t)
	d, err := Start(at, Settings{Metrics: Metrics{Address: "127.0.0.1:0", Token: func() string { return "secret" }}})
	if err != nil {
		t.Fatal(err)
	}
	runDaemon(t, d)
	for _, c := range []struct {
		path, name, value string
		want              int
	}{
		{"/metrics", "Authorization", "Bearer secret", http.StatusOK},
		{"/metrics", "Authorization", "Bearer other", http.StatusUnauthorized},
		{"/metrics", "Accept", "*/*", http.StatusUnauthorized},
		{"/healthz", "Accept", "*/*", http.StatusOK},
		{"/healthz", "X-Long", strings.Repeat("x", 2*mostHeaderBytes), http.StatusRequestHeaderFieldsTooLarge},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://"+d.MetricsAddress()+c.path, nil)
		r.RequestURI = ""
		r.Header.Set(c.name, c.value)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.want {
			t.Errorf("%s with %s %.20s: %s", c.path, c.name, c.value, response.Status)
		}
	}
	if _, err := at.Status(); err != nil {
		t.Error(err)
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
