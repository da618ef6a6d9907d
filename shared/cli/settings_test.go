package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

type weights struct {
	Age  float64 `json:"age" help:"points for the greatest age"`
	Size float64 `json:"size"`
}

type rules struct {
	Weights weights  `json:"weights"`
	Names   []string `json:"names,omitempty" help:"who may"`
}

type machine struct {
	rules
	Nodes  int    `json:"nodes" help:"nodes"`
	Zone   string `json:"zone" help:"time zone"`
	Logged bool   `json:"logged"`
}

// load runs a command with settings and returns the values it was given.
func load(t *testing.T, text string, flags ...string) (m machine, given, stderr string) {
	t.Helper()
	m.Nodes = 4
	s := NewSettings(&m)
	var b bytes.Buffer
	env := NewEnv(nil, &b, &b)
	c := &cobra.Command{Use: "prog", RunE: func(*cobra.Command, []string) error {
		err := s.Load()
		for _, path := range []string{"nodes", "weights.age"} {
			if s.Given(path) {
				given += path + " "
			}
		}
		return err
	}}
	s.Flags(c)
	if text != "" {
		path := filepath.Join(t.TempDir(), "s.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--config", path)
	}
	Run(t.Context(), env, c, flags)
	return m, given, b.String()
}

func TestSettings(t *testing.T) {
	m, given, stderr := load(t, "nodes: 8\nzone: 12\nweights:\n  age: 7e3\n  size: 1\n", "--set", "weights.size=2.5", "--set", "names=[a, b]", "--set", "logged=true")
	if stderr != "" || m.Nodes != 8 || m.Zone != "12" || m.Weights != (weights{7000, 2.5}) || len(m.Names) != 2 || !m.Logged || given != "nodes weights.age " {
		t.Errorf("%+v, given %s, %s", m, given, stderr)
	}
	m, given, stderr = load(t, `{"weights": {"age": 1}, "logged": true}`, "--set", "weights.age=5", "--set", "logged=false")
	if stderr != "" || m.Nodes != 4 || m.Weights.Age != 5 || m.Logged || given != "weights.age " {
		t.Errorf("%+v, given %s, %s", m, given, stderr)
	}
}

func TestSettingsRefused(t *testing.T) {
	for _, c := range []struct{ text, set, want string }{
		{"nodes: 8\nweights:\n  agee: 1\n", "", `s.yaml:3: unknown setting "weights.agee": did you mean "age"?`},
		{"nodes: many\n", "", `s.yaml:1: nodes: "many": want a whole number`},
		{"nodes: 1.5\n", "", `s.yaml:1: nodes: 1.5: want a whole number`},
		{"weights: 3\n", "", `s.yaml:1: "weights": want a section`},
		{"a: [\n", "", "not a settings file"},
		{"", "nodes", "--set nodes: want KEY=VALUE"},
		{"", "weights.agee=1", `--set weights.agee=1: unknown setting "weights.agee": did you mean "age"?`},
		{"", "logged=7", "--set logged=7: logged: 7: want true or false"},
	} {
		var flags []string
		if c.set != "" {
			flags = []string{"--set", c.set}
		}
		if _, _, stderr := load(t, c.text, flags...); !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q %q: %s", c.text, c.set, stderr)
		}
	}
}

func TestHelpOfSettings(t *testing.T) {
	_, _, names := load(t, "", "--help")
	if !strings.Contains(names, "  weights.age names nodes zone\n") || strings.Contains(names, "points for") {
		t.Errorf("%s", names)
	}
	_, _, help := load(t, "", "--help", "--verbose")
	for _, want := range []string{"weights.age", "points for the greatest age", "nodes (default 4)"} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in\n%s", want, help)
		}
	}
	if strings.Contains(help, "weights.size") {
		t.Errorf("a setting without help is shown:\n%s", help)
	}
}

func TestFirstFlags(t *testing.T) {
	var b bytes.Buffer
	env := NewEnv(nil, &b, &b)
	flags := func() *cobra.Command {
		c := &cobra.Command{Use: "prog", RunE: func(*cobra.Command, []string) error { return nil }}
		c.Flags().Int("alpha", 0, "the first letter")
		c.Flags().Int("zeta", 0, "the last letter")
		First(c, "zeta")
		return c
	}
	if Run(t.Context(), env, flags(), []string{"-h"}); !strings.Contains(b.String(), "Flags:\n      --zeta int") || strings.Index(b.String(), "More flags:") > strings.Index(b.String(), "--alpha") {
		t.Error(b.String())
	}
	b.Reset()
	if Run(t.Context(), env, flags(), []string{"--alpa", "3"}); b.String() != "prog: unknown flag: --alpa: did you mean \"--alpha\"?; see prog -h\n" {
		t.Error(b.String())
	}
}
