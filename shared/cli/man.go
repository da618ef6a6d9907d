package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newManCommand returns the command that writes a program's manual pages, for
// packagers.
func newManCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "write a manual page for each command to a directory",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			visitCommands(root, func(c *cobra.Command) { c.DisableAutoGenTag = true }) // no date
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: root.Name(), Manual: "Foretime"}, args[0])
		},
	}
}
