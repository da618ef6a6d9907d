package progress

import (
	"slices"
	"testing"
	"unicode/utf16"
)

// TestSplitter cuts what programs print in pieces of any size into lines and drawings.
func TestSplitter(t *testing.T) {
	wide := func(text string, big bool) string {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			if big {
				b = append(b, byte(u>>8), byte(u))
			} else {
				b = append(b, byte(u), byte(u>>8))
			}
		}
		return string(b)
	}
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"lines", "a 1\nb\n\nc 2\r\n", []string{"a 1", "c 2"}},
		{"half a line waits", "a 1\nb 2", []string{"a 1"}},
		{"a bar is drawn at once", "a 1\n\r1/9 [ ]\r2/9 [ ]", []string{"a 1", "1/9 [ ]", "2/9 [ ]"}},
		{"moves of the cursor", "\x1b[2K1/9 \x1b[32m[ ]\x1b[0m\x1b[1A\x1b[2K2/9 [ ]\x1b[1A", []string{"1/9 [ ]", "2/9 [ ]"}},
		{"backspaces", "1/9 [ ]\b\b2/9 [ ]\n", []string{"1/9 [ ]", "2/9 [ ]"}},
		{"UTF-16", wide("a 1\népoque 2█\n", false), []string{"a 1", "époque 2█"}},
		{"UTF-16, big end first", wide("a 1\n", true), []string{"a 1"}},
	} {
		var s Splitter
		var got []string
		s.Split([]byte(tt.text), func(line string) { got = append(got, line) })
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		// However it is cut, the complete lines are the same: the drawings in between too, or
		// the begins of them.
		s, got = Splitter{}, nil
		for _, b := range []byte(tt.text) {
			s.Split([]byte{b}, func(line string) { got = append(got, line) })
		}
		for _, line := range tt.want {
			if tt.name != "moves of the cursor" && tt.name[:4] != "UTF-" && !slices.Contains(got, line) {
				t.Errorf("%s, byte by byte: %q lacks %q", tt.name, got, line)
			}
		}
	}
}
