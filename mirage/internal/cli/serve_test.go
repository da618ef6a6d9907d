package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/mirage/trace/synth"
	"github.com/foretime/foretime/shared/cli"
)

// serving is a server of a log of so many days, and its file.
func serving(t *testing.T, days int, token string) (*serve, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.csv")
	writeLog(t, path, days)
	s := &serve{env: cli.NewEnv(nil, io.Discard, io.Discard), log: path, token: token}
	s.w.flags(&cobra.Command{})
	s.w.s.Level = .8
	return s, path
}

func writeLog(t *testing.T, path string, days int) {
	t.Helper()
	jobs, err := synth.Default().Generate(synth.Settings{Days: float64(days), NodeHoursPerDay: 20 * 24, MaxNodes: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.WriteCSV(f, jobs); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, h http.Handler, url, token string) (*http.Response, map[string]any) {
	t.Helper()
	r := httptest.NewRequest("GET", url, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var v map[string]any
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
	}
	return w.Result(), v
}

func TestServe(t *testing.T) {
	s, path := serving(t, 6, "secret")
	h := s.handler()
	for url, want := range map[string]int{
		"/": 200, "/healthz": 200, "/nowhere": 404, "/when": 401,
	} {
		if r, _ := get(t, h, url, ""); r.StatusCode != want {
			t.Errorf("%s: %d, want %d", url, r.StatusCode, want)
		}
	}
	if r, _ := get(t, h, "/when", "wrong"); r.StatusCode != 401 {
		t.Errorf("another token: %d", r.StatusCode)
	}
	for _, url := range []string{"/when?nodes=0", "/when?nodes=many", "/when?limit=soon", "/when?by=1969-01-01"} {
		if r, v := get(t, h, url, "secret"); r.StatusCode != 400 || v["error"] == "" {
			t.Errorf("%s: %d, %v", url, r.StatusCode, v)
		}
	}
	r, first := get(t, h, "/when?nodes=4&limit=12h&user=u1", "secret")
	wait, _ := first["wait_hours"].(map[string]any)
	if r.StatusCode != 200 || wait["level"] != .8 || wait["value"].(float64) < 0 {
		t.Fatalf("%d, %v", r.StatusCode, first)
	}
	// The log grows, and is broken for a while.
	if err := os.WriteFile(path, []byte("nothing of use"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, v := get(t, h, "/when", "secret"); v["at"] != first["at"] {
		t.Errorf("a broken log is answered from: %v", v)
	}
	writeLog(t, path, 8)
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, v := get(t, h, "/when", "secret"); v["at"] == first["at"] {
		t.Error("the log has grown, and the answers are of before")
	}
}
