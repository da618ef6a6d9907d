package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/cli"
)

// The address serves the metrics to those who have the token, and checks of health to all.
func TestMetricsService(t *testing.T) {
	t.Setenv("DEFT_TOKEN", "secret")
	env := cli.OSEnv()
	m := metricsService{address: "127.0.0.1:0"}
	if err := m.listen(env); err != nil {
		t.Fatal(err)
	}
	defer m.listener.Close()
	m.serve(env, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") }))
	for _, c := range []struct {
		path, name, value string
		want              int
	}{
		{"/metrics", "Authorization", "Bearer secret", http.StatusOK},
		{"/metrics", "Authorization", "Bearer other", http.StatusUnauthorized},
		{"/metrics", "Accept", "*/*", http.StatusUnauthorized},
		{"/healthz", "Accept", "*/*", http.StatusOK},
		{"/session", "Authorization", "Bearer secret", http.StatusNotFound},
		{"/healthz", "X-Long", strings.Repeat("x", 1<<20), http.StatusRequestHeaderFieldsTooLarge},
	} {
		r, err := http.NewRequest(http.MethodGet, "http://"+m.listener.Addr().String()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
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
	again := metricsService{address: m.listener.Addr().String()}
	if err := again.listen(env); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("an address in use: %v", err)
	}
}
