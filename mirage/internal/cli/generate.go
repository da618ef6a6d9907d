package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/plural"
)

// generated is the JSON output of mirage generate.
type generated struct {
	Episodes int `json:"episodes"`
	Samples  int `json:"samples"`
}

func newGenerateCommand(env *cli.Env) *cobra.Command {
	var e episodes
	var probes int
	var dir string
	var out cli.Output
	c := &cobra.Command{
		Use:   "generate FILE --start DATE --out-dir DIR",
		Short: "Generate training samples",
		Long: `Simulate service pairs on the queue of a log, submit the successor at several
probes of each, and write the summary of the queue's history before each probe and the
resulting reward as a Parquet file. (train generates its own samples from a log.)`,
		Example: "  mirage generate ls6-a100.log --config config.json --episodes 684 --interval 4h --start 2022-11-01 --set service.nodes=1 --out-dir samples/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := samples.CheckNew(dir); err != nil {
				return cli.Usagef("--out-dir: %w", err)
			}
			set, err := e.generate(cmd.Context(), env, args[0], probes)
			if err != nil {
				return err
			}
			if err := set.Save(dir); err != nil {
				return err
			}
			answer := generated{set.Manifest.Plan.Episodes, len(set.Samples)}
			return out.Print(env, answer, func(p *cli.Page) {
				p.Line("%s in %s (%s, %s each)", plural.Count(answer.Samples, "sample"), dir, plural.Count(answer.Episodes, "episode"), plural.Count(probes, "probe"))
			})
		},
	}
	e.flags(c, 684, 4*3600)
	f := c.Flags()
	f.IntVar(&probes, "probes", samplesProbes, "probed decisions per episode, the last one reactive")
	f.StringVar(&dir, "out-dir", "", "`directory` to write")
	out.Flags(c, generated{})
	cli.First(c, "start", "out-dir", "config", "episodes", "interval")
	cli.Require(c, "start", "out-dir")
	return c
}

// samplesProbes is the default number of probed decisions per episode.
const samplesProbes = 7

// generate returns the samples of a log's episodes.
func (e *episodes) generate(ctx context.Context, env *cli.Env, path string, probes int) (*samples.Set, error) {
	_, w, plan, err := e.open(env, path, probes)
	if err != nil {
		return nil, err
	}
	bar := env.Progress("generate", int64(plan.Episodes))
	defer bar.Done()
	return plan.Generate(ctx, w, e.Workers, func() { bar.Add(1) })
}
