package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
	"github.com/foretime/foretime/shared/stats"
)

// timed holds the times of real inferences of a model.
type timing struct {
	Model    string  `json:"model"`
	Library  string  `json:"library"` // ONNX Runtime: version and file
	Provider string  `json:"provider"`
	Threads  int     `json:"threads"` // per inference
	Runs     int     `json:"runs"`
	Min      float64 `json:"min_seconds"`
	P50      float64 `json:"p50_seconds"`
	P90      float64 `json:"p90_seconds"`
	// Uncontended is the median of bursts without the time that they waited for CPUs.
	Uncontended float64 `json:"uncontended_p50_seconds"`
	Load        float64 `json:"load_seconds"` // reading the weights
}

// busyFactor is the part of the median time that waits for processors have on a machine that does
// other work.
const busyFactor = 1.1

// newTimeCommand returns time, which times real inferences on this machine and records
// the outcome of rank's prediction.
func newTimeCommand(env *cli.Env, record *cli.Record) *cobra.Command {
	var runs, warmup int
	var with running
	var out cli.Output
	c := &cobra.Command{
		Use:     "time MODEL.onnx",
		Example: "  edgeprof time resnet.onnx --runs 100",
		Short:   "Time real inferences of a model on this machine",
		Args:    cobra.ExactArgs(1),
		RunE: endQuietly(func(cmd *cobra.Command, args []string) error {
			if runs < 1 || warmup < 0 {
				return cli.Usagef("--runs %d --warmup %d: want runs of 1 or more, warmup of 0 or more", runs, warmup)
			}
			t, err := timeModel(cmd.Context(), env, args[0], &with, warmup, runs)
			if err != nil {
				return err
			}
			if t.P50 > busyFactor*t.Uncontended {
				env.Log.Warnf("other work ran on the processors: without waits for them p50 %s ms", cli.Text(1000*t.Uncontended))
			}
			record.Outcome("rank", with.recordKey(args[0], t.Threads), t.P50)
			return out.Print(env, t, func(p *cli.Page) {
				p.Line("%s: %s with %s: min %s, p50 %s, p90 %s ms", t.Model, plural.Count(t.Runs, "inference"), plural.Count(t.Threads, "thread"), cli.Text(1000*t.Min), cli.Text(1000*t.P50), cli.Text(1000*t.P90))
				p.Line("%s", t.Library)
			})
		}),
	}
	c.Flags().IntVar(&runs, "runs", 20, "timed inferences")
	c.Flags().IntVar(&warmup, "warmup", 2, "untimed inferences before them")
	with.flags(c)
	with.providerFlag(c)
	sizeFlag(c, &with.values)
	out.Flags(c, timing{})
	cli.First(c, "runs", "threads", "dim", "json")
	return c
}

func timeModel(ctx context.Context, env *cli.Env, path string, with *running, warmup, runs int) (timing, error) {
	a, err := analyzeFile(path, with.sizes, with.values...)
	if err != nil {
		return timing{}, err
	}
	for _, w := range a.Warnings {
		if errors.Is(w, onnx.ErrDynamic) {
			env.Log.Warn(w)
		}
	}
	if err := with.requireFor(ctx, env, path, a); err != nil {
		return timing{}, err
	}
	start := time.Now()
	session, err := with.start(ctx, path)
	if err != nil {
		return timing{}, fmt.Errorf("%s: %w", path, err)
	}
	defer session.Close()
	t := timing{Model: path, Library: with.found[1], Provider: with.provider, Threads: with.threads, Runs: runs, Load: time.Since(start).Seconds()}
	inputs, err := with.inputs(session)
	if err != nil {
		return timing{}, err
	}
	bar := env.Progress("time", int64(runs))
	defer bar.Done()
	burst := 1
	if warmup > 0 {
		first, err := session.Time(ctx, inputs, warmup)
		if err != nil {
			return timing{}, fmt.Errorf("%s: %w", path, err)
		}
		burst = max(1, min(burstLength(first), runs/fewestBursts))
	}
	var took, alone []float64
	for len(took) < runs {
		times, err := session.Time(ctx, inputs, min(burst, runs-len(took)))
		if err != nil {
			return timing{}, fmt.Errorf("%s: %w", path, err)
		}
		took = append(took, times.Seconds...)
		alone = append(alone, times.UncontendedSeconds(with.threads))
		bar.Add(int64(len(times.Seconds)))
	}
	t.Min = slices.Min(took)
	t.P50 = stats.Median(took)
	t.P90 = stats.Quantile(took, 0.9)
	t.Uncontended = stats.Median(alone)
	return t, nil
}
