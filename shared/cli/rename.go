package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Rename keeps earlier names of a program's commands and flags working. No help
// shows them. The table maps old to new:
//
//	"experiment":         "validate"           a command
//	"validate --plots":   "--plot"             a flag of one command, by its new name
//	"--age-weight":       "--set rules.age="   a flag of any command; "=" takes its value
//	"--logged":           "--set rules.logged=true"
func Rename(root *cobra.Command, table map[string]string) {
	annotate(root, table)
}

func annotate(c *cobra.Command, more map[string]string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	maps.Copy(c.Annotations, more)
}

// oldCommand returns the longest old command name that a command line begins with, and
// its new name; "" if there is none.
func oldCommand(root *cobra.Command, args []string) (old, now string) {
	for name, to := range root.Annotations {
		words := strings.Fields(name)
		if !strings.Contains(name, "--") && len(name) > len(old) && len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			old, now = name, to
		}
	}
	return old, now
}

// renamed returns a command line with old names replaced by new ones.
func renamed(root *cobra.Command, args []string) []string {
	if old, now := oldCommand(root, args); old != "" {
		args = append(strings.Fields(now), args[len(strings.Fields(old)):]...)
	}
	at := ""
	if c, _, err := root.Find(args); err == nil {
		at = strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), root.Name()), " ") + " "
	}
	var out []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		flag, value, assigned := strings.Cut(args[i], "=")
		to, found := root.Annotations[at+flag]
		if !found {
			to, found = root.Annotations[flag]
		}
		switch {
		case !found || !strings.HasPrefix(flag, "--"):
			out = append(out, args[i])
			continue
		case strings.HasSuffix(to, "=") && !assigned && i+1 < len(args):
			i++
			value = args[i]
		case assigned && strings.HasSuffix(to, "=true"):
			to = strings.TrimSuffix(to, "true")
		case assigned && !strings.HasSuffix(to, "="):
			to += "="
		}
		words := strings.Fields(to)
		words[len(words)-1] += value
		out = append(out, words...)
	}
	return out
}
