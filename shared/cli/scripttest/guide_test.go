package scripttest

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestGuide(t *testing.T) {
	Guide(t, "testdata/guide.md", testscript.Params{}, "sleep 100", "sleep 200")
}

// What a guide shows is held against what is printed: words, not numbers.
func TestShaped(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"a  12.5 s\n", "a 3 s", true},
		{"a  12.5 s\n", "a 3 ms", false},
		{"wait +2:10:05, 1e-3\n", "wait 7, 8\n", true},
		{"first\n...\nlast\n", "first\nx\ny\nlast\n", true},
		{"first\n...\nlast\n", "x\nfirst\ny\nlast\n", false},
		{"a [0.1, 0.2]\n", "a (0.1, 0.2)\n", false},
		{"a\n", "a\nb\n", false},
		{"---  ----\n", "-----  --\n", true},
	} {
		if got := shaped(c.want, c.got); got != c.same {
			t.Errorf("%q for %q: %v", c.got, c.want, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"no block":                       "no command",
		"```console\noutput\n```\n":      "line 2: output before any command",
		"```console\n$ true\n```\nother": `"missing", to be replaced`,
	} {
		if _, err := parse(text, []string{"missing", "x"}[:2*strings.Count(text, "other")]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
