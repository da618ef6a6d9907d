package runner

import (
	"strings"
	"testing"
)

// The last complete text counts, however the output is cut.
func TestCosts(t *testing.T) {
	const o, c = costsOpen, costsClose
	for _, tt := range []struct{ out, want string }{
		{"", ""}, {"noise", ""}, {o + "a" + c, "a"}, {"x<" + o + "a" + c + "y", "a"},
		{o + "a" + c + o + "b" + c, "b"}, {o + "a" + c + o + "torn", "a"}, {o + "torn" + o + "b" + c, "b"},
		{c + "a" + o, ""}, {o + c, ""}, {"<TIME_WRITTER_OUTPUT>[1.0]</TIME_WRITTER_OUTPUT>\n" + o + "a" + c, "a"},
		{o + strings.Repeat("x", mostCosts) + "\n" + o + "b" + c, "b"},
	} {
		for _, step := range []int{1, 7, len(tt.out) + 1} {
			if len(tt.out) > mostCosts && step < 100 {
				step = 1 << 16
			}
			var got costs
			for rest := tt.out; rest != ""; {
				n := min(step, len(rest))
				got.write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if string(got.last) != tt.want {
				t.Errorf("%.60q in steps of %d: %q, want %q", tt.out, step, got.last, tt.want)
			}
		}
	}
}
