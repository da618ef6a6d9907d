package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Require says that c cannot run without the named flags of its own; a
// command line that lacks one is wrong usage. It panics at a flag that c does
// not have.
func Require(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		must(c.MarkFlagRequired(name))
	}
}

// must panics at an error that only a wrong program can cause, such as a flag that
// was never defined.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Values says which values a flag of c takes, for the shell to complete: for a
// flag that holds a list, each of them after a comma too. It panics at a flag that
// c does not have.
func Values[S ~string](c *cobra.Command, flag string, values ...S) {
	f := c.Flag(flag)
	if f == nil {
		panic("no flag --" + flag)
	}
	_, list := f.Value.(pflag.SliceValue)
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
