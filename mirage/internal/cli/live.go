package cli

import (
	"context"
	"time"

	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/slurmview"
	"github.com/foretime/foretime/shared/uncertainty"
)

// snapshot returns a snapshot of the live Slurm.
func (w *when) snapshot(ctx context.Context, client *slurmview.Client) (*slurmview.View, error) {
	if err := w.in.load(); err != nil {
		return nil, err
	}
	var rules *cluster.Rules
	if w.in.source.Given("scheduler") {
		rules = &w.in.Rules
	}
	return client.Look(ctx, time.Now(), slurmview.Sight{Rules: rules, Days: slurmview.AnswerDays})
}

// started is the question under which starts on a live Slurm are recorded.
const started = "start"

// correct returns the interval, corrected by the coverage of earlier ones.
func (w *when) correct(p uncertainty.Prediction) uncertainty.Prediction {
	return w.record.Correct(started, p)
}
