package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestDescribe(t *testing.T) {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool"}
	log := &cobra.Command{Use: "log", Short: "read logs"}
	stats := &cobra.Command{Use: "stats FILE", Short: "print figures", Example: "  tool log stats a.log", Run: run}
	stats.Flags().StringSlice("dim", nil, "sizes")
	stats.Flags().StringArray("set", nil, "one setting, `KEY=VALUE`")
	stats.Flags().Float64("curve", 0, "cost")
	stats.Flags().Lookup("curve").NoOptDefVal = "1"
	stats.Flags().String("unit", "", "of times")
	Values(stats, "unit", "h", "s")
	stats.ValidArgs = []string{"a", "b"}
	out := Output{}
	out.JSONFlag(stats, []removed{})
	stats.Flags().String("from", "", "begin, a `date`")
	stats.Flags().String("secret", "", "not for users")
	must(stats.Flags().MarkHidden("secret"))
	Require(stats, "from")
	log.AddCommand(stats)
	root.AddCommand(log, &cobra.Command{Use: "own", Hidden: true, Run: run})
	want := []Command{{
		Path: []string{"log", "stats"}, Use: "stats FILE", Short: "print figures", Example: "  tool log stats a.log", Values: []string{"a", "b"},
		Flags: []Flag{
			{Name: "curve", Type: "float", Bare: true, Usage: "cost", Default: "0"},
			{Name: "dim", Type: "strings", List: true, Usage: "sizes", Default: "[]"},
			{Name: "from", Type: "date", Required: true, Usage: "begin, a date"},
			{Name: "json", Type: "bool", Usage: "print JSON", Default: "false"},
			{Name: "set", Type: "KEY=VALUE", List: true, Usage: "one setting, KEY=VALUE", Default: "[]"},
			{Name: "unit", Type: "string", Usage: "of times", Values: []string{"h", "s"}},
		},
		Answers: map[string]Type{"": {Kind: "list", Item: &Type{Kind: "object", Object: "removed", Fields: []Field{{"removed", Type{Kind: "integer"}}}}}},
	}}
	if diff := cmp.Diff(want, Describe(root)); diff != "" {
		t.Errorf("(- want):\n%s", diff)
	}
}
