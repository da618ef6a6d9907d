//go:build develop

// Command release makes a release of the workspace, as tags of its repository, and
// the content of its packages.
package main

import (
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/tools/release"
	"github.com/foretime/foretime/tools/workspace"
)

func main() { cli.Main(newRoot) }

func newRoot(*cli.Env) *cobra.Command {
	root := &cobra.Command{Use: "release", Short: "make a release"}
	root.AddCommand(
		&cobra.Command{
			Use:   "tag VERSION",
			Short: "tag the modules, at a commit that requires the tagged version of shared; nothing is pushed",
			Args:  cobra.ExactArgs(1),
			RunE:  func(c *cobra.Command, args []string) error { return release.Tag(c.Context(), ".", args[0]) },
		},
		&cobra.Command{
			Use:   "push VERSION [REMOTE]",
			Short: "push the tags of a release to origin or REMOTE, the one that starts the workflow alone and last",
			Args:  cobra.RangeArgs(1, 2),
			RunE: func(c *cobra.Command, args []string) error {
				remote := "origin"
				if len(args) == 2 {
					remote = args[1]
				}
				return release.Push(c.Context(), ".", args[0], remote)
			},
		},
		&cobra.Command{
			Use:   "parts VERSION DIR",
			Short: "make the other files of packages: completions, manuals, licences, bills of materials, libraries",
			Args:  cobra.ExactArgs(2),
			RunE: func(c *cobra.Command, args []string) error {
				ws, err := workspace.Find(".")
				if err != nil {
					return err
				}
				return release.Parts(c.Context(), ws, args[0], args[1])
			},
		},
	)
	return root
}
