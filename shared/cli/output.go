package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/foretime/foretime/shared/chart"
)

// Output prints a command's answer: as a page for people, as JSON, as CSV or as a
// chart.
type Output struct {
	json      bool
	csv, plot string
	answers   map[string]any // values of the types that Print gets, by flag; "" for no flag
}

// JSONFlag adds --json to c, for answers without a table. The answer is a value of the
// type that Print gets, or nil for a stream.
func (o *Output) JSONFlag(c *cobra.Command, answer any) {
	o.answers = map[string]any{"": answer}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.Flag("json").Value = jsonFlag{c.Flag("json").Value, o.answers}
}

// AnswerWith declares that the answer has another type if a flag is given.
func (o *Output) AnswerWith(flag string, answer any) { o.answers[flag] = answer }

// Flags adds --json and --csv to c. The answer is as for JSONFlag.
func (o *Output) Flags(c *cobra.Command, answer any) {
	o.JSONFlag(c, answer)
	c.Flags().StringVar(&o.csv, "csv", "", "write the table to this CSV file; - is standard output")
	must(c.MarkFlagFilename("csv", "csv"))
	OutputFile(c, "csv")
	c.MarkFlagsMutuallyExclusive("json", "csv")
}

// jsonFlag is the flag --json, which knows the answers of its command.
type jsonFlag struct {
	pflag.Value
	answers map[string]any
}

// PlotFlag adds --plot, for an answer that has a chart.
func (o *Output) PlotFlag(c *cobra.Command, what string) {
	c.Flags().StringVar(&o.plot, "plot", "", "draw "+what+" to this file, .svg, .png or .jpg")
	c.Flag("plot").Value = plotFlag{c.Flag("plot").Value}
	must(c.MarkFlagFilename("plot", "svg", "png"))
	OutputFile(c, "plot")
}

// plotFlag is the flag --plot, which refuses a file that no chart can be saved to.
type plotFlag struct{ pflag.Value }

// Set takes the path of a file.
func (f plotFlag) Set(path string) error {
	if err := chart.Check(path); path != "" && err != nil {
		return err
	}
	return f.Value.Set(path)
}

// JSON reports whether --json was given, for commands that stream their answers.
func (o *Output) JSON() bool { return o.json }

// OnStdout reports whether the answer takes standard output whole, as JSON or CSV.
func (o *Output) OnStdout() bool { return o.json || o.csv == "-" }

// Print prints an answer: value as JSON, or the page that show fills. It calls show
// only if the page is wanted. In a test it panics if the type of the answer is not declared.
func (o *Output) Print(env *Env, value any, show func(*Page)) error {
	if o.json {
		if testing.Testing() && !o.declares(value) {
			panic(fmt.Sprintf("an answer of the type %T is not declared", value))
		}
		return env.writeAnswer(value)
	}
	var p Page
	if env.doubt != "" {
		p.Line("doubtful: %s", env.doubt)
	}
	show(&p)
	switch {
	case o.csv == "":
		_, err := p.WriteTo(env.Stdout)
		return err
	case p.first() == nil:
		return Usagef("--csv: this answer has no table")
	}
	if err := env.Write(o.csv, p.first().writeCSV); err != nil || o.csv == "-" {
		return err
	}
	_, err := p.WriteTo(env.Stdout)
	return err
}

// declares reports whether the type of an answer is a declared one, which the Python packages
// read. A list of one may be printed as its item.
func (o *Output) declares(value any) bool {
	got := dereference(reflect.TypeOf(value))
	for _, answer := range o.answers {
		want := reflect.TypeOf(answer)
		if want == got || answer != nil && want.Kind() == reflect.Slice && dereference(want.Elem()) == got {
			return true
		}
	}
	return false
}

// writeAnswer prints an answer as JSON; an object gets the doubt about the input as
// its first field.
func (e *Env) writeAnswer(value any) error {
	if e.doubt == "" {
		return e.WriteJSON(value)
	}
	b, err := json.Marshal(value)
	if err != nil || !bytes.HasPrefix(b, []byte(`{"`)) {
		return e.WriteJSON(value)
	}
	doubt, err := json.Marshal(e.doubt)
	if err != nil {
		return err
	}
	return e.WriteJSON(json.RawMessage(slices.Concat([]byte(`{"doubt":`), doubt, []byte(","), b[1:])))
}

// Draw saves the chart that build returns, if --plot names a file.
func (o *Output) Draw(build func() (chart.Chart, error)) error {
	if o.plot == "" {
		return nil
	}
	c, err := build()
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return chart.Save(o.plot, c)
}

// Page holds lines and tables in reading order, with an empty line around each
// table.
type Page struct{ parts []io.WriterTo }

// Line adds a line of text. Arguments are escaped as by [Plain].
func (p *Page) Line(format string, args ...any) {
	p.parts = append(p.parts, lineOf(plainf(format, args...)+"\n"))
}

// Table adds an empty table and returns it.
func (p *Page) Table(header ...string) *Table {
	t := &Table{Header: header}
	p.parts = append(p.parts, t)
	return t
}

func (p *Page) first() *Table {
	for _, part := range p.parts {
		if t, ok := part.(*Table); ok {
			return t
		}
	}
	return nil
}

// WriteTo prints the page.
func (p *Page) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	for i, part := range p.parts {
		_, table := part.(*Table)
		if i > 0 {
			if _, before := p.parts[i-1].(*Table); table || before {
				b.WriteByte('\n')
			}
		}
		if _, err := part.WriteTo(&b); err != nil {
			return 0, err
		}
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

type lineOf string

func (l lineOf) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, string(l))
	return int64(n), err
}

// differs matches the parts in which warnings of one kind may differ: quoted text,
// and words with a digit or a slash.
var differs = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s:;,()]*[0-9/][^\s:;,()]*`)

// Warn logs warnings. Of those that differ only in names or numbers it logs the
// first, with their count; --verbose logs all.
func Warn[T any](env *Env, warnings []T) {
	count := map[string]int{}
	kind := func(w T) string { return differs.ReplaceAllString(fmt.Sprint(w), "#") }
	for _, w := range warnings {
		count[kind(w)]++
	}
	for _, w := range warnings {
		switch n := count[kind(w)]; {
		case n == 1 || env.Verbose():
			env.Log.Warn(w)
		case n > 1:
			env.Log.Warnf("%v (and %d more like it; --verbose lists them)", w, n-1)
			count[kind(w)] = 0
		}
	}
}
