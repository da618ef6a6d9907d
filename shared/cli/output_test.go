package cli

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/uncertainty"
)

func interval(value, low, high float64) uncertainty.Prediction {
	return uncertainty.Prediction{Value: value, Low: low, High: high, Level: 0.9}
}

func TestTable(t *testing.T) {
	tests := []struct {
		name   string
		header []string
		rows   [][]any
		want   string
	}{
		{"no rows", []string{"a", "b"}, nil, "a  b\n-  -\n"},
		{"empty", nil, nil, ""},
		{"no header", nil, [][]any{{"a", 1}, {"bcd", 20}}, "a     1\nbcd  20\n"},
		{
			"words left, numbers right",
			[]string{"name", "n"}, [][]any{{"é", 1}, {"longer", -22.5}},
			"name        n\n------  -----\né           1\nlonger  -22.5\n",
		},
		{"short and long rows", []string{"a"}, [][]any{{}, {"x", "y"}}, "a\n-  -\n\nx  y\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table := Table{Header: tt.header}
			for _, row := range tt.rows {
				table.Add(row...)
			}
			var b strings.Builder
			if _, err := table.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", b.String(), tt.want)
			}
		})
	}
}

// Longer cells of a limited column wrap at blanks, and words that are too long anywhere.
func TestTableWidths(t *testing.T) {
	table := Table{Header: []string{"a", "b"}, Widths: []int{6}}
	table.Add("one two", 1)
	table.Add("unbroken", 2)
	var b strings.Builder
	if _, err := table.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if want := "a       b\n------  -\none     1\ntwo\nunbrok  2\nen\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestText(t *testing.T) {
	x := 2.
	var none *float64
	for _, c := range []struct {
		cell any
		want string
	}{
		{nil, "-"}, {none, "-"}, {&x, "2.00"}, {math.NaN(), "-"}, {math.Inf(1), "-"},
		{0., "0"}, {1234.567, "1235"}, {12.3456, "12.3"}, {.00123456, "0.00123"}, {1.5e-7, "1.5e-07"}, {-22.5, "-22.5"},
		{7, "7"}, {"text", "text"}, {Share(.8468), "84.7 %"},
		{interval(46.87, 36.93, 56.81), "46.9 [36.9, 56.8]"},
		{interval(1510, 1391, 1630), "1510 [1391, 1630]"},
		{interval(5.342, .371, 149.67), "5.3 [0.4, 149.7]"},
		{uncertainty.Point(5.342), "5.34"},
		{Quantity{Prediction: interval(1, .5, 2), Unit: "h"}, "1.00 h, 0.50 to 2.00 (90 %)"},
		{Seconds(uncertainty.Point(.00254)), "2.54 ms"},
		{Seconds(interval(90, 80, 99)), "90.0 s, 80.0 to 99.0 (90 %)"},
		{Seconds(uncertainty.Point(150)), "2.50 min"},
		{Seconds(uncertainty.Point(108000)), "30.0 h"},
		{Seconds(uncertainty.Point(0)), "0 s"},
		{errors.New("why"), "why"},
	} {
		if got := Text(c.cell); got != c.want {
			t.Errorf("%v: %q, want %q", c.cell, got, c.want)
		}
	}
}

// printed runs a command that prints one answer, with flags.
func printed(t *testing.T, flags ...string) (stdout string, code int) {
	t.Helper()
	var b bytes.Buffer
	env := NewEnv(nil, &b, &b)
	var out Output
	c := &cobra.Command{Use: "prog", RunE: func(*cobra.Command, []string) error {
		err := out.Draw(func() (chart.Chart, error) {
			return chart.Lines{Series: []chart.Series{{Name: "a", X: []float64{0, 1}, Y: []float64{1, 2}}}}, nil
		})
		if err != nil {
			return err
		}
		return out.Print(env, map[string]int{"n": 1}, func(p *Page) {
			p.Line("first")
			p.Line("second")
			table := p.Table("name", "wait (h)")
			table.Add("a", interval(1.23456, 1, 2))
			table.Add("b", nil)
			p.Line("last")
		})
	}}
	out.Flags(c, map[string]int{})
	out.PlotFlag(c, "it")
	code = Run(t.Context(), env, c, flags)
	return b.String(), code
}

func TestOutput(t *testing.T) {
	const page = "first\nsecond\n\nname           wait (h)\n----  -----------------\na     1.23 [1.00, 2.00]\nb                     -\n\nlast\n"
	const rows = "name,wait (h),wait (h) low,wait (h) high\na,1.23456,1,2\nb,,,\n"
	file := filepath.Join(t.TempDir(), "a.csv")
	plot := filepath.Join(t.TempDir(), "a.svg")
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{nil, page},
		{[]string{"--json"}, "{\n  \"n\": 1\n}\n"},
		{[]string{"--csv", "-"}, rows},
		{[]string{"--csv", file}, page},
		{[]string{"--plot", plot}, page},
	} {
		if got, code := printed(t, c.flags...); got != c.want || code != ExitDone {
			t.Errorf("%v: exit %d\n%s\nwant:\n%s", c.flags, code, got, c.want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != rows {
		t.Errorf("%v, %q", err, text)
	}
	if text, err := os.ReadFile(plot); err != nil || !bytes.Contains(text, []byte("<svg")) {
		t.Errorf("%v, %q", err, text)
	}
}

func TestWarn(t *testing.T) {
	warnings := []string{"If_1: the dearer branch is counted", "no weights", "If_2: the dearer branch is counted", "If_3: the dearer branch is counted"}
	for _, level := range []logrus.Level{logrus.InfoLevel, logrus.DebugLevel} {
		var b bytes.Buffer
		env := NewEnv(nil, nil, &b)
		env.Log.SetLevel(level)
		Warn(env, warnings)
		want := 2
		if level == logrus.DebugLevel {
			want = 4
		}
		if got := strings.Count(b.String(), "\n"); got != want {
			t.Errorf("%v: %d lines:\n%s", level, got, b.String())
		}
		if folded := strings.Contains(b.String(), "If_1: the dearer branch is counted (and 2 more like it"); folded != (want == 2) {
			t.Errorf("%v:\n%s", level, b.String())
		}
	}
}
