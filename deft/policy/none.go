package policy

import "time"

// None lets every client launch as it likes: the clients are only counted.
type None struct{}

var _ Policy = None{}

// Decide asks nothing of anyone.
func (None) Decide(time.Duration, []Client, []Directive) time.Duration { return Never }
