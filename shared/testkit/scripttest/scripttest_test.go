package scripttest_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/testkit/scripttest"
)

func TestMain(m *testing.M) { scripttest.Main(m, "prog", program, nil) }

func TestScripts(t *testing.T) { scripttest.Run(t, testscript.Params{}) }

// program has one subcommand for each way that a process ends.
func program(env *cli.Env) *cobra.Command {
	root := &cobra.Command{Use: "prog", Short: "a program"}
	add := func(use string, run func(*cobra.Command) error) *cobra.Command {
		c := &cobra.Command{Use: use, RunE: func(c *cobra.Command, _ []string) error { return run(c) }}
		root.AddCommand(c)
		return c
	}
	need := add("need", func(*cobra.Command) error { return nil })
	need.Flags().String("rows", "", "")
	need.Flags().Bool("a", false, "")
	need.Flags().Bool("b", false, "")
	need.MarkFlagsMutuallyExclusive("a", "b")
	cli.Require(need, "rows")

	add("panic", func(*cobra.Command) error { crash.Go(func() { panic("boom") }); select {} })
	add("group", func(*cobra.Command) error {
		var g crash.Group
		g.Go(func() error { panic("boom") })
		return fmt.Errorf("sum: %w", g.Wait())
	})
	add("hangup", func(c *cobra.Command) error {
		hangUp()
		<-c.Context().Done()
		hangUp() // the shell's signal in addition to the terminal's
		time.Sleep(50 * time.Millisecond)
		fmt.Fprintln(env.Stdout, "cleaned up")
		return c.Context().Err()
	})
	add("spin", func(c *cobra.Command) error {
		for c.Context().Err() == nil {
		}
		return c.Context().Err()
	})
	add("wait", func(c *cobra.Command) error { <-c.Context().Done(); return c.Context().Err() })
	add("nohup", func(c *cobra.Command) error {
		hangUp()
		select {
		case <-c.Context().Done():
			return errors.New("ended by a hang-up that is ignored")
		case <-time.After(100 * time.Millisecond):
			return nil
		}
	})
	add("reload", func(c *cobra.Command) error {
		hangups := cli.Signals(env, syscall.SIGHUP)
		hangUp()
		<-hangups
		fmt.Fprintln(env.Stdout, "read again")
		return c.Context().Err()
	})
	return root
}

func hangUp() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		panic(err)
	}
}
