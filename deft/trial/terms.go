package trial

import (
	"github.com/foretime/foretime/deft/experiment"
	"github.com/foretime/foretime/deft/policy"
)

// DefaultPolicy does what each model's configuration says.
const DefaultPolicy = "control"

// PolicyName is the policy of an experiment.
func PolicyName(x *experiment.Experiment) string {
	if x.Policy == "" {
		return DefaultPolicy
	}
	return x.Policy
}

// newPolicy is the experiment's policy at the beginning of its memory.
func newPolicy(x *experiment.Experiment) (policy.Policy, error) {
	return policy.New(PolicyName(x), policy.Settings{Quantum: x.Quantum})
}

// terms are what the policy is told of a model.
func terms(m *experiment.Model) policy.Terms {
	return policy.Terms{
		Name:     m.OutputName,
		Priority: m.Priority,
		Weight:   m.Weight,
		Deadline: m.Deadline,
		Share:    m.Share,
		Sync:     m.Control.SyncEvery,
		Event:    m.Control.EventGroup,
		Gate:     m.Control.Gate,
		GateSync: m.Control.Sync, GateEvent: m.Control.Event,
	}
}
