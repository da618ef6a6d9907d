package cli

import (
	"context"
	"os"
	"strconv"
	"strings"
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
	Missing  int     `json:"missing_blocks"`
	Seconds  float64 `json:"wall_seconds"`
}

func newGenerateCommand(env *cli.Env) *cobra.Command {
	var e episodes
	var probes int
	var dir, shard string
	var out cli.Output
	var array jobArray
	c := &cobra.Command{
		Use:   "generate FILE",
		Short: "Generate training samples, in shards or as a job array",
		Long: `Simulate service pairs on the queue of a log, submit the successor at several
probes of each, and write the history before each probe and the resulting reward as
Parquet files. The same command continues an interrupted run. Shards may run on
different machines; copy their files into one directory. (train generates its own
samples from a log.)`,
		Example: "  mirage generate ls6-a100.log --config config.json --episodes 684 --interval 4h --start 2022-11-01 --set service.nodes=1 --out samples/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			begin := time.Now()
			part, err := parseShard(shard)
			if err != nil {
				return err
			}
			if array.parts < 0 || array.parts > 0 && shard != "" {
				return cli.Usagef("--slurm: want N above 0 and no --shard")
			}
			if array.parts > 0 {
				if err := array.run(cmd.Context(), env, dir, os.Args[1:]); err != nil {
					return err
				} // below, every block is read and incomplete ones are generated again
			}
			plan, err := e.generate(cmd.Context(), env, args[0], dir, probes, part)
			if err != nil {
				return err
			}
			manifest, err := samples.LoadManifest(dir)
			if err != nil {
				return err
			}
			answer := generated{plan.Episodes, plan.Episodes * plan.Probes, manifest.Blocks, len(manifest.Missing(dir)), time.Since(begin).Seconds()}
			return out.Print(env, answer, func(p *cli.Page) {
				p.Line("%d of %s of samples in %s (%s, %s each)", answer.Blocks-answer.Missing, plural.Count(answer.Blocks, "block"), dir, plural.Count(plan.Episodes, "episode"), plural.Count(plan.Probes, "probe"))
			})
		},
	}
	e.flags(c, 684, 4*3600)
	f := c.Flags()
	f.IntVar(&probes, "probes", samplesProbes, "probed decisions per episode, the last one reactive")
	f.StringVar(&dir, "out", "", "directory to write")
	f.StringVar(&shard, "shard", "", "I/N: only shard I of N, counted from 0")
	array.flags(c)
	out.Flags(c)
	cli.First(c, "start", "out", "config", "episodes", "interval")
	cli.Require(c, "start", "out")
	return c
}

// samplesProbes is the default number of probed decisions per episode.
const samplesProbes = 7

// generate writes the samples of a log's episodes to a directory.
func (e *episodes) generate(ctx context.Context, env *cli.Env, path, dir string, probes int, part samples.Shard) (plan samples.Plan, err error) {
	_, w, plan, err := e.open(env, path, probes)
	if err != nil {
		return plan, err
	}
	bar := env.Progress("generate", int64(plan.Episodes))
	defer bar.Done()
	part.Workers, part.Progress = e.Workers, func(n int) { bar.Add(int64(n)) }
	return plan, plan.Generate(ctx, w, dir, part)
}

func parseShard(s string) (samples.Shard, error) {
	if s == "" {
		return samples.Shard{}, nil
	}
	i, n, _ := strings.Cut(s, "/")
	index, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if err1 != nil || err2 != nil || index < 0 || index >= count {
		return samples.Shard{}, cli.Usagef("--shard %q: want I/N with 0 <= I < N", s)
	}
	return samples.Shard{Index: index, Count: count}, nil
}
