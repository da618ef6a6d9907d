package progress

import (
	"bytes"
	"regexp"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// keptBytes bounds what is kept of a line.
const keptBytes = 1 << 20

// escape begins a control sequence.
const escape = '\x1b'

// controls are colours, titles and moves of a terminal's cursor; moves end a drawing.
var (
	controls = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]`)
	moves    = regexp.MustCompile(`\x1b\[[0-9;?]*[ABEFGHJK]`)
)

// Splitter cuts what a program prints into lines, and what a bar draws into
// drawings. It reads UTF-16 that begins with a byte order mark. Its zero value is ready.
type Splitter struct {
	All   bool // yields lines without a number too
	rest  []byte
	shown int // of rest, what was yielded as a drawing
	drawn bool
	wide  *encoding.Decoder // of UTF-16; nil without it
	odd   []byte            // half a character
	begun bool              // something was read
}

// Split yields the lines that b completes, those with a number, a tag or names of columns
// where not all are wanted, and the drawing of a bar that b ends with. Of a line longer than a MiB
// the beginning counts.
func (s *Splitter) Split(b []byte, line func(string)) {
	b = s.decode(b)
	for len(b) > 0 {
		i := bytes.IndexAny(b, "\r\n\b")
		part := b
		if i >= 0 {
			part = b[:i]
		}
		if room := keptBytes - len(s.rest); room > 0 {
			s.rest = append(s.rest, part[:min(room, len(part))]...)
		}
		if i < 0 {
			s.draw(line)
			return
		}
		if len(s.rest) != s.shown || !s.drawn {
			s.yield(s.rest, line)
		}
		s.drawn = b[i] == '\r' || b[i] == '\b'
		s.rest, s.shown = s.rest[:0], 0
		b = b[i+1:]
	}
}

// draw yields what a bar has drawn so far: after a carriage return or a move of the
// cursor a program writes all of a drawing at once.
func (s *Splitter) draw(line func(string)) {
	var at [][]int
	if bytes.IndexByte(s.rest, escape) >= 0 {
		at = moves.FindAllIndex(s.rest, -1)
	}
	if len(at) > 0 {
		last := at[len(at)-1][1]
		s.yield(s.rest[:last], line)
		s.rest, s.drawn = append(s.rest[:0], s.rest[last:]...), true
	}
	if n := len(s.rest); s.drawn && !s.All && n > 0 && !isDigit(s.rest[n-1]) {
		s.yield(s.rest, line)
		s.shown = n
	}
}

func (s *Splitter) yield(text []byte, line func(string)) {
	if bytes.IndexByte(text, escape) < 0 {
		s.pass(text, line)
		return
	}
	begin := 0
	for _, at := range append(moves.FindAllIndex(text, -1), []int{len(text), len(text)}) {
		s.pass(controls.ReplaceAll(text[begin:at[0]], nil), line)
		begin = at[1]
	}
}

// pass passes on a text that has a number or names of columns.
func (s *Splitter) pass(text []byte, line func(string)) {
	if s.All && len(text) > 0 || bytes.ContainsAny(text, "0123456789<") || bytes.IndexByte(text, ',') > 0 && csvNames.Match(text) {
		line(string(text))
	}
}

// decode turns UTF-16 into UTF-8.
func (s *Splitter) decode(b []byte) []byte {
	if !s.begun && (bytes.HasPrefix(b, []byte{0xff, 0xfe}) || bytes.HasPrefix(b, []byte{0xfe, 0xff})) {
		s.wide = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()
	}
	s.begun = s.begun || len(b) > 0
	if s.wide == nil {
		return b
	}
	b = append(s.odd, b...)
	text := make([]byte, 2*len(b))
	n, read, _ := s.wide.Transform(text, b, false) // the rest is half a character
	s.odd = bytes.Clone(b[read:])
	return text[:n]
}

// Rest yields what was begun last and not completed.
func (s *Splitter) Rest(line func(string)) { s.Split([]byte("\n"), line) }
