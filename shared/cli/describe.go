package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/shared/file"
)

// Command describes a command for programs that generate code from it.
type Command struct {
	Path    []string `json:"path"` // below the program's name
	Use     string   `json:"use"`
	Short   string   `json:"short"`
	Long    string   `json:"long,omitempty"`
	Example string   `json:"example,omitempty"`
	Values  []string `json:"values,omitempty"` // of its first argument, if they are few
	Flags   []Flag   `json:"flags"`            // of the command alone, without hidden ones
	// Answers are the types of what --json prints, by the flag that selects one; "" for none.
	Answers map[string]Type `json:"answers,omitempty"`
}

// Flag describes a flag of a command.
type Flag struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // pflag's name of it, or the command's own
	List     bool   `json:"list,omitempty"`
	Bare     bool   `json:"bare,omitempty"` // has a meaning without a value, and is not bool
	Required bool   `json:"required,omitempty"`
	Usage    string `json:"usage"`
	Default  string `json:"default,omitempty"`
	// Values are all values that the flag takes, if they are few.
	Values []string `json:"values,omitempty"`
}

// Describe returns the commands of a program that users can run, in the order of its help.
func Describe(root *cobra.Command) (commands []Command) {
	visitCommands(root, func(c *cobra.Command) {
		if c == root || !c.IsAvailableCommand() || !c.Runnable() {
			return
		}
		path := strings.Fields(c.CommandPath())[1:]
		d := Command{Path: path, Use: c.Use, Short: c.Short, Long: c.Long, Example: c.Example, Values: c.ValidArgs, Flags: []Flag{}}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			_, list := f.Value.(pflag.SliceValue)
			kind, usage := pflag.UnquoteUsage(f)
			kind = cmp.Or(kind, f.Value.Type())
			required := len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0
			var values []string
			if complete, ok := c.GetFlagCompletionFunc(f.Name); ok && kind != "KEY=VALUE" {
				values, _ = complete(c, nil, "")
			}
			d.Flags = append(d.Flags, Flag{
				Name: f.Name, Type: kind, List: list || f.Value.Type() == "stringArray", Bare: f.NoOptDefVal != "" && kind != "bool",
				Required: required, Usage: usage, Default: f.DefValue, Values: values,
			})
			if answers, ok := f.Value.(jsonFlag); ok {
				d.Answers = describeAnswers(answers.answers)
			}
		})
		commands = append(commands, d)
	})
	return commands
}

// newDescribeCommand returns the command that prints Describe as JSON.
func newDescribeCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "describe",
		Short:  "print the commands and their flags as JSON",
		Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return file.EncodeJSON(c.OutOrStdout(), Describe(root))
		},
	}
}
