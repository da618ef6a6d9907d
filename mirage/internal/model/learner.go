package model

import (
	"context"

	"github.com/foretime/foretime/shared/registry"
	"github.com/foretime/foretime/shared/regression"
)

// Learner is a kind of model: how it is fitted and read back.
type Learner struct {
	Fit Fitter
	// Load reads what Save of the learner's scorers wrote.
	Load func([]byte) (Scorer, error)
}

// Fitter fits rows and returns something that predicts hours, with a remark on
// how it went; held may stop or steer it.
type Fitter func(ctx context.Context, train, held regression.Samples, s Settings) (Scorer, string, error)

// Scorer predicts the wait in hours from features.
type Scorer interface {
	Hours(x []float64) (float64, error)
	Save() ([]byte, error)
}

// Learners returns the kinds of models by name; one more is a line here and a file.
func Learners() registry.List[Learner] {
	return registry.List[Learner]{
		{Name: "boost", Help: "gradient-boosted trees for the cost-optimal quantile of the wait", New: Learner{fitBoost, loadEnsemble}},
		{Name: "moe", Help: "experimental: a mixture of ten expert networks, not better than the forecast with any seed", New: Learner{fitMixture, loadMixture}},
	}
}
