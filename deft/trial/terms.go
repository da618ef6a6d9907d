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
