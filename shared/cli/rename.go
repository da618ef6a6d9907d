package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Rename is the one table from old to new of a program: its commands and flags
// of earlier releases, which go on working and stand in no help.
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

// renamed translates the words of a command line.
func renamed(root *cobra.Command, args []string) []string {
	var old []string // commands, the longest first
	for name := range root.Annotations {
		if !strings.Contains(name, "--") {
			old = append(old, name)
		}
	}
	slices.SortFunc(old, func(a, b string) int { return len(b) - len(a) })
	for _, name := range old {
		words := strings.Fields(name)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			args = append(strings.Fields(root.Annotations[name]), args[len(words):]...)
			break
		}
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
