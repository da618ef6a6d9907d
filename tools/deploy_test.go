package tools

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/shared/testkit/porttest"
	"github.com/foretime/foretime/tools/workspace"
)

// validate checks Kubernetes manifests with the published schemas, strictly: unknown
// fields are errors.
const validate = `
import json, os, sys, yaml, jsonschema
schemas, files = sys.argv[1], sys.argv[2:]
definitions = json.load(open(os.path.join(schemas, "_definitions.json")))
for path in files:
    for o in yaml.safe_load_all(open(path)):
        group, _, version = o["apiVersion"].rpartition("/")
        name = "-".join([o["kind"].lower(), *([group.split(".")[0]] if group else []), version])
        schema = json.load(open(os.path.join(schemas, name + ".json")))
        resolver = jsonschema.RefResolver(schema.get("$id", ""), schema, store={"https://kubernetes.io/api/_definitions.json": definitions})
        for e in jsonschema.Draft7Validator(schema, resolver=resolver).iter_errors(o):
            print("%s: %s %s: %s: %s" % (path, o["kind"], o["metadata"]["name"], "/".join(map(str, e.path)), e.message))
        pod = o["spec"]["template"]["spec"] if "template" in o.get("spec", {}) else {}
        for c in pod.get("containers", []):
            print("run", path.split("/")[1], *(c.get("command", [None])[1:] + c.get("args", [])))
            if not (c["securityContext"]["runAsNonRoot"] and c["securityContext"]["readOnlyRootFilesystem"] and "livenessProbe" in c):
                print("%s: %s: %s" % (path, c["name"], c["securityContext"]))
`

// TestRealManifests checks the manifests, and lets the programs read their own flags.
func TestRealManifests(t *testing.T) {
	schemas, _ := filepath.Glob(filepath.Join("..", "out", "real", "pip", "kubernetes-validate==*", "kubernetes_validate", "kubernetes-json-schema", "*-local-strict")) // the pattern is well formed
	if len(schemas) == 0 {
		t.Skip("needs the schemas of Kubernetes: tools/install.sh")
	}
	newest, err := filepath.Abs(schemas[len(schemas)-1])
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join("..", "*", "deploy", "*.yaml")) // the pattern is well formed
	if len(files) < 4 {
		t.Fatalf("manifests %q", files)
	}
	out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", append([]string{"-W", "ignore", "-c", validate, newest}, files...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bin, ran := t.TempDir(), 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if words[0] != "run" {
			t.Error(strings.TrimSpace(line))
			continue
		}
		program := build(t, bin, words[1], "./cmd/"+words[1])
		if out, err := exec.CommandContext(t.Context(), program, append(words[2:], "--help")...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", strings.TrimSpace(line), err, out)
		}
		ran++
	}
	if ran != len(files) {
		t.Errorf("%d containers in %d files", ran, len(files))
	}
}

// TestRealUnits lets systemd read the unit files, and the programs their own flags.
func TestRealUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("needs systemd-analyze: install with apt-get install systemd")
	}
	units, _ := filepath.Glob(filepath.Join("..", "*", "deploy", "*.service")) // the pattern is well formed
	if len(units) != 3 {
		t.Fatalf("units %q", units)
	}
	command := regexp.MustCompile(`(?m)^ExecStart=(\S+)(.*)$`)
	bin := t.TempDir()
	for _, path := range units {
		name := strings.TrimSuffix(filepath.Base(path), ".service")
		program := build(t, bin, name, "./cmd/"+name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := command.FindStringSubmatch(string(text))
		if m == nil {
			t.Errorf("%s: no ExecStart", path)
			continue
		}
		unit := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(unit, []byte(strings.Replace(string(text), "ExecStart="+m[1], "ExecStart="+program, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{"verify", "--man=no", "--recursive-errors=no", unit}
		if strings.Contains(string(text), "default.target") {
			args = append([]string{"--user"}, args...)
		}
		verify := exec.CommandContext(t.Context(), "systemd-analyze", args...)
		verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		if out, err := verify.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s", path, err, out)
		}
		if out, err := exec.CommandContext(t.Context(), program, append(strings.Fields(m[2]), "--help")...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", path, err, out)
		}
	}
}

// build builds a program of a module below dir and returns its path.
func build(t *testing.T, dir, module, pkg string) string {
	t.Helper()
	ws, err := workspace.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, pkg)
	cmd.Dir = filepath.Join(ws.Root, module)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// unknownFields prints the fields of dashboards that Grafana's own types lack or change.
const unknownFields = `
import json, sys
sys.path.insert(0, sys.argv[1])
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
plugins.register_default_plugins()
def compare(path, ours, theirs):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name, value in ours.items():
            compare(path + "." + name, value, theirs.get(name))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, value in enumerate(ours):
            compare("%s[%d]" % (path, i), value, theirs[i])
    elif ours != theirs or ours is None:
        print("%s: %r, of which Grafana keeps %r" % (path, ours, theirs))
for path in sys.argv[2:]:
    board = json.load(open(path))
    compare(path, board, json.loads(json.dumps(Dashboard.from_json(board), cls=JSONEncoder)))
`

// TestRealDashboardFields reads the dashboards with the types that Grafana publishes.
func TestRealDashboardFields(t *testing.T) {
	sdk, _ := filepath.Glob(filepath.Join("..", "out", "real", "pip", "grafana-foundation-sdk==*")) // the pattern is well formed
	if len(sdk) == 0 {
		t.Skip("needs Grafana's types: tools/install.sh")
	}
	files, _ := filepath.Glob(filepath.Join("..", "*", "deploy", "dashboard.json"))
	if len(files) != 3 {
		t.Fatalf("dashboards %q", files)
	}
	args := append([]string{"-c", unknownFields, sdk[len(sdk)-1]}, files...)
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// board is the part of a Grafana dashboard that decides what it shows.
type board struct {
	UID, Title    string
	SchemaVersion int
	Panels        []struct {
		Title, Description string
		FieldConfig        struct{ Defaults struct{ Unit string } }
		GridPos            struct{ X, Y, W, H int }
		Targets            []struct{ Expr string }
	}
}

var (
	interval = regexp.MustCompile(`\$__rate_interval`)
	series   = regexp.MustCompile(`\b(?:edgeprof|mirage|deft)_[a-z_]+`)
)

// TestRealDashboards runs the three services and a Prometheus that scrapes them and
// evaluates the alerts. Each query of a dashboard or an alert must be valid, and each
// metric in it must be one that a service exports, or that its source names if it exports
// none before something has happened.
func TestRealDashboards(t *testing.T) {
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("needs Prometheus: install with apt-get install prometheus")
	}
	dir := t.TempDir()
	var queries []string
	for _, tool := range []string{"deft", "edgeprof", "mirage"} {
		text, err := os.ReadFile(filepath.Join("..", tool, "deploy", "dashboard.json"))
		if err != nil {
			t.Fatal(err)
		}
		var b board
		if err := json.Unmarshal(text, &b); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if b.UID == "" || b.Title == "" || b.SchemaVersion == 0 || len(b.Panels) < 4 {
			t.Errorf("%s: dashboard %q of %d panels", tool, b.Title, len(b.Panels))
		}
		for _, p := range b.Panels {
			if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || p.GridPos.W == 0 || len(p.Targets) == 0 {
				t.Errorf("%s: panel %+v", tool, p)
			}
			for _, target := range p.Targets {
				queries = append(queries, strings.ReplaceAll(interval.ReplaceAllString(target.Expr, "1m"), "$job", ".*"))
			}
		}
	}
	addresses := serve(t, dir)
	rules, _ := filepath.Glob(filepath.Join("..", "*", "deploy", "rules.yml")) // the pattern is well formed
	if len(rules) != 3 {
		t.Fatalf("rules %q", rules)
	}
	for i, r := range rules {
		at, err := filepath.Abs(r)
		if err != nil {
			t.Fatal(err)
		}
		rules[i] = at
	}
	config, err := yaml.Marshal(map[string]any{
		"global": map[string]string{"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": rules, "scrape_configs": shippedJobs(t, dir, addresses),
	})
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(at, config, 0o644); err != nil {
		t.Fatal(err)
	}
	listening := start(t, regexp.MustCompile(`msg="Listening on" address=(\S+)|msg=Start listening for connections" address=(\S+)|component=web msg="Start listening for connections" address=(\S+)`),
		"prometheus", "--config.file", at, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", "127.0.0.1:"+strconv.Itoa(porttest.Free(t)))
	for job := range addresses {
		eventually(t, job+" is scraped", func() bool {
			return strings.Contains(query(t, listening, `up{job="`+job+`"} == 1`), `"value"`)
		})
	}
	eventually(t, "all rules were evaluated", func() bool {
		text := get(t, "http://"+listening+"/api/v1/rules")
		return strings.Count(text, `"health":"ok"`) >= 11 && !strings.Contains(text, `"health":"unknown"`)
	})
	known := get(t, "http://"+listening+"/api/v1/label/__name__/values")
	for _, r := range rules {
		text, err := os.ReadFile(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if !strings.Contains(line, "annotations") {
				queries = append(queries, "#"+line)
			}
		}
	}
	for _, q := range queries {
		if !strings.HasPrefix(q, "#") {
			if answer := query(t, listening, q); !strings.Contains(answer, `"status":"success"`) {
				t.Errorf("%s: %s", q, answer)
			}
		}
		for _, name := range series.FindAllString(q, -1) {
			if !strings.Contains(known, `"`+name+`"`) && !inSource(t, name) {
				t.Errorf("%s: no service exports %s", strings.TrimPrefix(q, "#"), name)
			}
		}
	}
}

// TestRealAlerts lets Prometheus evaluate every alert on series on which it fires, and before
// that on series on which it does not.
func TestRealAlerts(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("needs promtool: install with apt-get install prometheus")
	}
	cases := filepath.Join("testdata", "alerts.yml")
	if out, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", cases).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	tested, err := os.ReadFile(cases)
	if err != nil {
		t.Fatal(err)
	}
	rules, _ := filepath.Glob(filepath.Join("..", "*", "deploy", "rules.yml")) // the pattern is well formed
	alerts := 0
	for _, path := range rules {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(text), -1) {
			alerts++
			for _, fires := range []string{"{eval_time: \\d+m, alertname: " + m[1] + "}", "alertname: " + m[1] + "\n *exp_alerts:"} {
				if !regexp.MustCompile(fires).Match(tested) {
					t.Errorf("%s: %s: nothing in %s matches %q", path, m[1], cases, fires)
				}
			}
		}
	}
	if alerts < 11 {
		t.Errorf("%d alerts in %q", alerts, rules)
	}
}

// shippedJobs returns the jobs of the shipped scrape configurations that scrape the services at
// the addresses, with the token in a file of dir.
func shippedJobs(t *testing.T, dir string, addresses map[string]string) (jobs []map[string]any) {
	t.Helper()
	left := maps.Clone(addresses)
	configs, _ := filepath.Glob(filepath.Join("..", "*", "deploy", "prometheus.yml")) // the pattern is well formed
	for _, path := range configs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var config struct {
			Jobs []map[string]any `yaml:"scrape_configs"`
		}
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(string(text), "/etc/prometheus/", dir+"/")), &config); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, job := range config.Jobs {
			name := fmt.Sprint(job["job_name"])
			address, ours := left[name]
			if !ours {
				continue
			}
			delete(left, name)
			delete(job, "kubernetes_sd_configs") // Debian builds Prometheus without them
			delete(job, "relabel_configs")
			job["static_configs"] = []any{map[string]any{"targets": []string{address}}}
			job["scrape_interval"] = "1s"
			jobs = append(jobs, job)
			if err := os.WriteFile(filepath.Join(dir, name+".token"), []byte("secret\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("no shipped configuration scrapes %v", left)
	}
	return jobs
}

// serve starts the three services and returns their addresses by job.
func serve(t *testing.T, dir string) map[string]string {
	t.Helper()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := "HOME=" + dir
	edgeprof, mirage, deft := build(t, dir, "edgeprof", "./cmd/edgeprof"), build(t, dir, "mirage", "./cmd/mirage"), build(t, dir, "deft", "./cmd/deft")
	month := filepath.Join(dir, "month.log")
	if out, err := exec.CommandContext(t.Context(), mirage, "log", "synth", "--days", "10", "--seed", "1", "--out", month).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address := regexp.MustCompile(`http://([0-9.:]+)`)
	session := filepath.Join(dir, "session")
	if err := os.Mkdir(session, 0o700); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"edgeprof": start(t, address, "env", home, edgeprof, "serve", "--address", "127.0.0.1:0", "--token-file", token),
		"mirage":   start(t, address, "env", home, mirage, "serve", month, "--address", "127.0.0.1:0", "--token-file", token, "--no-cache"),
		"deft":     start(t, address, "env", home, deft, "daemon", "--device", "sim", "--session-dir", session, "--metrics", "127.0.0.1:0"),
	}
}

// start starts a program that ends with the test, and returns what the pattern matches
// first in its output.
func start(t *testing.T, pattern *regexp.Regexp, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = cmd.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if m := pattern.FindStringSubmatch(lines.Text()); m != nil {
			go func() { // until it ends
				for lines.Scan() {
				}
			}()
			return strings.Join(m[1:], "")
		}
	}
	t.Fatalf("%s ended: %s", name, strings.Join(said, "\n"))
	return ""
}

func query(t *testing.T, prometheus, expression string) string {
	t.Helper()
	return get(t, "http://"+prometheus+"/api/v1/query?query="+url.QueryEscape(expression))
}

func get(t *testing.T, address string) string {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	var text strings.Builder
	if _, err := bufio.NewReader(r.Body).WriteTo(&text); err != nil {
		return err.Error()
	}
	return text.String()
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begin := time.Now(); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Since(begin) > 2*time.Minute {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// inSource says whether a tool's source names a metric, or its last words where the first
// are common to several.
func inSource(t *testing.T, metric string) bool {
	t.Helper()
	tool, rest, _ := strings.Cut(metric, "_")
	names := []string{metric, strings.TrimSuffix(metric, "_bucket"), strings.TrimPrefix(rest, "provision_"), strings.TrimPrefix(rest, "client_")}
	found := false
	err := filepath.WalkDir(filepath.Join("..", tool, "internal"), func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		found = found || slices.ContainsFunc(names, func(name string) bool { return strings.Contains(string(text), `"`+name+`"`) })
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}
