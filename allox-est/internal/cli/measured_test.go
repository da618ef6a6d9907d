package cli

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/allox-est/internal/jobspec"
	"github.com/foretime/foretime/allox-est/internal/journal"
	"github.com/foretime/foretime/allox-est/internal/report"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
)

var (
	measuredJobs   = flag.String("jobs", "lenet,googlenet", "jobs that TestMeasuredJobs runs")
	measuredEpochs = flag.Int("epochs", 250, "epochs of each")
	measuredPairs  = flag.Int("pairs", 5, "pairs of samples of each")
	measuredFull   = flag.Int("full", 3, "whole runs of each, between the pairs")
	measuredFolder = flag.String("journals", "", "absolute folder to keep the journals in; what they hold is not run again")
)

// TestMeasuredJobs shows how far off one pair of samples is about real jobs:
// pairs taken in turn with whole runs, each pair compared with all of them. It
// takes some ten minutes and asserts nothing.
func TestMeasuredJobs(t *testing.T) {
	if !strings.Contains(flag.Lookup("test.run").Value.String(), "TestMeasured") {
		t.Skip("needs a quiet machine: run with go test -run TestMeasuredJobs -v -timeout 2h ./allox-est/internal/cli")
	}
	command(t)
	folder := *measuredFolder
	if folder == "" {
		folder = t.TempDir()
	}
	for _, name := range strings.Split(*measuredJobs, ",") {
		t.Run(name, func(t *testing.T) {
			m := measurement{job: name, folder: folder}
			m.take(t)
			m.show(t)
		})
	}
}

// measurement is the runs of one job.
type measurement struct {
	job, folder string
	spec        *jobspec.Spec
	pairs       [][]journal.Run
	full        []journal.Run
}

// take makes the runs: the whole ones are spread evenly between the pairs.
func (m *measurement) take(t *testing.T) {
	t.Helper()
	file := filepath.Join(m.folder, m.job+".yaml")
	text := fmt.Sprintf("name: %s\nepochs: %d\ncommand: [allox-est, jobs, %s, --batches, \"1\", --out-dir, \"{scratch}\", --epochs, \"{epochs}\", \"{hw}\"]\n", m.job, *measuredEpochs, m.job)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.spec, err = jobspec.Load(file); err != nil {
		t.Fatal(err)
	}
	path := func(pair int) string { return filepath.Join(m.folder, fmt.Sprintf("%s-%d.jsonl", m.job, pair)) }
	whole := 0
	for pair := range *measuredPairs {
		estimated(t, "run", file, "--json", "--journal", path(pair))
		for whole < *measuredFull && whole*(*measuredPairs) < (pair+1)*(*measuredFull) {
			whole++ // the first journal holds them
			estimated(t, "validate", file, "--json", "--runs", fmt.Sprint(whole), "--journal", path(0))
		}
	}
	key := m.spec.Hash(jobspec.CPU)
	for pair := range *measuredPairs {
		j, err := journal.Read(path(pair))
		if err != nil {
			t.Fatal(err)
		}
		m.pairs = append(m.pairs, j.Of(key, journal.Sample))
		m.full = append(m.full, j.Of(key, journal.Full)...)
	}
}

// quantity is one of the times that are estimated, over all pairs.
type quantity struct {
	name           string
	errors, widths []float64
	covered, of    int
	spread         float64
}

func (q *quantity) add(relative, spread float64, p uncertainty.Prediction, actual []float64) {
	q.errors = append(q.errors, 100*math.Abs(relative))
	q.spread = max(q.spread, 100*spread)
	q.widths = append(q.widths, 100*(p.High-p.Low)/p.Value)
	for _, x := range actual {
		q.of++
		if p.Contains(x) {
			q.covered++
		}
	}
}

// show prints the table, and what explains it.
func (m *measurement) show(t *testing.T) {
	t.Helper()
	cpu := &quantity{name: "CPU seconds"}
	quiet, wall := &quantity{name: "wall uncontended"}, &quantity{name: "wall as now"}
	for _, pair := range m.pairs {
		j := &journal.Journal{Runs: append(append([]journal.Run{}, pair...), m.full...)}
		r := report.New(m.spec, []string{jobspec.CPU}, j, estimate.Settings{})
		r.Validate(j)
		d := r.Devices[jobspec.CPU]
		if d.Estimate == nil || d.Validation == nil {
			t.Fatalf("no estimate, or nothing to hold it against: %s %v", d.Error, r.Warnings)
		}
		column := func(of func(report.Actual) float64) (xs []float64) {
			for _, a := range d.Actual {
				xs = append(xs, of(a))
			}
			return xs
		}
		e, v := d.Estimate, d.Validation
		cpu.add(v.RelativeError["cpu"], v.Spread["cpu"], e.CPU, column(func(a report.Actual) float64 { return a.CPU }))
		quiet.add(v.RelativeError["wall_uncontended"], v.Spread["wall_uncontended"], e.Uncontended, column(func(a report.Actual) float64 { return a.Uncontended }))
		wall.add(v.RelativeError["wall"], v.Spread["wall"], e.Wall, column(func(a report.Actual) float64 { return a.Wall }))
		t.Logf("pair: CPU %+.1f %%, uncontended %+.1f %%, wall %+.1f %%", 100*v.RelativeError["cpu"], 100*v.RelativeError["wall_uncontended"], 100*v.RelativeError["wall"])
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\n"+m.job+"\tmean abs. error\tlargest\twhole runs' own spread\tcovered\tmedian width")
	for _, q := range []*quantity{cpu, quiet, wall} {
		if len(q.errors) > 0 {
			fmt.Fprintf(w, "%s\t%.1f %%\t%.1f %%\t%.1f %%\t%d/%d\t%.0f %%\n", q.name, mean(q.errors), quantile(t, q.errors, 1), q.spread, q.covered, q.of, quantile(t, q.widths, 0.5))
		}
	}
	w.Flush()
	t.Log(b.String())
	for _, r := range m.full {
		t.Logf("whole run: %.1f s, CPU %.1f s, waited %.1f s, load %.1f; epochs of CPU %.3f s", r.Wall, r.CPU, r.Wait, r.Load, mean(inner(r.LapCPU)))
	}
	t.Logf("a window of a pair's epochs misses the CPU time of the whole run that it is cut from by %.1f %% on average", windows(m.full, m.pairs[0]))
}

// windows returns the mean error of stretches of a whole run as long as the samples: no
// estimate can be better on this machine.
func windows(full, pair []journal.Run) float64 {
	var errs []float64
	long, short := pair[0].Epochs, pair[len(pair)-1].Epochs
	for _, r := range full {
		xs := inner(r.LapCPU)
		for i := 0; i+long+short <= len(xs); i++ {
			errs = append(errs, 100*math.Abs(mean(xs[i:i+long+short])/mean(xs)-1))
		}
	}
	return mean(errs)
}

// inner leaves out set-up and teardown.
func inner(laps []float64) []float64 {
	if len(laps) < 3 {
		return nil
	}
	return laps[1 : len(laps)-1]
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

func quantile(t *testing.T, xs []float64, p float64) float64 {
	t.Helper()
	return stats.Quantile(xs, p)
}
