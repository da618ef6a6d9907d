package rivals

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// xgboost compares training and prediction with the XGBoost of Debian and that of
// PyPI.
func xgboost(ctx context.Context, b *Bench) (rows []Row, err error) {
	environments := [][]string{nil}
	wheel := b.wheel("xgboost==3.2.0")
	if _, err = os.Stat(wheel); err == nil {
		environments = append(environments, []string{"PYTHONPATH=" + wheel})
	}
	for _, env := range environments {
		version, failed := b.version(ctx, env, "xgboost")
		if failed != nil {
			err = failed
			continue
		}
		args := []string{"test", "-run", "^$", "-bench", "CompareXGBoost/^rows=100000$/^threads=1$", "-benchtime", "1x", "-count", strconv.Itoa(Rounds), "./shared/regression/tree"}
		out, failed := b.run(ctx, append([]string{"PYTHON=" + python}, env...), "go", args...)
		if failed != nil {
			err = failed
			continue
		}
		const job = "100,000 rows, 20 features, 100 trees"
		for _, m := range []struct{ unit, what, shown string }{
			{"train-s", "training boosted trees, " + job, "s"},
			{"predict-s", "predicting them, on one thread", "s"},
			{"rmse", "their error on held-out rows", ""},
			{"MB", "memory of both", "MB"},
		} {
			row := Row{Tool: "shared", What: m.what, Unit: m.shown, Rival: "XGBoost " + version, Command: "go " + strings.Join(args, " ")}
			row.Ours, row.Theirs = metric(string(out), m.unit), metric(string(out), "xgboost-"+m.unit)
			rows = append(rows, row)
		}
	}
	return rows, err
}

// scipy compares solving one assignment with SciPy.
func scipy(ctx context.Context, b *Bench) ([]Row, error) {
	version, err := b.version(ctx, nil, "scipy")
	if err != nil {
		return nil, err
	}
	args := []string{"test", "-run", "^$", "-bench", "BesideSciPy", "-benchtime", "1x", "-count", strconv.Itoa(Rounds), "./allox-est/internal/schedule/matching"}
	out, err := b.run(ctx, nil, "go", args...)
	if err != nil {
		return nil, err
	}
	return []Row{{
		Tool: "allox-est", What: "the best plan of 200 jobs on 20 machines", Unit: "ms", Rival: "SciPy " + version + " linear_sum_assignment",
		Ours: metric(string(out), "ms"), Theirs: metric(string(out), "scipy-ms"), Command: "go " + strings.Join(args, " "),
	}}, nil
}

// metric returns a benchmark's values of a unit, one per run.
func metric(output, unit string) []float64 {
	var values []float64
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		for i := 2; i+1 < len(fields) && strings.HasPrefix(line, "Benchmark"); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil && fields[i+1] == unit {
				values = append(values, v)
			}
		}
	}
	return values
}

var server = regexp.MustCompile(`(?m)^ *(edgeprof serve|chi, body sent back|chi, JSON decoded and encoded|Flask and XGBoost) +(\d+) +`)

// servers compares our service under load with others that accept the same
// requests.
func servers(ctx context.Context, b *Bench) ([]Row, error) {
	args := []string{"test", "-count=1", "-run", "TestLoad$", "-v", "./edgeprof/internal/cli", "-load", "3s", "-load-rounds", "1"}
	served := map[string][]float64{} // requests per second at 16 connections
	for range Rounds {
		out, err := b.run(ctx, nil, "go", args...)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(out), "200 connections")
		found := server.FindAllStringSubmatch(first, -1)
		if len(found) == 0 {
			return nil, errors.New("TestLoad left itself out; it needs wrk, python3-flask and python3-xgboost")
		}
		for _, m := range found {
			v, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return nil, err
			}
			served[m[1]] = append(served[m[1]], v)
		}
	}
	var rows []Row
	for _, name := range []string{"chi, body sent back", "chi, JSON decoded and encoded", "Flask and XGBoost"} {
		rows = append(rows, Row{
			Tool: "edgeprof", What: "a prediction over HTTP, 16 connections", Unit: "requests/s", Rival: name, More: true,
			Ours: served["edgeprof serve"], Theirs: served[name], Command: "go " + strings.Join(args, " "),
		})
	}
	return rows, nil
}

var errorsOf = regexp.MustCompile(`absolute error mean ([\d.]+), median [\d.]+ s; Slurm's --test-only ([\d.]+),`)

// testOnly compares our predicted job starts with a real Slurm's; a round is a
// queue.
func testOnly(ctx context.Context, b *Bench) ([]Row, error) {
	row := Row{Tool: "mirage", What: "a job's wait on a real Slurm, mean error", Unit: "s", Rival: "Slurm's own --test-only", Command: "go test ./mirage/internal/slurm -count=1 -run TestRealWhen$ -when-seed SEED -v"}
	for seed := range Rounds {
		if err := b.read(ctx, &row, errorsOf, "go", "test", "-count=1", "-run", "TestRealWhen$", "-v", "./mirage/internal/slurm", "-when-seed", strconv.Itoa(seed+1)); err != nil {
			return nil, err
		}
	}
	return []Row{row}, nil
}
