// Package network has the kinds of models that are networks, or learn by
// reinforcement. They are experimental: on the queues measured none of them
// does better than the forecast for one node, and their seeds differ widely.
//
// It decides how they are set up and trained; what they see, and how they are
// judged and stored, is the model package's. It refuses nothing of its own.
package network

import (
	"github.com/foretime/foretime/mirage/model"
	"github.com/foretime/foretime/shared/registry"
)

// Learners are the experimental kinds of models by name.
func Learners() registry.List[model.Learner] {
	return registry.List[model.Learner]{
		{Name: "mlp", Help: "experimental: multilayer perceptron", New: model.Learner{View: model.Summaries(), Fit: fitMLP, Load: loadPerceptron}},
		{Name: "moe", Help: "experimental: ten experts with a gate", New: model.Learner{View: model.Summaries(), Fit: fitMoE, Load: loadNetwork}},
		{Name: "transformer", Help: "experimental: transformer over the last day", New: model.Learner{View: model.Sequences(), Fit: fitTransformer, Load: loadNetwork}},
		{Name: "policy", Help: "experimental: policy gradient", New: learning{outputs: 1, epoch: reinforce}.learner()},
		{Name: "dqn", Help: "experimental: deep Q learning", New: learning{outputs: 2, epoch: qlearn}.learner()},
	}
}
