package rivals

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// data returns a file in the directory of published data that FORETIME_DATA names.
func data(path string) string {
	return filepath.Join(cmp.Or(os.Getenv("FORETIME_DATA"), "$FORETIME_DATA"), path)
}

// tqdmRest estimates the total time of series of steps with tqdm, on a simulated
// clock, when a tenth of their steps is done; it prints the mean absolute error in
// percent.
const tqdmRest = `
import csv, gzip, sys
import tqdm
path, series, value = sys.argv[1:]
rows = {}
with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as f:
    for row in csv.DictReader(f):
        rows.setdefault(row[series], []).append(float(row[value]))
off = []
for steps in rows.values():
    now, k = [0.0], max(1, round(len(steps) / 10))
    bar = tqdm.tqdm(total=len(steps), file=open("/dev/null", "w"), disable=False)
    bar._time, bar.start_t, bar.last_print_t = (lambda: now[0]), 0.0, 0.0
    for s in steps[:k]:
        now[0] += s
        bar.update()
    d = bar.format_dict
    rate = d["rate"] or d["n"] / d["elapsed"]
    off.append(abs((d["elapsed"] + (d["total"] - d["n"]) / rate) / sum(steps) - 1))
print(100 * sum(off) / len(off))
`

// rest compares estimates of whole jobs from a tenth of their steps with those of a
// progress bar and of split conformal prediction; a round is a set of published
// series.
func rest(ctx context.Context, b *Bench) ([]Row, error) {
	version, err := b.version(ctx, nil, "tqdm")
	if err != nil {
		return nil, err
	}
	const command = "allox-est backtest FILE --series S --value V --fraction 0.1 --json"
	value := Row{Tool: "allox-est", What: "a job's time from a tenth of its steps, mean error", Unit: "%", Rival: "tqdm " + version, Command: command}
	score := Row{Tool: "allox-est", What: "its 95 % interval, interval score over the time", Rival: "split conformal prediction of the last rate", Command: command}
	for _, set := range []struct{ file, series, value string }{
		{"steps-pai/minibatch.csv", "series", "batch_time_norm"}, {"steps-azure/values.csv.gz", "series", "value"}, {"steps-nanogpt/steps.csv", "series", "seconds"},
	} {
		path := data(set.file)
		var answer struct {
			Methods map[string]struct {
				MAPE  float64 `json:"mape"`
				Score float64 `json:"interval_score"`
			}
		}
		if err := b.runJSON(ctx, &answer, "allox-est", "backtest", path, "--series", set.series, "--value", set.value, "--fraction", "0.1", "--json"); err != nil {
			return nil, err
		}
		out, err := b.run(ctx, nil, python, "-c", tqdmRest, path, set.series, set.value)
		if err != nil {
			return nil, err
		}
		var theirs float64
		if _, err := fmt.Sscan(string(out), &theirs); err != nil {
			return nil, err
		}
		value.Ours, value.Theirs = append(value.Ours, answer.Methods["auto"].MAPE), append(value.Theirs, theirs)
		score.Ours, score.Theirs = append(score.Ours, answer.Methods["auto"].Score), append(score.Theirs, answer.Methods["conformal"].Score)
	}
	return []Row{value, score}, nil
}

// boards predicts a new chip from few measured models and compares that with the
// times of the nearest other chip; a round is a number of measured models.
func boards(ctx context.Context, b *Bench) ([]Row, error) {
	row := Row{Tool: "edgeprof", What: "a model's time on a new chip with few measurements, median error", Unit: "%", Rival: "the nearest run of another chip", Command: "edgeprof transfer --table latency.csv --models models --cpu-only --anchors N"}
	for _, anchors := range []int{3, 5, 8} {
		var answer struct {
			Median    float64 `json:"median_ape"`
			Baselines map[string]struct {
				Median float64 `json:"median_ape"`
			} `json:"baselines"`
		}
		if err := b.runJSON(ctx, &answer, "edgeprof", "transfer", "--table", data("ncnn-boards/latency.csv"), "--models", data("ncnn-boards/models"), "--cpu-only", "--anchors", strconv.Itoa(anchors), "--json"); err != nil {
			return nil, err
		}
		row.Ours, row.Theirs = append(row.Ours, 100*answer.Median), append(row.Theirs, 100*answer.Baselines["nearest_run"].Median)
	}
	return []Row{row}, nil
}

var lightGBM = regexp.MustCompile(`jobs, mean error ([\d.]+) h; LightGBM ([\d.]+) h`)

// waits compares predictions for jobs of published logs with LightGBM on the same
// features; a round is a log.
func waits(ctx context.Context, b *Bench) ([]Row, error) {
	row := Row{Tool: "mirage", What: "a job's wait, predicted from a log, mean error", Unit: "h", Rival: "LightGBM 4.5.0, its median by the same features", Command: "go test -run BesideLightGBM -v ./mirage/internal/backtest -lightgbm WHEEL"}
	err := b.read(ctx, &row, lightGBM, "go", "test", "-count=1", "-timeout=1h", "-run", "BesideLightGBM", "-v", "./mirage/internal/backtest", "-lightgbm", b.wheel("lightgbm==4.5.0"))
	return []Row{row}, err
}

// shares compares predicted slowdowns of programs that share published GPUs with
// two simple rules; each predicted pair is held out, and a round is a GPU.
func shares(ctx context.Context, b *Bench) ([]Row, error) {
	var rows []Row
	for _, r := range []struct{ rival, field string }{{"2 x alone", "Half"}, {"the mean of pairs with the same other program", "Partner"}} {
		row := Row{Tool: "deft", What: "a program's relative speed on a shared GPU, median error", Rival: r.rival, Command: "go test -run MeasuredPairs -v ./deft/internal/pair"}
		if err := b.read(ctx, &row, regexp.MustCompile(`Error:([\d.]+) .*`+r.field+`:([\d.]+)`), "go", "test", "-count=1", "-run", "MeasuredPairs", "-v", "./deft/internal/pair"); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// read adds a round to a row for each pair of figures in a command's output that
// matches a pattern.
func (b *Bench) read(ctx context.Context, row *Row, pattern *regexp.Regexp, name string, args ...string) error {
	out, err := b.run(ctx, nil, name, args...)
	if err != nil {
		return err
	}
	found := pattern.FindAllSubmatch(out, -1)
	if len(found) == 0 {
		return fmt.Errorf("%s left itself out: %s", row.Command, bytes.TrimSpace(out))
	}
	for _, m := range found {
		var ours, theirs float64
		if _, err := fmt.Sscan(string(m[1])+" "+string(m[2]), &ours, &theirs); err != nil {
			return err
		}
		row.Ours, row.Theirs = append(row.Ours, ours), append(row.Theirs, theirs)
	}
	return nil
}
