package scripttest

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/shared/cli"
)

// The largest number of flags of a command, and the number above which its help
// needs an example and a list of the important flags.
const (
	mostFlags = 15
	fewFlags  = 6
)

// Examples checks that help is short: at most 15 flags per command; and for a
// command with more than six, an example, and at most five flags marked with
// cli.First. The usage line shows every required flag. It parses each line of an example: the command, its flags with values
// of their types, and the number of arguments must be valid.
func Examples(t *testing.T, newRoot func(*cli.Env) *cobra.Command) {
	t.Helper()
	root := newRoot(cli.NewEnv(nil, nil, new(bytes.Buffer)))
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		flags, first := 0, 0
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if _, important := f.Annotations["important"]; important {
				first++
			}
			if !f.Hidden && f.Name != "help" {
				flags++
			}
			if required := f.Annotations[cobra.BashCompOneRequiredFlag]; required != nil && !strings.Contains(c.Use, "-"+cmp.Or(f.Shorthand, "-"+f.Name)+" ") {
				t.Errorf("%s needs --%s, which %q does not show", c.CommandPath(), f.Name, c.Use)
			}
		})
		switch {
		case c.Hidden:
			return
		case flags > mostFlags:
			t.Errorf("%s has %d flags", c.CommandPath(), flags)
		case flags > fewFlags && (c.Example == "" || first == 0 || first > 5):
			t.Errorf("%s has %d flags, %d of them first, and the example %q", c.CommandPath(), flags, first, c.Example)
		}
		for line := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", " ")) {
			if words := words(line); len(words) > 0 && words[0] == root.Name() {
				checkLine(t, newRoot, words[1:])
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

var (
	word    = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)
	further = regexp.MustCompile(` [>|<&]|   `) // shell syntax, or a remark after the command
)

// words returns the words of the first command of a shell line.
func words(line string) []string {
	line = strings.TrimSpace(line)
	if at := further.FindStringIndex(line); at != nil {
		line = line[:at[0]]
	}
	all := word.FindAllString(line, -1)
	for i, w := range all {
		all[i] = strings.Trim(w, `"'`)
	}
	return all
}

// checkLine checks that the program accepts a line, without running it.
func checkLine(t *testing.T, newRoot func(*cli.Env) *cobra.Command, args []string) {
	t.Helper()
	var printed bytes.Buffer
	env := cli.NewEnv(nil, &printed, &printed)
	root := newRoot(env)
	var idle func(c *cobra.Command)
	idle = func(c *cobra.Command) {
		if c.Runnable() {
			c.Run, c.RunE = nil, func(*cobra.Command, []string) error { return nil }
		}
		for _, sub := range c.Commands() {
			idle(sub)
		}
	}
	idle(root)
	if cli.Run(t.Context(), env, root, args) != cli.ExitDone {
		t.Errorf("the example %q: %s", strings.Join(args, " "), printed.String())
	}
}
