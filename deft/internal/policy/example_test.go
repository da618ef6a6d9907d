package policy_test

import (
	"fmt"

	"github.com/foretime/foretime/deft/internal/policy"
)

// Two jobs are running: the less urgent one stops at its gate.
func Example() {
	p, err := policy.New("priority", policy.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	clients := []policy.Client{
		{ID: 0, Terms: policy.Terms{Priority: 0}, Active: true},
		{ID: 1, Terms: policy.Terms{Priority: 1}, Active: true},
	}
	directives := make([]policy.Directive, len(clients))
	p.Decide(0, clients, directives)
	fmt.Println(directives[0].Closed, directives[0].InFlightTime, directives[1].Closed)
	// Output: true 200µs false
}
