package scripttest

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestGuide(t *testing.T) {
	Guide(t, "testdata/guide.md", testscript.Params{}, "sleep 100", "sleep 200")
}

// TestCompare checks that a guide's output is compared exactly, except for the
// numbers that it marks as varying.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		want, varies, got string
		same              bool
	}{
		{"a  12.5 s\n", "", "a  12.5 s\n", true},
		{"a  12.5 s\n", "", "a  12.6 s", false},
		{"a  12.5 s\n", "", "a 12.5 s", false},
		{"a  12.5 s\n", "12.5 in 4..20", "a 4 s", true},
		{"a  12.5 s\n", "12.5 in 4..20", "a   3 s", false},
		{"a  12.5 s\n", "12.5 in 4..20", "a 4 ms", false},
		{"a 12.5 s, 112.5 s\n", "12.5 in 4..20", "a 7 s, 112.5 s", true},
		{"a 12.5 s, 112.5 s\n", "12.5 in 4..20", "a 7 s, 113.5 s", false},
		{"1 2\n", "1 in 1..5, 2 in 6..9 ", "1 7\n", false},
		{"1 2\n", "1 in 1..5, 2 in 2..9", "3 7\n", true},
		{"1 2 3\n", "1 <= 3, 2", "5 99 6\n", true},
		{"1 2 3\n", "1 <= 3, 2", "5 99 4\n", false},
		{"2 3\n", "1 <= 2 <= 3", "0.9 3\n", false},
		{"2 3\n", "1 <= 2 <= 3", "1 1\n", true},
		{"first\n...\nlast\n", "", "first\nx\ny\nlast\n", true},
		{"first\n...\nlast\n", "", "x\nfirst\ny\nlast\n", false},
		{"first\n...\nlast\n", "", "first\nlast\n", true},
		{"...\nfirst\n", "", "first\n", true},
		{"first\n...\n", "", "first\n", true},
		{"first\n...\n", "", "first\nx\ny\n", true},
		{"first\n...\n", "", "first x\n", false},
		{"...\nfirst\n", "", "x\nfirst\n", true},
		{"...\nfirst\n", "", "x first\n", false},
		{"a\n", "", "a\nb\n", false},
		{"---  ---- 1\n", "1 in 1..2", "-----  -- 2\n", true},
	} {
		s := step{want: c.want}
		if c.varies != "" {
			var err error
			if s.varies, err = ranges(c.varies); err != nil {
				if c.same {
					t.Errorf("%q: %v", c.varies, err)
				}
				continue
			}
		}
		if err := s.compare(c.got); (err == nil) != c.same {
			t.Errorf("%q for %q: %v", c.got, c.want, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"no block":                       "no command",
		"```console\noutput\n```\n":      "line 2: output before any command",
		"```console\n$ true\n```\nother": `"missing", to be replaced`,
		"<!-- varies: 3 in 4..5 -->":     "line 1: varies: \"3 in 4..5\": 3 is no number, or not in the range",
		"<!-- varies: 3 in 1..6 -->":     "HIGH at most 5 times LOW",
		"<!-- varies: x <= 3 -->":        "x is no number",
	} {
		if _, err := parse(text, []string{"missing", "x"}[:2*strings.Count(text, "other")]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The columns of a table are as wide as their values on the machine at hand: a
// process number has one to seven digits.
func TestFoldColumns(t *testing.T) {
	wide := "session x\n\n PID  program\n----  -------\n4472  train\n"
	narrow := "session x\n\nPID  program\n---  -------\n585  train\n"
	a, b := strings.ReplaceAll(foldColumns(wide), "4472", "N"), strings.ReplaceAll(foldColumns(narrow), "585", "N")
	if a != b {
		t.Errorf("%q\n%q", a, b)
	}
}
