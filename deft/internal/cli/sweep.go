package cli

import (
	"context"
	"errors"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/trial"
	"github.com/foretime/foretime/shared/cli"
)

// runSweep runs the models alone and then together under each interval.
func (s *setting) runSweep(ctx context.Context, env *cli.Env, x *experiment.Experiment) error {
	if x.Policy == "" {
		x.Policy = "priority"
	}
	if x.Policy == "none" {
		return cli.Usagef("policy none: it adds no synchronization points, so intervals have no effect")
	}
	result, err := trial.RunSweep(ctx, x, s.intervals, s.play(env))
	if errors.Is(err, trial.ErrIntervals) {
		return cli.Usagef("--sync: %w", err)
	}
	if err != nil {
		return err
	}
	return s.answer.Print(env, result, func(p *cli.Page) { showSweep(p, result) })
}

func showSweep(p *cli.Page, s *trial.Sweep) {
	header, alone := []string{"sync"}, []any{"alone"}
	for _, m := range s.Alone {
		header, alone = append(header, m.Output+" (ms)"), append(alone, m.JCT.Mean)
	}
	t := p.Table(append(header, "delay (ms)")...)
	t.Add(append(alone, nil)...)
	for _, point := range s.Points {
		row := []any{point.Sync}
		for _, m := range point.Models {
			row = append(row, m.JCT.Mean)
		}
		t.Add(append(row, point.DelayMS)...)
	}
	if s.Sync == 0 {
		p.Line("the intervals had no effect: no model waited at a synchronization point under policy %s", s.Policy)
		return
	}
	p.Line("least delay: %d launches", s.Sync)
}
