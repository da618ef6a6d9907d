package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestOutputs checks that an output that is an input, under any name, is wrong
// usage, and that the command does not run.
func TestOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"in.csv", "other.csv", "dir/part.csv", "default.json"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Link("in.csv", "hard.csv"), os.Symlink("in.csv", "soft.csv"), os.Symlink("dir", "way")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string // part of the error; "" for none
	}{
		{"in.csv --out new.csv", ""},
		{"in.csv --out other.csv", ""}, // replaced on the user's request
		{"in.csv --out -", ""},
		{"in.csv --out in.csv", "--out in.csv: it would replace an input of this command, in.csv"},
		{"in.csv --csv ./in.csv", "--csv ./in.csv"},
		{"in.csv --csv hard.csv", "--csv hard.csv"},
		{"in.csv --csv soft.csv", "--csv soft.csv"},
		{"soft.csv --csv in.csv", "--csv in.csv"},
		{"--from in.csv --out in.csv", "--from in.csv"},
		{"--from file:in.csv --out in.csv", "--from in.csv"},
		{"--list other.csv,in.csv --out in.csv", "--list in.csv"},
		{"--list a=in.csv --out in.csv", "--list in.csv"},
		{"--out in.csv -- python in.csv", "--out in.csv"},
		{"dir --out way/part.csv", "--out way/part.csv"},
		{"in.csv --out new.csv --csv ./new.csv", "names the same file"},
		{"in.csv --out way/new.csv --csv dir/new.csv", "names the same file"},
		{"in.csv --kept in.json", ""},
		{"word in.csv --out in.csv", ""},
		{"later --out other.csv", "--out other.csv"},
		{"makes in.csv", "output in.csv"},
		{"makes other.csv --out way/new.csv", ""},
		{"makes other.csv --out ./new.csv", "output new.csv: --out names the same file"},
		{"preset", "default.json exists: --out default.json replaces it"},
		{"preset --out default.json", ""},
	} {
		var b bytes.Buffer
		env := NewEnv(nil, &b, &b)
		env.Companions = func(path string) []string {
			found, _ := filepath.Glob(filepath.Join(path, "*.csv"))
			if path == "" {
				return nil
			}
			return found
		}
		ran := false
		run := func(*cobra.Command, []string) { ran = true }
		root := &cobra.Command{Use: "prog", Args: cobra.ArbitraryArgs, Run: run}
		flags := func(c *cobra.Command) *cobra.Command {
			var out Output
			out.Flags(c, nil)
			c.Flags().String("out", "", "")
			c.Flags().String("kept", "", "")
			c.Flags().String("from", "", "")
			c.Flags().StringSlice("list", nil, "")
			OutputFile(c, "out")
			return c
		}
		word := flags(&cobra.Command{Use: "word", Args: cobra.ExactArgs(1), Run: run})
		Words(word)
		preset := &cobra.Command{Use: "preset", Run: run}
		preset.Flags().String("out", "default.json", "")
		OutputFile(preset, "out")
		root.AddCommand(word, preset, flags(&cobra.Command{Use: "later", RunE: func(*cobra.Command, []string) error {
			return env.Input("other.csv")
		}}), flags(&cobra.Command{Use: "makes", Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
			err := env.Output("new.csv", "kept.csv", "kept.csv")
			if err == nil && args[0] == "in.csv" {
				err = env.Output("in.csv")
			}
			ran = err == nil
			return err
		}}))
		run1 := strings.Fields(c.args)
		if first := run1[0]; first != "word" && first != "later" && first != "makes" && first != "preset" {
			root.AddCommand(flags(&cobra.Command{Use: "any", Args: cobra.ArbitraryArgs, Run: run}))
			run1 = append([]string{"any"}, run1...)
		}
		code := Run(t.Context(), env, root, run1)
		if c.want == "" && (code != ExitDone || !ran) || c.want != "" && (code != ExitUsage || ran || !strings.Contains(b.String(), c.want)) {
			t.Errorf("%s: exit code %d, ran %v, %q, want %q", c.args, code, ran, b.String(), c.want)
		}
	}
}

// TestOutputDirectory checks that an output whose directory takes no file is an error before
// the command runs, and that the check leaves no file.
func TestOutputDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("none/new.csv", "link"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{"none/new.csv", "prog: open none/new.csv: no such file or directory\n"},
		{"file/new.csv", "prog: open file/new.csv: not a directory\n"},
		{"link", "prog: open ./none/new.csv: no such file or directory\n"},
		{"new.csv", ""},
	} {
		var b bytes.Buffer
		ran := false
		root := &cobra.Command{Use: "prog", Run: func(*cobra.Command, []string) { ran = true }}
		root.Flags().String("out", "", "")
		OutputFile(root, "out")
		code := Run(t.Context(), NewEnv(nil, &b, &b), root, []string{"--out", c.path})
		if ran != (c.want == "") || ran != (code == ExitDone) || b.String() != c.want {
			t.Errorf("%s: exit code %d, ran %v, %q, want %q", c.path, code, ran, b.String(), c.want)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
}
