package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/plural"
)

// Exit codes of every Foretime command.
const (
	ExitDone   = 0 // the work is done
	ExitFailed = 1 // the work failed
	ExitUsage  = 2 // the command line was wrong
)

// StartStatus returns the exit status of a shell for a program that could not be started.
func StartStatus(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// UsageError is an error in the command line.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a *UsageError with a formatted message.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// Main runs the command that newRoot builds with the process's own streams,
// arguments and signals, and exits.
func Main(newRoot func(*Env) *cobra.Command) {
	env := OSEnv()
	root := newRoot(env)
	crash.Handle(func(e *crash.Error) { os.Exit(report(context.Background(), env, root, e)) })
	os.Exit(Run(signalContext(env), env, root, os.Args[1:]))
}

// Run executes root with args and returns the exit code. It prints at most
// one line about a failure, to env.Stderr.
func Run(ctx context.Context, env *Env, root *cobra.Command, args []string) int {
	prepare(env, root)
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	root.SetArgs(args)
	err := execute(ctx, root)
	if err == nil {
		return ExitDone
	}
	return report(ctx, env, root, err)
}

// execute runs the command that root's arguments name. Help for a word that is no command is an error.
func execute(ctx context.Context, root *cobra.Command) (err error) {
	defer crash.Guard(&err)
	help := root.HelpFunc()
	var unknown error
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.HasSubCommands() {
			unknown = c.ValidateArgs(c.Flags().Args())
		}
		if unknown == nil {
			help(c, args)
		}
	})
	return cmp.Or(root.ExecuteContext(ctx), unknown)
}

// report prints the line about err and returns its exit code.
func report(ctx context.Context, env *Env, root *cobra.Command, err error) int {
	line := oneLine(err)
	if panicked := (*crash.Error)(nil); errors.As(err, &panicked) {
		env.Log.Debugf("%s", panicked.Stack)
		line += " (please report it; --verbose prints the stack)"
	} else if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		line = "interrupted"
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", root.Name(), line)
	if usage := (*UsageError)(nil); errors.As(err, &usage) {
		return ExitUsage
	}
	return ExitFailed
}

// prepare sets up a command tree: version, verbosity, usage errors, help and
// manual.
func prepare(env *Env, root *cobra.Command) {
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Version = version()
	root.SetFlagErrorFunc(unknownFlag)
	if root.Annotations[ownUsage] == "" {
		root.SetUsageFunc(usage)
	}
	verbose := root.PersistentFlags().Bool("verbose", false, "log more, to stderr")
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if *verbose {
			env.Log.SetLevel(env.Log.Level + 1)
		}
		return env.guardInputs(c, args)
	}
	if root.HasSubCommands() {
		root.AddCommand(newManCommand(root), newDescribeCommand(root))
	}
	visitCommands(root, func(c *cobra.Command) {
		c.Args = usageArgs(c)
		if c.HasSubCommands() && !c.Runnable() {
			c.Use += " COMMAND"
			c.RunE = func(c *cobra.Command, _ []string) error {
				return Usagef("no subcommand given; see %s -h", c.CommandPath())
			}
		}
	})
}

func visitCommands(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		visitCommands(sub, f)
	}
}

// usageArgs wraps c's checks of arguments and required flags; their errors become
// usage errors. A command with subcommands takes no arguments.
func usageArgs(c *cobra.Command) cobra.PositionalArgs {
	check := c.Args
	if check == nil && c.HasSubCommands() {
		check = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, sub.Name())
				}
			}
			return fmt.Errorf("unknown command %q%s; see %s -h", args[0], suggestion(args[0], names), c.CommandPath())
		}
	}
	if check == nil {
		check = cobra.NoArgs
	}
	return func(c *cobra.Command, args []string) error {
		for _, err := range []error{check(c, args), c.ValidateRequiredFlags(), c.ValidateFlagGroups()} {
			if err != nil {
				return &UsageError{explainUsage(c, args, err)}
			}
		}
		return nil
	}
}

// Texts of cobra about a command line.
var (
	requiredFlags  = regexp.MustCompile(`^required flag\(s\) "(.*)" not set$`)
	exclusiveFlags = regexp.MustCompile(`\[([^][]*)\] were all set$`)
	wrongArguments = regexp.MustCompile(`^(accepts|requires) .*arg\(s\)|^unknown command .* for `)
)

// explainUsage returns err with a text for users where cobra's is for programmers.
func explainUsage(c *cobra.Command, args []string, err error) error {
	text := err.Error()
	if found := requiredFlags.FindStringSubmatch(text); found != nil {
		return fmt.Errorf("want --%s; see %s -h", strings.ReplaceAll(found[1], `", "`, " and --"), c.CommandPath())
	}
	if found := exclusiveFlags.FindStringSubmatch(text); found != nil {
		return fmt.Errorf("--%s exclude each other", strings.ReplaceAll(found[1], " ", " and --"))
	}
	if wrongArguments.MatchString(text) {
		return fmt.Errorf("have %s; usage: %s", plural.Count(len(args), "argument"), c.UseLine())
	}
	return err
}

func oneLine(err error) string {
	return Plain(strings.Join(strings.Fields(strings.ReplaceAll(ErrorText(err), "\n", "; ")), " "))
}
