package policy

// Reactive submits when the predecessor has ended, which is not up to it:
// it never says yes before.
type Reactive struct{}

// Decide says wait.
func (Reactive) Decide(*State) (Decision, error) { return Decision{}, nil }

// NeverLate submits when the predecessor starts.
type NeverLate struct{}

// Decide says submit.
func (NeverLate) Decide(*State) (Decision, error) { return Decision{Submit: true}, nil }
