package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

func TestErrorText(t *testing.T) {
	parse := func(text string) error {
		var v struct {
			A struct {
				N int
				L []float64
			}
		}
		return fmt.Errorf("f.json: %w", json.Unmarshal([]byte(text), &v))
	}
	flag := func(args ...string) error {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.Int("n", 0, "")
		f.Float64("x", 0, "")
		f.Bool("b", false, "")
		f.Duration("d", time.Second, "")
		return f.Parse(args)
	}
	document := func(text string) error {
		var v struct {
			N int
			L []string
			M map[string]int
			D time.Duration
		}
		dec := yaml.NewDecoder(strings.NewReader(text))
		dec.KnownFields(true)
		return fmt.Errorf("f.yaml: %w", dec.Decode(&v))
	}
	_, number := strconv.Atoi("1 2")
	_, large := strconv.ParseFloat("1e999", 64)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{parse(`{"A":x}`), "f.json: not JSON: unexpected 'x' at byte 6"},
		{parse(`{"A":'`), `f.json: not JSON: unexpected '\'' at byte 6`},
		{parse(`{"A":`), "f.json: not JSON: it ends early, at byte 5"},
		{parse(`{"A":{"N":"many"}}`), "f.json: A.N: want a whole number, found a text"},
		{parse(`{"A":{"N":1.5}}`), "f.json: A.N: want a whole number, found 1.5"},
		{parse(`{"A":{"L":{}}}`), "f.json: A.L: want a list, found an object"},
		{parse(`[1]`), "f.json: want an object, found a list"},
		{fmt.Errorf("f:3: nodes: %w", number), `f:3: nodes: "1 2" is not a whole number`},
		{large, `"1e999" is out of range`},
		{document("n: many\nl: 3"), "f.yaml: line 1: want a whole number, found many; line 2: want a list, found 3"},
		{document("n: 1\nevery: 3"), "f.yaml: line 2: no such entry: every"},
		{document("d: 10"), "f.yaml: line 1: want a duration such as 90s or 1h30m, found 10"},
		{document("m: [1]"), "f.yaml: line 1: want a section of names and values"},
		{fmt.Errorf("f: %w", io.ErrUnexpectedEOF), "f: it ends early"},
		{flag("--n=many"), `--n: "many" is not a whole number`},
		{flag("--x=many"), `--x: "many" is not a number`},
		{flag("--b=many"), `--b: "many" is not true or false`},
		{flag("--d=many"), `--d: "many" is not a duration such as 90s or 1h30m`},
	} {
		if got := ErrorText(tt.err); got != tt.want {
			t.Errorf("%v:\n got %s\nwant %s", tt.err, got, tt.want)
		}
	}
}
