package suite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/tools/workspace"
)

const stream = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestGood"}
{"Action":"output","Package":"m/a","Test":"TestGood","Output":"=== RUN TestGood\n"}
{"Action":"pass","Package":"m/a","Test":"TestGood","Elapsed":0.1}
{"Action":"output","Package":"m/a","Test":"TestLack","Output":"    a_test.go:7: needs slurmctld: install with apt-get install slurmctld\n"}
{"Action":"skip","Package":"m/a","Test":"TestLack"}
{"Action":"pass","Package":"m/a","Elapsed":1}
{"Action":"output","Package":"m/b","Test":"TestBad","Output":"    b_test.go:9: got 1\n"}
{"Action":"fail","Package":"m/b","Test":"TestBad"}
{"Action":"fail","Package":"m/b","Elapsed":1}
{"ImportPath":"m/c [m/c.test]","Action":"build-output","Output":"c.go:1: syntax error\n"}
{"Action":"fail","Package":"m/c","FailedBuild":"m/c [m/c.test]"}
{"Action":"skip","Package":"m/d","Elapsed":0}
{"Action":"output","Package":"m/e","Test":"TestBad","Output":"    e_test.go:9: got 1\n"}
{"Action":"fail","Package":"m/e","Test":"TestBad"}
{"Action":"output","Package":"m/e","Test":"TestLost","Output":"=== RUN\n"}
{"Action":"output","Package":"m/e","Test":"TestLost/sub","Output":"signal: killed\n"}
{"Action":"output","Package":"m/e","Output":"FAIL m/e\n"}
{"Action":"fail","Package":"m/e","Elapsed":1}
not json
`

func TestRead(t *testing.T) {
	var progress bytes.Buffer
	got, err := Read(strings.NewReader(stream), &progress)
	if err != nil {
		t.Fatal(err)
	}
	want := &Result{
		Passed: 1,
		Failures: []Failure{
			{"m/b", "TestBad", "    b_test.go:9: got 1\n"},
			{"m/c", "", "c.go:1: syntax error\n"},
			{"m/e", "TestBad", "    e_test.go:9: got 1\n"},
			{"m/e", "TestLost/sub", "signal: killed\nFAIL m/e\n"},
		},
		Skips: []Skip{{"m/a", "TestLack", "needs slurmctld: install with apt-get install slurmctld"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if got.OK() {
		t.Error("a failed run is called OK")
	}
	if !strings.Contains(progress.String(), "not json") {
		t.Error("a line that is no event was lost")
	}
}

func TestClosing(t *testing.T) {
	r := &Result{Passed: 3, Skips: []Skip{{"p", "TestA", "needs x"}, {"p", "TestB", "needs x"}}}
	var b bytes.Buffer
	r.WriteTo(&b)
	want := "skipped (needs x): TestA TestB\n3 passed, 0 failed, 2 skipped\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	if !r.OK() {
		t.Error("a run without failures is not OK")
	}
	if (&Result{}).OK() {
		t.Error("a run without tests is OK")
	}
	r.FailSkips()
	if r.OK() || r.Summary() != "3 passed, 2 failed, 0 skipped" {
		t.Errorf("skips as failures: %s", r.Summary())
	}
}

// Run over a module of its own: one test passes, one skips, one fails.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.26.0\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Skip(\"needs luck\") }\nfunc TestC(t *testing.T) { t.Error(\"no\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	r, err := Run(t.Context(), dir, []string{"./..."}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Summary() != "1 passed, 1 failed, 1 skipped" || r.Skips[0].Reason != "needs luck" {
		t.Errorf("got %s, %+v", r.Summary(), r.Skips)
	}
	r, err = Run(t.Context(), dir, []string{"./nowhere"}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if r.OK() || len(r.Failures) == 0 {
		t.Errorf("a package that is not there: got %+v", r)
	}
}

// A run that is ended leaves no test behind.
func TestRunIsEnded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.26.0\n",
		"m_test.go": "package m\n\nimport (\n\"fmt\"\n\"os\"\n\"testing\"\n\"time\"\n)\n\nfunc TestA(t *testing.T) {\nos.WriteFile(\"pid\", fmt.Append(nil, os.Getpid()), 0o644)\ntime.Sleep(time.Hour)\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { _, err := Run(ctx, dir, []string{"./..."}, &bytes.Buffer{}); ended <- err }()
	var pid []byte
	for until := time.Now().Add(5 * time.Minute); len(pid) == 0 && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		pid, _ = os.ReadFile(filepath.Join(dir, "pid"))
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the run ended with %v", err)
	}
	state := "R"
	for until := time.Now().Add(5 * time.Minute); state != "Z" && state != "" && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		state = stateOf(string(pid))
	}
	if state != "Z" && state != "" {
		t.Errorf("process %s of the test is still there, in state %s", pid, state)
	}
}

// stateOf is the letter of a process's state, "" where there is none.
func stateOf(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[0]
}

func TestFoldersAndNeeds(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"m/a/a_test.go": "package a\n\nfunc TestRealX() {}\n",
		"m/b/b_test.go": "package b\n\nfunc FuzzX(f *testing.F) {}\n",
		"m/b/b.go":      "package b\n\nfunc TestRealY() {}\n",
		"m/real.txt":    "# tools\napt python3\nnpm left@1.0.0 # why\napt python3\npip wheel==0.45.1\n",
		"m/more.txt":    "apt python3\napt wrk\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws := &workspace.Workspace{Root: root, Modules: []workspace.Module{{Name: "m", Dir: filepath.Join(root, "m")}}}
	folders, err := Folders(ws, "func TestReal")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"./m/a"}, folders); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	targets, err := Targets(ws)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Target{{"./m/b", "FuzzX"}}, targets); diff != "" {
		t.Errorf("fuzz targets (-want +got):\n%s", diff)
	}
	needs, err := Needs(ws, filepath.Join(root, "m/more.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Need{{"apt", "python3"}, {"npm", "left@1.0.0"}, {"pip", "wheel==0.45.1"}, {"apt", "wrk"}}, needs); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	if _, err := Needs(ws, filepath.Join(root, "none.txt")); err == nil {
		t.Error("a file that is not there names no needs, without a word")
	}
	for _, line := range []string{"yum x", "apt", "npm left", "npm @scope/left", "pip wheel", "pip wheel==", "pip ==1"} {
		if err := os.WriteFile(filepath.Join(root, "m/real.txt"), []byte("\n"+line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Needs(ws); err == nil || !strings.Contains(err.Error(), "real.txt:2:") {
			t.Errorf("a bad line: %q: got %v", line, err)
		}
	}
}
