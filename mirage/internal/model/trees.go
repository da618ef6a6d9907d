package model

import (
	"bytes"
	"context"
	"fmt"

	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
)

// ensemble is a set of boosted trees.
type ensemble struct{ *tree.Ensemble }

func (e ensemble) Hours(x []float64) (float64, error) {
	p, err := e.Predict(x)
	return p.Value, err
}

func (e ensemble) Save() ([]byte, error) {
	var b bytes.Buffer
	err := e.WriteJSON(&b)
	return b.Bytes(), err
}

func loadEnsemble(b []byte) (Scorer, error) {
	e, err := tree.ReadModel(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return ensemble{e}, nil
}

// fitBoost fits boosted trees to the quantile of the wait, and stops when the
// later samples no longer gain.
func fitBoost(ctx context.Context, train, held regression.Samples, s Settings) (Scorer, string, error) {
	e, err := tree.Boost{
		Objective: tree.Quantile, QuantileAlpha: s.quantile(),
		Rounds: 600, Eta: 0.05, MaxDepth: 5, MinChildWeight: 20, Subsample: 0.7, ColsampleTree: 0.5,
		Validation: held, Patience: 40, Seed: s.Seed, Threads: s.Threads,
	}.Fit(ctx, train)
	if err != nil {
		return nil, "", err
	}
	return ensemble{e}, fmt.Sprintf("%d trees", e.Trees()), nil
}
