package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// generated is the JSON output of mirage generate.
type generated struct {
	Episodes int     `json:"episodes"`
	Samples  int     `json:"samples"`
	Blocks   int     `json:"blocks"`
	Seconds  float64 `json:"wall_seconds"`
}

func newGenerateCommand(env *cli.Env) *cobra.Command {
	var e episodes
	var probes int
	var dir string
	var out cli.Output
	c := &cobra.Command{
		Use:   "generate FILE",
		Short: "Generate training samples",
		Long: `Simulate service pairs on the queue of a log, submit the successor at several
probes of each, and write the history before each probe and the resulting reward as
Parquet files. The same command continues an interrupted run. (train generates its
own samples from a log.)`,
		Example: "  mirage generate ls6-a100.log --config config.json --episodes 684 --interval 4h --start 2022-11-01 --set service.nodes=1 --out samples/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			begin := time.Now()
			plan, err := e.generate(cmd.Context(), env, args[0], dir, probes)
			if err != nil {
				return err
			}
			answer := generated{plan.Episodes, plan.Episodes * plan.Probes, plan.Blocks(), time.Since(begin).Seconds()}
			return out.Print(env, answer, func(p *cli.Page) {
				p.Line("%s of samples in %s (%s, %s each)", plural.Count(answer.Blocks, "block"), dir, plural.Count(plan.Episodes, "episode"), plural.Count(plan.Probes, "probe"))
			})
		},
	}
	e.flags(c, 684, 4*3600)
	f := c.Flags()
	f.IntVar(&probes, "probes", samplesProbes, "probed decisions per episode, the last one reactive")
	f.StringVar(&dir, "out", "", "directory to write")
	out.Flags(c, generated{})
	cli.First(c, "start", "out", "config", "episodes", "interval")
	cli.Require(c, "start", "out")
	return c
}

// samplesProbes is the default number of probed decisions per episode.
const samplesProbes = 7

// generate writes the samples of a log's episodes to a directory.
func (e *episodes) generate(ctx context.Context, env *cli.Env, path, dir string, probes int) (plan samples.Plan, err error) {
	_, w, plan, err := e.open(env, path, probes)
	if err != nil {
		return plan, err
	}
	bar := env.Progress("generate", int64(plan.Episodes))
	defer bar.Done()
	return plan, plan.Generate(ctx, w, dir, e.Workers, func(n int) { bar.Add(int64(n)) })
}
