package cli_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/foretime/foretime/shared/cli"
)

var (
	loadTime   = flag.Duration("load", 0, "how long to load each server in each round; 0 leaves TestLoad out")
	loadRounds = flag.Int("load-rounds", 3, "rounds, in which the servers take turns")
)

// bare is chi with a handler that does nothing: with echo it sends the body
// back, without it decodes the JSON and encodes it again.
func bare(echo bool) {
	r := chi.NewRouter()
	r.Post("/api/profiling", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if echo {
			_, _ = io.Copy(w, r.Body)
			return
		}
		var v map[string]any
		if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(v)
	})
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("listening on http://%s\n", socket.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(socket, r))
	os.Exit(cli.ExitFailed)
}

// rival is a server under load.
type rival struct {
	name string
	url  string
	cmd  *exec.Cmd
	runs map[int][]run // by connections
}

// run is what one load showed.
type run struct {
	perSecond float64
	p50, p99  time.Duration
	cpu       float64 // seconds of the server's for each request
	requests  float64
	memory    float64 // resident bytes after it
}

const python = "/usr/bin/python3" // that of the system, which has XGBoost

func rivals(t *testing.T, devices string) []*rival {
	t.Helper()
	var all []*rival
	for _, r := range []struct {
		name string
		args []string
	}{
		{"edgeprof serve", []string{"edgeprof", "serve", "--source", "file:" + devices, "--address", "127.0.0.1:0"}},
		{"chi, body sent back", []string{"bare-echo"}},
		{"chi, JSON decoded and encoded", []string{"bare-json"}},
		{"Flask and XGBoost", []string{python, filepath.Join("testdata", "rival.py")}},
	} {
		cmd := exec.Command(r.args[0], r.args[1:]...)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		line, err := bufio.NewReader(stdout).ReadString('\n')
		url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
		if !ok {
			t.Fatalf("%s: %q %v", r.name, line, err)
		}
		all = append(all, &rival{name: r.name, url: url, cmd: cmd, runs: map[int][]run{}})
	}
	return all
}

var (
	perSecond = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	total     = regexp.MustCompile(`(\d+) requests in`)
	shares    = regexp.MustCompile(`(?m)^\s+(50|99)%\s+([\d.]+\w+)`)
	failures  = regexp.MustCompile(`(?m)^.*(?:Non-2xx|Socket errors).*$`)
)

// usage is the processor time and memory of a process (proc(5)).
func usage(t *testing.T, pid int) (seconds, bytes float64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	number := func(i int) float64 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return (number(11) + number(12)) / 100, number(21) * float64(os.Getpagesize())
}

// load runs wrk against the rival.
func (r *rival) load(t *testing.T, script string, connections int) {
	t.Helper()
	before, _ := usage(t, r.cmd.Process.Pid)
	out, err := exec.Command("wrk", "--latency", "-t2", fmt.Sprint("-c", connections), fmt.Sprintf("-d%.0fs", loadTime.Seconds()), "--timeout", "10s", "-s", script, r.url+"/api/profiling").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after, memory := usage(t, r.cmd.Process.Pid)
	if bad := failures.Find(out); bad != nil {
		report := t.Errorf
		if r.cmd.Args[0] == python { // it may fail where ours may not
			report = t.Logf
		}
		report("%s, %d connections: %s", r.name, connections, bad)
	}
	number := func(re *regexp.Regexp) float64 {
		m := re.FindSubmatch(out)
		if m == nil {
			t.Fatalf("%s", out)
		}
		v, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	done := run{perSecond: number(perSecond), requests: number(total), memory: memory}
	done.cpu = (after - before) / done.requests
	for _, m := range shares.FindAllSubmatch(out, -1) {
		d, err := time.ParseDuration(string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		if string(m[1]) == "50" {
			done.p50 = d
		} else {
			done.p99 = d
		}
	}
	r.runs[connections] = append(r.runs[connections], done)
}

func median[T float64 | time.Duration](runs []run, of func(run) T) T {
	values := make([]T, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// TestLoad loads the service and its rivals in turn with wrk, and prints how they
// compare:
//
//	go test ./internal/cli -run TestLoad -v -load 30s
func TestLoad(t *testing.T) {
	if *loadTime == 0 {
		t.Skip("takes minutes of a machine that does nothing else: run it with -load 30s")
	}
	for program, name := range map[string]string{"wrk": "wrk", "/usr/bin/python3": "python3-flask python3-sklearn python3-xgboost"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: install with apt-get install %s", program, name)
		}
	}
	folder := t.TempDir()
	var devices []string
	for i := range 10 {
		devices = append(devices, fmt.Sprintf(`{"node": "rpi-%d", "class": "Computer", "device_model": "Raspberry Pi 4B", "node_uuid": "%d", "cores": 4, "load": {"cpu_percent": %d, "disk_percent": 1}}`, i, i, 10*i))
	}
	const body = `{"model": "model", "conv_layers": 66666666, "pool_layers": 77777777, "fc_layers": 34535353535, "filter_details": 66, "total_parameters": 10000000000000000000, "model_input_size": 345343543, "model_output_size": 123421435}`
	list, script := filepath.Join(folder, "devices.json"), filepath.Join(folder, "post.lua")
	for path, text := range map[string]string{
		list:   "[" + strings.Join(devices, ",\n") + "]",
		script: "wrk.method = 'POST'\nwrk.headers['Content-Type'] = 'application/json'\nwrk.body = '" + body + "'\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all := rivals(t, list)
	for range *loadRounds {
		for _, connections := range []int{16, 200} {
			for _, r := range all {
				r.load(t, script, connections)
			}
		}
	}
	first := all[0]
	for _, connections := range []int{16, 200} {
		table := cli.Table{Header: []string{fmt.Sprint(connections, " connections"), "requests/s", "p50 ms", "p99 ms", "CPU us/request", "MB", "ours/its requests/s"}}
		for _, r := range all {
			runs := r.runs[connections]
			var ratios []run // of the same round
			for i := range runs {
				ratios = append(ratios, run{perSecond: first.runs[connections][i].perSecond / runs[i].perSecond})
			}
			ms := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }
			table.Add(r.name, fmt.Sprintf("%.0f", median(runs, func(r run) float64 { return r.perSecond })),
				ms(median(runs, func(r run) time.Duration { return r.p50 })), ms(median(runs, func(r run) time.Duration { return r.p99 })),
				fmt.Sprintf("%.1f", 1e6*median(runs, func(r run) float64 { return r.cpu })),
				fmt.Sprintf("%.1f", runs[len(runs)-1].memory/1e6), fmt.Sprintf("%.2f", median(ratios, func(r run) float64 { return r.perSecond })))
		}
		var b strings.Builder
		if _, err := table.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		t.Logf("median of %d rounds of %v\n%s", *loadRounds, *loadTime, &b)
	}
	requests := 0.0
	var memory []string
	for i := range *loadRounds {
		for _, connections := range []int{16, 200} {
			requests += first.runs[connections][i].requests
			memory = append(memory, fmt.Sprintf("%.1f MB after %.0f", first.runs[connections][i].memory/1e6, requests))
		}
	}
	t.Logf("resident memory of edgeprof serve: %s requests", strings.Join(memory, ", "))
}
