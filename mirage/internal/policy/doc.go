// Package policy decides whether a service submits its successor now or waits, and
// until when it need not look again.
//
// A [Policy] is asked with a [State]: what is known at that moment, on a
// simulated queue or a real one. It answers submit or wait, and, where it has
// an opinion, which reward it expects of submitting now. [Baselines] lists those
// that learn nothing; one that asks a model is [Predicted]. None of them may
// look at the future, and none needs a simulator.
package policy
