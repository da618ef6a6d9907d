package cli

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// important marks the flags that help shows before the others, and ownUsage a
// command whose usage adds to [usage].
const (
	important = "important"
	ownUsage  = "own usage"
)

// annotate adds annotations to those of c.
func annotate(c *cobra.Command, more map[string]string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	maps.Copy(c.Annotations, more)
}

// First marks the most important flags of c; help shows them first.
func First(c *cobra.Command, flags ...string) {
	c.Flags().SortFlags = false
	for _, name := range flags {
		must(c.Flags().SetAnnotation(name, important, nil))
	}
}

// flagUsages returns the usage of the flags of c, the important ones in a section
// of their own.
func flagUsages(c *cobra.Command) string {
	first, rest := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	first.SortFlags = false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Annotations[important]; ok {
			first.AddFlag(f)
		} else {
			rest.AddFlag(f)
		}
	})
	if !first.HasAvailableFlags() {
		return "Flags:\n" + rest.FlagUsages()
	}
	return "Flags:\n" + first.FlagUsages() + "\nMore flags:\n" + rest.FlagUsages()
}

// usage prints cobra's usage, with the flags as flagUsages formats them.
func usage(c *cobra.Command) error { return showUsage(c, "") }

func showUsage(c *cobra.Command, settings string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(c.Example, "\n"))
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nAvailable Commands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if c.HasAvailableLocalFlags() {
		b.WriteString("\n" + flagUsages(c))
	}
	if settings != "" {
		b.WriteString("\nSettings (--config FILE, --set KEY=VALUE" + settingUsages(c, settings))
	}
	if c.HasAvailableInheritedFlags() {
		b.WriteString("\nGlobal Flags:\n" + c.InheritedFlags().FlagUsages())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", c.CommandPath())
	}
	_, err := fmt.Fprint(c.OutOrStdout(), b.String())
	return err
}

// settingUsages returns the names of settings, with their help if --verbose is
// given.
func settingUsages(c *cobra.Command, settings string) string {
	if verbose, err := c.Flags().GetBool("verbose"); err == nil && verbose {
		return "):\n" + settings
	}
	var b strings.Builder
	b.WriteString("; -h --verbose explains them):\n ")
	column := 1
	for line := range strings.Lines(settings) {
		name := strings.Fields(line)[0]
		if column+1+len(name) > 78 {
			b.WriteString("\n ")
			column = 1
		}
		b.WriteString(" " + name)
		column += 1 + len(name)
	}
	return b.String() + "\n"
}

// suggestion returns a hint at the known name that is closest to an unknown one, or
// "".
func suggestion(name string, names []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, n := range names {
		if d := distance(name, n); d < least || d == least && best != "" && n < best {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// distance returns the Levenshtein distance: letters added, dropped or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// unknownFlag returns the error about a flag that does not exist, with a suggestion, or
// has no value.
func unknownFlag(c *cobra.Command, err error) error {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	if e := (*pflag.ValueRequiredError)(nil); errors.As(err, &e) {
		return Usagef("--%s wants a value; see %s -h", e.GetFlag().Name, c.CommandPath())
	}
	e := (*pflag.NotExistError)(nil)
	if !errors.As(err, &e) {
		return &UsageError{err}
	}
	name := "--" + e.GetSpecifiedName()
	if e.GetSpecifiedShortnames() != "" {
		name = name[1:]
	}
	return Usagef("unknown flag: %s%s; see %s -h", name, suggestion(name, names), c.CommandPath())
}
