package scripttest

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/shared/cli"
)

// Flags that a command may have, and those that it may have before its help
// needs an example and says which matter first.
const (
	mostFlags = 16
	fewFlags  = 6
)

// Examples wants help that fits in a head: at most 15 flags a command; of a
// command with more than six, an example, and at most five flags that stand
// first. Each line of an example has to be one that the program takes: its
// command, its flags with values of their types, as many arguments.
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
				takes(t, newRoot, words[1:])
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
	further = regexp.MustCompile(` [>|<&]|   `) // the shell's, or words about the line
)

// words are those of the first command of a line of a shell.
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

// takes wants the program to take a line; nothing is run.
func takes(t *testing.T, newRoot func(*cli.Env) *cobra.Command, args []string) {
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
