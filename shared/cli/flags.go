package cli

import "github.com/spf13/cobra"

// Require says that c cannot run without the named flags of its own; a
// command line that lacks one is wrong usage. It panics at a flag that c does
// not have.
func Require(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}
