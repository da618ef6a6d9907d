package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/uncertainty"
)

// hostile is a name with every kind of character that a terminal interprets.
const hostile = "node\x1b[2J\x07\r\n\u009b31m\u202ename\u2066\u2028\xff\U000e0041"

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"rpi-4 Zürich 東京 −1 µs": "rpi-4 Zürich 東京 −1 µs",
		"می\u200cخواهم":         "می\u200cخواهم",
		hostile:                 `node\x1b[2J\a\r\n\u009b31m\u202ename\u2066\u2028\xff\U000e0041`,
		"\x00\x7f\t":            `\x00\x7f\t`,
		"\ufeff\u00ad\u200f":    `\ufeff\u00ad\u200f`,
		"\ufffd":                `\ufffd`,
		`\x1b`:                  `\x1b`,
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// obeyed returns the characters of a text that a terminal interprets, without line
// feeds.
func obeyed(text string) string {
	return strings.Map(func(r rune) rune {
		if unsafe(r) && r != '\n' {
			return r
		}
		return -1
	}, text)
}

type label string

// TestHostileNames checks that no name reaches a terminal unescaped on any path.
func TestHostileNames(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		for _, args := range [][]string{{}, {"--json"}, {"--csv", "-"}} {
			var stdout, stderr bytes.Buffer
			env := NewEnv(nil, &stdout, &stderr)
			env.Terminal = terminal
			if f, ok := env.Log.Formatter.(*plainLog); ok {
				f.DisableColors, f.ForceColors = !terminal, terminal
			} else {
				t.Fatalf("the formatter is %T", env.Log.Formatter)
			}
			env.Doubt(hostile)
			var out Output
			root := &cobra.Command{Use: "prog", RunE: func(*cobra.Command, []string) error {
				Warn(env, []error{errors.New(hostile)})
				env.Log.WithField("node", hostile).Warn("slow")
				err := out.Print(env, map[string]string{hostile: hostile}, func(p *Page) {
					p.Line("%s %v %v %q", hostile, errors.New(hostile), []string{hostile}, label(hostile))
					p.Line("%v", struct{ Name string }{hostile})
					table := p.Table("name", hostile)
					table.Add(hostile, label(hostile))
					table.Add(errors.New(hostile), 1)
				})
				return errors.Join(err, errors.New(hostile))
			}}
			out.Flags(root, map[string]string{})
			if code := Run(t.Context(), env, root, args); code != ExitFailed {
				t.Errorf("exit code %d", code)
			}
			said := strings.NewReplacer("\x1b[33m", "", "\x1b[0m", "").Replace(stderr.String()) // the colour that logrus gives a warning
			if o := obeyed(stdout.String()) + obeyed(said); o != "" {
				t.Errorf("terminal %v, %v: %q in\n%q\n%q", terminal, args, o, stdout.String(), stderr.String())
			}
			if n := strings.Count(stdout.String(), "\nname") + strings.Count(said, "\nname"); n > 1 {
				t.Errorf("terminal %v, %v: a name begins a line", terminal, args)
			}
			if len(args) > 0 && args[0] == "--json" {
				var got map[string]string
				if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got[strings.ToValidUTF8(hostile, "\ufffd")] != strings.ToValidUTF8(hostile, "\ufffd") {
					t.Errorf("JSON lost something: %v, %q", err, got)
				}
			}
		}
	}
}

// TestFormulas checks that a CSV file for people holds numbers as numbers, and no
// formula.
func TestFormulas(t *testing.T) {
	pointer := "=1+1"
	for _, c := range []struct {
		cell any
		want string
	}{
		{"plain", "plain"},
		{"=1+1", "'=1+1"},
		{label("=1+1"), "'=1+1"},
		{&pointer, "'=1+1"},
		{errors.New("@SUM(A1)"), "'@SUM(A1)"},
		{"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"},
		{"-2+3", "'-2+3"},
		{"\uff1d1+1", "'\uff1d1+1"},
		{"\t=1+1", `\t=1+1`},
		{"\r=1+1", `\r=1+1`},
		{"-1.5", "-1.5"},
		{"+1e9", "+1e9"},
		{"-", "-"},
		{"", ""},
		{-1.5, "-1.5"},
		{-3, "-3"},
		{-2 * time.Second, "-2s"},
		{Share(-0.5), "-0.5"},
		{math.Inf(-1), ""},
	} {
		var b bytes.Buffer
		table := Table{Header: []string{"=name"}}
		table.Add(c.cell)
		if err := table.writeCSV(&b); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(b.String() + "\n")).ReadAll()
		if c.want == "" {
			continue // the reader skips empty lines
		}
		if err != nil || len(rows) != 2 || rows[0][0] != "'=name" || rows[1][0] != c.want {
			t.Errorf("%v: %q, %v, want %q", c.cell, b.String(), err, c.want)
		}
	}
	var b bytes.Buffer
	table := Table{Header: []string{"s"}}
	table.Add(uncertainty.Prediction{Value: -1, Low: -2, High: -0.5})
	if err := table.writeCSV(&b); err != nil || b.String() != "s,s low,s high\n-1,-2,-0.5\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
