package neural

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/foretime/foretime/shared/regression"
)

// minRows is the smallest number of rows that can be divided into training and
// held-out rows.
const minRows = 10

// Training holds the settings of training: Adam on the mean squared error. The zero
// value works.
type Training struct {
	Epochs       int     // largest number of passes over the rows; 0 means 500
	Batch        int     // rows per step; 0 means 32, and never more than there are
	LearningRate float64 // 0 means 0.003
	HeldOut      float64 // fraction of the rows held out, below 1; 0 means 0.2
	Patience     int     // epochs without improvement before training stops; 0 means 50
	Seed         uint64
	// Progress, if not nil, is called after each epoch with the number of epochs
	// done and the root mean squared error on the held-out rows, in the target's
	// unit.
	Progress func(epochs int, heldOutRMSE float64)
}

// Report summarises a training. Errors are in the target's unit.
type Report struct {
	Epochs      int     `json:"epochs"`        // number of epochs run
	BestEpoch   int     `json:"best_epoch"`    // from 1; its weights were kept
	HeldOutRMSE float64 `json:"held_out_rmse"` // error of the best epoch
	Rows        int     `json:"rows"`          // trained on
	HeldOutRows int     `json:"held_out_rows"`
}

// ErrStillImproving is a warning: the last epoch allowed was the best one, and more
// epochs may do better.
var ErrStillImproving = errors.New("still improving at the last epoch")

// withDefaults sets the defaults and checks the settings.
func (t Training) withDefaults() (Training, error) {
	for _, d := range []struct {
		value *int
		def   int
		name  string
	}{{&t.Epochs, 500, "Epochs"}, {&t.Batch, 32, "Batch"}, {&t.Patience, 50, "Patience"}} {
		if *d.value == 0 {
			*d.value = d.def
		}
		if *d.value < 1 {
			return t, regression.Setting(d.name, *d.value, "1 or more")
		}
	}
	if t.LearningRate == 0 {
		t.LearningRate = 0.003
	}
	if t.HeldOut == 0 {
		t.HeldOut = 0.2
	}
	if !(t.LearningRate > 0) || math.IsInf(t.LearningRate, 1) {
		return t, regression.Setting("LearningRate", t.LearningRate, "above 0")
	}
	if !(t.HeldOut > 0 && t.HeldOut < 1) {
		return t, regression.Setting("HeldOut", t.HeldOut, "in (0, 1)")
	}
	return t, nil
}

// fit trains a network.
func (t Training) fit(ctx context.Context, a mixture, s regression.Samples) (*Network, error) {
	t, err := t.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := s.Check(regression.Needs{MinRows: minRows, Unweighted: true}); err != nil {
		return nil, err
	}
	if s.Features == 0 {
		return nil, regression.Dimension("features of a network", 0, 1)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(t.Seed, 0x6e657572616c))
	order := rng.Perm(s.Len())
	held := min(max(int(math.Round(t.HeldOut*float64(s.Len()))), 1), s.Len()-2)
	heldOut, rows := order[:held], order[held:]
	slices.Sort(heldOut)

	n := &Network{mixture: a, features: s.Features, batch: min(t.Batch, len(rows))}
	n.scaling, n.warnings = newScaling(s, rows)
	n.report = Report{Rows: len(rows), HeldOutRows: len(heldOut)}
	err = guard("train", func() error {
		if err := n.build(t.Seed); err != nil {
			return err
		}
		return n.train(ctx, t, s, rows, heldOut, rng)
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// train runs epochs until patience or epochs are spent, and keeps the weights with
// the smallest error on the held-out rows.
func (n *Network) train(ctx context.Context, t Training, s regression.Samples, rows, heldOut []int, rng *rand.Rand) error {
	trainer := train.NewTrainer(backend(), n.store, n.mixture.graph, loss.MeanSquaredError,
		optimizer.Adam().LearningRate(t.LearningRate).Done(), nil, nil)
	var best []variable
	n.report.HeldOutRMSE = math.Inf(1)
	for epoch := 1; epoch <= t.Epochs && epoch-n.report.BestEpoch <= t.Patience; epoch++ {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		// Rows after the last whole batch are left for another epoch's order.
		for at := 0; at+n.batch <= len(rows); at += n.batch {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := step(trainer, n.tensors(s, rows[at:at+n.batch])); err != nil {
				return err
			}
		}
		rmse, err := n.rmse(s, heldOut)
		if err != nil {
			return err
		}
		n.report.Epochs = epoch
		if rmse < n.report.HeldOutRMSE {
			n.report.BestEpoch, n.report.HeldOutRMSE = epoch, rmse
			if best, err = variables(n.store); err != nil {
				return err
			}
		}
		if t.Progress != nil {
			t.Progress(epoch, rmse)
		}
	}
	if best == nil {
		return fmt.Errorf("diverged: no finite error in %d epochs at learning rate %v", n.report.Epochs, t.LearningRate)
	}
	if n.report.BestEpoch == t.Epochs {
		n.warnings = append(n.warnings, fmt.Errorf("%w (epoch %d)", ErrStillImproving, t.Epochs))
	}
	return n.setWeights(best)
}

// step trains on one batch; the batch must not be used afterwards.
func step(trainer *train.Trainer, batch train.Batch) error {
	metrics, err := trainer.TrainStep(batch)
	if err != nil {
		return err
	}
	for _, m := range metrics {
		if err := m.FinalizeAll(); err != nil {
			return err
		}
	}
	return nil
}

// tensors returns the standardised rows and targets of a batch.
func (n *Network) tensors(s regression.Samples, rows []int) train.Batch {
	x, y := make([]float32, len(rows)*s.Features), make([]float32, len(rows))
	for i, r := range rows {
		n.scaling.row(x[i*s.Features:(i+1)*s.Features], s.Row(r))
		y[i] = n.scaling.target(s.Y[r])
	}
	return train.Batch{
		Inputs: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, len(rows), s.Features)},
		Labels: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(y, len(rows), 1)},
	}
}

// rmse returns the root mean squared error of the present weights on rows.
func (n *Network) rmse(s regression.Samples, rows []int) (float64, error) {
	values, err := n.values(s.Select(rows))
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i, r := range rows {
		sum += (values[i] - s.Y[r]) * (values[i] - s.Y[r])
	}
	return math.Sqrt(sum / float64(len(rows))), nil
}

// variable is one weight tensor of a network, by name.
type variable struct {
	Path string    `json:"path"`
	Dims []int     `json:"dims"`
	Data []float32 `json:"data"`
}

// variables copies the weights of a store, without the optimizer's own.
func variables(store *model.Store) ([]variable, error) {
	var out []variable
	for v := range store.IterVariables() {
		if !v.Trainable {
			continue
		}
		value, err := v.Value()
		if err != nil {
			return nil, err
		}
		data, err := tensors.CopyFlatData[float32](value)
		if err != nil {
			return nil, err
		}
		out = append(out, variable{Path: v.Path(), Dims: slices.Clone(v.Shape().Dimensions), Data: data})
	}
	return out, nil
}

// setWeights puts weights into the store and removes all traces of the training.
func (n *Network) setWeights(weights []variable) error {
	fresh := model.NewStore()
	for _, w := range weights {
		if _, err := fresh.CreateVariable(w.Path, tensors.FromFlatDataAndDimensions(w.Data, w.Dims...)); err != nil {
			return err
		}
	}
	n.store, n.weights = fresh, weights
	return n.compile()
}
