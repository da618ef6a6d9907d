package cli

import (
	"fmt"

	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/shared/cli"
)

var slackHelp = fmt.Sprintf("time of urgent jobs, relative to alone, that others' use of their gaps may cost (default %v)", policy.DefaultSlack)

// checkSlack checks --slack.
func checkSlack(slack float64, given func(string) bool) error {
	if given("slack") && !(slack > 1 && slack <= policy.MaxSlack) {
		return cli.Usagef("--slack %v: want a number above 1, at most %v, such as 1.1", slack, policy.MaxSlack)
	}
	return nil
}
