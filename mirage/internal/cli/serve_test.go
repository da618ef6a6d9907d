package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/forecast"
	"github.com/foretime/foretime/mirage/internal/trace"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/record"
)

// serving is a server of a log of so many days, and its file.
func serving(t *testing.T, days int, token string) (*serve, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "month.log")
	writeLog(t, path, days)
	env, w := cli.NewEnv(nil, io.Discard, io.Discard), &when{in: newSettings(), level: .8}
	from, err := open(t.Context(), env, w, []string{path}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &serve{env: env, token: func() string { return token }, metrics: newServeMetrics(), source: from}, path
}

func writeLog(t *testing.T, path string, days int) {
	t.Helper()
	jobs, err := synth.Default().Generate(t.Context(), synth.Settings{Days: float64(days), NodeHoursPerDay: 20 * 24, MaxNodes: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.WriteMirage(f, jobs, time.UTC); err != nil {
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
	var log bytes.Buffer
	s.env.Stderr = &log
	h := s.handler()
	for url, want := range map[string]int{
		"/": 200, "/healthz": 200, "/nowhere": 404, "/when": 401, "/metrics": 401,
	} {
		if r, _ := get(t, h, url, ""); r.StatusCode != want {
			t.Errorf("%s: %d, want %d", url, r.StatusCode, want)
		}
	}
	if r, _ := get(t, h, "/when", "wrong"); r.StatusCode != 401 || r.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("another token: %d, %v", r.StatusCode, r.Header)
	}
	if lines := strings.Split(log.String(), "\n"); len(lines) != 7 || !strings.Contains(lines[len(lines)-2], " method=GET path=/when status=401 bytes=") || !strings.Contains(lines[len(lines)-2], "time=") {
		t.Errorf("access log:\n%s", &log)
	}
	for _, url := range []string{"/when?nodes=0", "/when?nodes=many", "/when?limit=soon", "/when?by=1969-01-01", "/when?gpus=1", "/when?memory=-1", "/when?node=4", "/when?partition=nope", "/when?nodes=2;rm", "/when?nodes=4000", "/when?curve=-1"} {
		if r, v := get(t, h, url, "secret"); r.StatusCode != 400 || v["error"] == "" {
			t.Errorf("%s: %d, %v", url, r.StatusCode, v)
		}
	}
	r, first := get(t, h, "/when?nodes=4&limit=12h&user=u1", "secret")
	wait, _ := first["wait_hours"].(map[string]any)
	if r.StatusCode != 200 || wait["level"] != .8 || wait["value"].(float64) < 0 {
		t.Fatalf("%d, %v", r.StatusCode, first)
	}
	if first["handover"] != nil {
		t.Errorf("a distribution that nobody asked for: %v", first)
	}
	_, drawn := get(t, h, "/when?nodes=4&limit=12h&user=u1&curve=1", "secret")
	curve, _ := drawn["handover"].(map[string]any)["chance_by"].([]any)
	if len(curve) < 5 || !reflect.DeepEqual(drawn["wait_hours"], first["wait_hours"]) {
		t.Errorf("the distribution: %v", drawn)
	}
	// The log grows, and is broken for a while.
	if err := os.WriteFile(path, []byte("nothing of use"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, v := get(t, h, "/when", "secret"); v["at"] != first["at"] || !strings.Contains(fmt.Sprint(v["notes"]), "its new content is not used") {
		t.Errorf("a broken log is answered from: %v", v)
	}
	writeLog(t, path, 3) // it is being written
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, v := get(t, h, "/when", "secret"); v["at"] != first["at"] || !strings.Contains(fmt.Sprint(v["notes"]), "its last submission is at") {
		t.Errorf("half a log is answered from: %v", v)
	}
	writeLog(t, path, 8)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		note  string
		place func() error // puts something at the log's path
	}{
		{"want a regular file", func() error { return syscall.Mkfifo(path, 0o600) }},
		{"want a regular file", func() error { return os.Symlink(fifo, path) }},
		{"want a regular file", func() error { return os.Mkdir(path, 0o700) }},
		{"its last line is not complete", func() error { return os.WriteFile(path, whole[:len(whole)-3], 0o600) }},
	} {
		if err := errors.Join(os.Remove(path), c.place(), os.Chtimes(path, time.Time{}, time.Now().Add(time.Duration(i+2)*time.Minute))); err != nil {
			t.Fatal(err)
		}
		if _, v := get(t, h, "/when", "secret"); v["at"] != first["at"] || !strings.Contains(fmt.Sprint(v["notes"]), c.note) {
			t.Errorf("no note %q: %v", c.note, v)
		}
	}
	writeLog(t, path, 8)
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, v := get(t, h, "/when", "secret"); v["at"] == first["at"] {
		t.Error("the log has grown, and the answers are of before")
	}
}

// stuck answers no question before it is released.
type stuck struct {
	asked   chan struct{}
	release chan struct{}
}

func (s stuck) answer(context.Context, forecast.Question) (*forecast.Answer, error) {
	s.asked <- struct{}{}
	<-s.release
	return &forecast.Answer{}, nil
}

// TestServeCrowd: while one question is answered so many wait, further ones are sent away, and
// those whose client has left are not computed.
func TestServeCrowd(t *testing.T) {
	from := stuck{make(chan struct{}, 2*mostAsking), make(chan struct{})}
	s := &serve{env: cli.NewEnv(nil, io.Discard, io.Discard), token: func() string { return "" }, metrics: newServeMetrics(), source: from}
	h := s.handler()
	statuses := make(chan int)
	ask := func(ctx context.Context) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/when", nil).WithContext(ctx))
		statuses <- w.Code
	}
	go ask(t.Context())
	<-from.asked
	left, leave := context.WithCancel(t.Context())
	for range mostAsking - 1 {
		go ask(left)
	}
	for s.asking.Load() < mostAsking {
		runtime.Gosched()
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/when", nil))
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("one too many: %d, %v", w.Code, w.Header())
	}
	leave()
	close(from.release)
	got := map[int]int{}
	for range mostAsking {
		got[<-statuses]++
	}
	if got[200] != 1 || got[statusClientLeft] != mostAsking-1 || len(from.asked) != 0 {
		t.Errorf("%v, %d more were computed", got, len(from.asked))
	}
}

// TestRereadable: what cannot be read twice is no log of a service.
func TestRereadable(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, "-", t.TempDir()} {
		env := cli.NewEnv(nil, io.Discard, io.Discard)
		if _, err := open(t.Context(), env, &when{in: newSettings(), level: .8}, []string{path}, 0, newServeMetrics()); err == nil || !strings.Contains(err.Error(), "regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestServeSlurm uses a Slurm of shell scripts: it is queried once per interval for all
// clients, and its errors are reported.
func TestServeSlurm(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"squeue": `echo .` + " >> " + dir + `/looks; [ -e ` + dir + `/broken ] && { echo controller is away >&2; exit 1; }; cat ` + dir + `/jobs`,
		"scontrol": `case "$*" in
*config) echo 'AccountingStorageType = accounting_storage/none
MessageTimeout = 10 sec
MinJobAge = 300 sec' ;;
*nodes) echo 'NodeName=n0 CPUTot=8 Gres=gpu:4 State=IDLE Partitions=gpu' ;;
*) echo 'PartitionName=gpu Default=YES MaxTime=1-00:00:00 PriorityTier=1' ;;
esac`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	queue := func(jobs string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "jobs"), []byte(`{"jobs":[`+jobs+`]}`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	queue("")
	env := cli.NewEnv(nil, io.Discard, io.Discard)
	env.State = dir
	w := &when{in: newSettings(), level: .8, record: cli.NewRecord(env, &cobra.Command{Use: "mirage"})}
	metrics := newServeMetrics()
	watch := &watched{w: w, every: time.Hour, metrics: metrics}
	s := &serve{env: env, token: func() string { return "" }, metrics: metrics, source: watch}
	h := s.handler()
	for url, want := range map[string]int{"/when?gpus=2": 200, "/when?gpus=5": 400, "/when?nodes=1&cpus=4&memory=100": 200, "/when?exclusive=true": 200, "/when?exclusive=perhaps": 400, "/when?gpus=-1": 400} {
		if r, v := get(t, h, url, ""); r.StatusCode != want {
			t.Errorf("%s: %d, want %d: %v", url, r.StatusCode, want, v)
		}
	}
	if looks, err := os.ReadFile(filepath.Join(dir, "looks")); err != nil || string(looks) != ".\n" {
		t.Errorf("%v: looked %q, want once", err, looks)
	}
	watch.every = 0
	// Jobs that come between two looks are predicted as of the first, and their starts
	// are kept: here each thirty seconds after it, though there is room at once.
	for id := range int64(12) {
		submit := watch.view.Now + 1
		job := func(state string) string {
			return fmt.Sprintf(`{"job_id":%d,"user_name":"u","job_state":"%s","node_count":1,"nodes":"","time_limit":10,"submit_time":%d,"start_time":%d,"tres_req_str":"cpu=1"}`, id+1, state, submit, submit+29)
		}
		queue(job("PENDING"))
		get(t, h, "/when?gpus=1", "")
		queue(job("RUNNING"))
		get(t, h, "/when?gpus=1", "")
		queue("")
		get(t, h, "/when?gpus=1", "")
	}
	book := record.Book{Path: filepath.Join(dir, "foretime", "record.jsonl")}
	s1 := book.Standing(record.Question{Tool: "mirage", Of: started})
	if s1.Outcomes != 12 || s1.Held != 0 || s1.Open != 0 {
		t.Errorf("%+v", s1)
	}
	exported := httptest.NewRecorder()
	h.ServeHTTP(exported, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		`mirage_start_outcomes_total{interval="above"} 12`, `mirage_start_error_seconds_count 12`, `mirage_http_requests_total{path="/when",status="400"} 3`,
		`mirage_predicted_wait_seconds{bound="value",limit="24h",nodes="1",partition="gpu"} 0`,
	} {
		if !strings.Contains(exported.Body.String(), "\n"+line+"\n") {
			t.Errorf("/metrics lacks %s:\n%s", line, exported.Body)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "broken"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r, v := get(t, h, "/when", ""); r.StatusCode != 502 || !strings.Contains(fmt.Sprint(v["error"]), "controller is away") {
		t.Errorf("%d, %v", r.StatusCode, v)
	}
}
