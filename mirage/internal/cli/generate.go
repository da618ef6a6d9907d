package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/shared/cli"
)

func newGenerateCommand(env *cli.Env) *cobra.Command {
	var in input
	var m machine
	var e episodes
	var probes int
	var out, shard string
	var asJSON bool
	var array int
	var arrayOptions []string
	c := &cobra.Command{
		Use:   "generate FILE",
		Short: "make samples: what was known at a decision, and what came of it",
		Long: `Play service pairs on the simulated queue of a trace, submit the successor at
several probes of each, and write the histories up to each probe with the
reward that came of it, as Parquet. A run that was stopped goes on where it
was; shards of a run, written anywhere, put together are the run.`,
		Example: "  mirage generate ls6-a100.log --config config.json --episodes 684 --probes 7 --interval 4h --start 2022-11-01 --history 14d --service-nodes 1 --out samples/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			begin := time.Now()
			part, err := parseShard(shard)
			if err != nil {
				return err
			}
			if array < 0 || array > 0 && shard != "" {
				return cli.Usagef("--slurm N is above 0 and takes no --shard")
			}
			if array > 0 {
				if err := runArray(cmd.Context(), env, out, array, arrayOptions, os.Args[1:]); err != nil {
					return err
				}
			}
			t, err := in.open(env, args[0])
			if err != nil {
				return err
			}
			config, _, err := m.config(t)
			if err != nil {
				return err
			}
			plan, err := e.plan(t, probes)
			if err != nil {
				return err
			}
			if err := checkRoom(env, t, plan); err != nil {
				return err
			}
			w, err := warm(t, config)
			if err != nil {
				return err
			}
			if array > 0 { // what follows reads every block and makes those anew that are not whole
				manifest, err := samples.LoadManifest(out)
				if err != nil {
					return err
				}
				if missing := manifest.Missing(out); len(missing) > 0 {
					return fmt.Errorf("%s: the job array left out %d of %d blocks, the first is %d", out, len(missing), manifest.Blocks, missing[0])
				}
			}
			bar := env.Progress("generate", int64(plan.Episodes))
			defer bar.Done()
			if err := plan.Generate(cmd.Context(), w, out, part, e.workers, func(n int) { bar.Add(int64(n)) }); err != nil {
				return err
			}
			manifest, err := samples.LoadManifest(out)
			if err != nil {
				return err
			}
			missing := len(manifest.Missing(out))
			if asJSON {
				return env.WriteJSON(map[string]any{
					"episodes": plan.Episodes, "samples": plan.Episodes * plan.Probes, "blocks": manifest.Blocks,
					"missing_blocks": missing, "wall_seconds": time.Since(begin).Seconds(),
				})
			}
			_, err = fmt.Fprintf(env.Stdout, "%d of %d blocks of samples in %s (%d episodes, %d probes each)\n", manifest.Blocks-missing, manifest.Blocks, out, plan.Episodes, plan.Probes)
			return err
		},
	}
	in.flags(c)
	m.flags(c)
	e.flags(c, 684, "4h")
	f := c.Flags()
	f.IntVar(&probes, "probes", 7, "decisions probed in each episode, the last the reactive one")
	f.StringVar(&out, "out", "", "folder to write")
	f.StringVar(&shard, "shard", "", "I/N: only part I of N, counted from 0")
	f.IntVar(&array, "slurm", 0, "do the work as a Slurm job array of that many shards, wait for it and check what it wrote")
	f.StringArrayVar(&arrayOptions, "slurm-option", nil, "option for sbatch, such as --partition=cpu (may be repeated)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Require(c, "out")
	return c
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
