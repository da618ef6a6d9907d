package host_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foretime/foretime/chamtool/host"
	"github.com/foretime/foretime/chamtool/internal/summary"
	"github.com/foretime/foretime/chamtool/internal/task"
)

var scratch string

// patience is how long a program may take on a machine that has much else to do.
const patience = 20 * time.Minute

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "chamtool-host-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// tool is libchamtool.so, built once as `make` builds it.
var tool = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "libchamtool.so")
	args := []string{"build", "-buildmode=c-shared", "-trimpath", "-o", path, "../cmd/libchamtool"}
	cmd := exec.Command("go", args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return path, nil
})

var plainHost = sync.OnceValues(func() (*host.Program, error) {
	return host.Build(context.Background(), filepath.Join(scratch, "plain"), host.Options{Source: "testdata/hooks.c"})
})

// need returns the built tool and host, or skips where there is no compiler.
func need(t *testing.T) (string, *host.Program) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc: install with apt-get install gcc")
	}
	path, err := tool()
	if err != nil {
		t.Fatal(err)
	}
	p, err := plainHost()
	if err != nil {
		t.Fatal(err)
	}
	return path, p
}

// in is a run in an empty folder of its own, whose environment is quiet.
func in(t *testing.T, tool string, args ...string) host.Run {
	dir := t.TempDir()
	return host.Run{Tool: tool, Args: args, Dir: dir, Env: []string{"HOME=" + dir, "CHAMTOOL_HOME=" + filepath.Join(dir, "home")}}
}

func run(t *testing.T, p *host.Program, r host.Run) []host.Rank {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stdout, _, err := p.Output(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	var ranks []host.Rank
	for dec := json.NewDecoder(strings.NewReader(stdout)); dec.More(); {
		var one host.Rank
		if err := dec.Decode(&one); err != nil {
			t.Fatalf("the host's output: %v", err)
		}
		ranks = append(ranks, one)
	}
	slices.SortFunc(ranks, func(a, b host.Rank) int { return cmp.Compare(a.Rank, b.Rank) })
	return ranks
}

func readSummary(t *testing.T, r host.Run, rank int) summary.Summary {
	t.Helper()
	var s summary.Summary
	data, err := os.ReadFile(filepath.Join(r.Dir, "logs", fmt.Sprintf("chamtool_summary_rank_%d.json", rank)))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// balanced reports what the tool counted against what the host did, event by
// event: what is not counted must be counted as dropped.
func balanced(t *testing.T, did host.Rank, s summary.Summary, threads uint64) {
	t.Helper()
	counted := s.Created + s.Started + s.Ended + s.Threads + s.Waits + s.WaitsLeft + s.Loads
	want := did.Created + did.Started + did.Ended + threads + 2*threads*did.Waits + did.LoadsReported
	if counted+s.Dropped != want {
		t.Errorf("%d events counted and %d dropped, %d driven: %+v", counted, s.Dropped, want, s)
	}
	if s.Bad != 0 {
		t.Errorf("%d slots that nobody wrote", s.Bad)
	}
	if s.Dropped == 0 && (s.Created != did.Created || s.Started != did.Started || s.Ended != did.Ended || s.Incomplete != 0) {
		t.Errorf("counted %d %d %d (%d incomplete), did %d %d %d", s.Created, s.Started, s.Ended, s.Incomplete, did.Created, did.Started, did.Ended)
	}
}

func dialects(p *host.Program) []string {
	if p.Patched {
		return []string{"upstream", "patched"}
	}
	return []string{"upstream"}
}

// Threads that do nothing but call back, a million tasks each.
func TestFlood(t *testing.T) {
	tool, p := need(t)
	for _, dialect := range dialects(p) {
		for _, procs := range []string{"", "1"} {
			t.Run(dialect+"/GOMAXPROCS="+procs, func(t *testing.T) {
				r := in(t, tool, "--shape", "flood", "--threads", "3", "--tasks", "1000000", "--dialect", dialect)
				r.Env = append(r.Env, "GOMAXPROCS="+procs, "CHAMTOOL_LOG_FORMAT=csv")
				did := run(t, p, r)[0]
				if did.Ended != 3_000_000 || !did.Tool {
					t.Errorf("the host did %+v", did)
				}
				s := readSummary(t, r, 0)
				if s.Dialect != dialect {
					t.Errorf("dialect %q, want %q", s.Dialect, dialect)
				}
				balanced(t, did, s, 3)
			})
		}
	}
}

// A program of the library's shape loses nothing.
func TestWork(t *testing.T) {
	tool, p := need(t)
	for _, dialect := range dialects(p) {
		for _, extra := range [][]string{nil, {"--nest", "3"}, {"--args", "40"}, {"--args", "0", "--work", "none"}, {"--threads", "9"}} {
			t.Run(dialect+strings.Join(extra, ""), func(t *testing.T) {
				r := in(t, tool, append([]string{"--threads", "3", "--tasks", "300", "--iterations", "6", "--sizes", "8,16,24", "--dialect", dialect}, extra...)...)
				r.Env = append(r.Env, "CHAMTOOL_LOG_FORMAT=csv,tab")
				did := run(t, p, r)[0]
				s := readSummary(t, r, 0)
				threads := uint64(3)
				if len(extra) > 0 && extra[0] == "--threads" {
					threads = 9
				}
				balanced(t, did, s, threads)
				if s.Dropped != 0 || s.Incomplete != 0 {
					t.Errorf("%d dropped, %d incomplete", s.Dropped, s.Incomplete)
				}
				functions := functionsOf(t, filepath.Join(r.Dir, "logs"))
				if s.Iterations != 6 || len(functions) != 1 || !strings.HasPrefix(functions[0].Name, "chamhost:host_") {
					t.Errorf("%d iterations, functions %+v", s.Iterations, functions)
				}
				log := lines(t, filepath.Join(r.Dir, "logs", "chamtool_rank_0.csv"))
				if uint64(len(log)) != did.Ended+1 {
					t.Errorf("the log has %d lines, want %d", len(log), did.Ended+1)
				}
				tab := lines(t, filepath.Join(r.Dir, "logs", "chamtool_logfile_rank_0.csv"))
				if uint64(len(tab)) != did.Ended+6 {
					t.Errorf("the tab log has %d lines, want %d tasks and 6 iterations", len(tab), did.Ended)
				}
			})
		}
	}
}

// The sizes of the arguments that are not literals arrive, in order, however
// many slots they take and wherever literals stand between them.
func TestSizes(t *testing.T) {
	tool, p := need(t)
	const n = 8
	for _, tt := range []struct{ args, buffers, every int }{
		{0, 0, 0}, {1, 1, 0}, {4, 4, 0}, {5, 3, 0}, {5, 5, 0}, {12, 4, 0}, {12, 12, 0}, {12, 12, 2}, {13, 3, 0}, {13, 13, 3}, {60, 60, 0},
	} {
		for _, dialect := range dialects(p) {
			t.Run(fmt.Sprintf("%s/%d/%d/%d", dialect, tt.args, tt.buffers, tt.every), func(t *testing.T) {
				r := in(t, tool, "--threads", "1", "--tasks", "37", "--iterations", "40", "--sizes", fmt.Sprint(n), "--work", "none", "--dialect", dialect,
					"--args", fmt.Sprint(tt.args), "--buffers", fmt.Sprint(tt.buffers), "--literal-every", fmt.Sprint(tt.every))
				r.Env = append(r.Env, "CHAMTOOL_LOG_FORMAT=csv", "CHAMTOOL_RING_SLOTS=256") // the ring is written round and round
				run(t, p, r)
				log, err := task.Scan(t.Context(), filepath.Join(r.Dir, "logs", "chamtool_rank_0.csv"), task.Options{Format: task.FormatCSV})
				if err != nil {
					t.Fatal(err)
				}
				var want task.Sizes
				for i := range min(tt.args, tt.buffers) {
					if tt.every == 0 || i%tt.every != 0 {
						size := int64(n * n * 8)
						if i >= 3 {
							size += int64(i)
						}
						want = append(want, size)
					}
				}
				if len(log.Rows) == 0 {
					t.Fatal("an empty log")
				}
				for i, row := range log.Rows {
					if !slices.Equal(row.Sizes, want) {
						t.Fatalf("row %d: sizes %v, want %v", i, row.Sizes, want)
					}
				}
			})
		}
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// The C side alone, with a reader in C, under the sanitizers.
func TestSanitizers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: C is under test")
	}
	need(t)
	for _, kind := range []string{"address", "thread"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			p, err := host.Build(t.Context(), dir, host.Options{Sanitize: kind})
			if err != nil {
				t.Fatal(err)
			}
			lib := filepath.Join(dir, "libtool.so")
			args := []string{"-shared", "-fPIC", "-g", "-O1", "-std=gnu11", "-fsanitize=" + kind, "-DFAST_TLS=0", "-o", lib,
				"../cmd/libchamtool/process.c", "../cmd/libchamtool/rings.c", "../cmd/libchamtool/symbols.c", "../cmd/libchamtool/times.c", "../cmd/libchamtool/graph.c", "../cmd/libchamtool/service.c", "../cmd/libchamtool/chameleon.c", "../cmd/libchamtool/testdata/consumer.c"}
			compile(t, "", "gcc", append(args, "-ldl", "-lpthread")...)
			for _, dialect := range dialects(p) {
				for _, shape := range []string{"flood", "work"} {
					r := in(t, lib, "--shape", shape, "--threads", "3", "--tasks", "3000", "--iterations", "3", "--sizes", "4,8", "--args", "20", "--nest", "5", "--dialect", dialect)
					out := filepath.Join(r.Dir, "counts.json")
					r.Env = append(r.Env, "CONSUMER_OUT="+out, "ASAN_OPTIONS=detect_leaks=1", "TSAN_OPTIONS=halt_on_error=1")
					did := run(t, p, r)[0]
					data, err := os.ReadFile(out)
					if err != nil {
						t.Fatal(err)
					}
					var s summary.Summary
					if err := json.Unmarshal(data, &s); err != nil {
						t.Fatal(err)
					}
					balanced(t, did, s, 3)
				}
			}
		})
	}
}

func compile(t *testing.T, stdin, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func TestNoCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := host.Build(t.Context(), t.TempDir(), host.Options{})
	if !errors.Is(err, host.ErrNoCompiler) {
		t.Errorf("error %v, want ErrNoCompiler", err)
	}
}

// The library sets the timer slack of its own threads, and leaves that of the
// thread that loads it as it was.
func TestLoaderKeepsItsTimerSlack(t *testing.T) {
	tool, _ := need(t)
	loader := filepath.Join(t.TempDir(), "loader")
	compile(t, `
#include <dlfcn.h>
#include <stdio.h>
#include <sys/prctl.h>
int main(int n, char **path) {
    prctl(PR_SET_TIMERSLACK, 12345L);
    if (!dlopen(path[1], RTLD_LAZY)) { puts(dlerror()); return 1; }
    printf("%d", prctl(PR_GET_TIMERSLACK));
    return 0;
}`, "gcc", "-x", "c", "-o", loader, "-", "-ldl")
	out, err := exec.Command(loader, tool).CombinedOutput()
	if err != nil || string(out) != "12345" {
		t.Errorf("%s (%v)", out, err)
	}
}
