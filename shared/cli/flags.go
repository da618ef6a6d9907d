package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Require marks flags of c as required; a command line without one is wrong usage.
// It panics if c does not have a flag.
func Require(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		must(c.MarkFlagRequired(name))
	}
}

// must panics at an error that only a programming mistake can cause, such as an
// undefined flag.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Values declares all values that a flag of c takes. Shell completion offers them; for a
// list, after each comma too. It panics if c does not have the flag.
func Values[S ~string](c *cobra.Command, flag string, values ...S) {
	_, list := c.Flag(flag).Value.(pflag.SliceValue)
	complete := func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndexByte(typed, ','); list && i >= 0 {
			before = typed[:i+1]
		}
		completions := make([]cobra.Completion, len(values))
		for i, v := range values {
			completions[i] = before + string(v)
		}
		return completions, cobra.ShellCompDirectiveNoFileComp
	}
	must(c.RegisterFlagCompletionFunc(flag, complete))
}
