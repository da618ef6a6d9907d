package cli

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns a text with every character escaped, such as \x1b, that could
// change how a terminal shows the following text: control characters of C0 and C1,
// line and paragraph separators, and format characters such as those that reverse
// the direction of text (Unicode TR 36, section 3). Use it for names of nodes,
// devices, jobs and programs, which other users choose.
func Plain(s string) string { return plain(s, func(rune) bool { return false }) }

func plain(s string, keep func(rune) bool) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return unsafe(r) && !keep(r) }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unsafe(r) && !keep(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// unsafe reports whether a character must be escaped. Joiners are safe; some
// scripts need them.
func unsafe(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) ||
		unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner
}

// plainf formats like fmt.Sprintf with its arguments escaped; line feeds of the
// format are kept.
func plainf(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = plainArgument(arg)
	}
	return plain(fmt.Sprintf(format, safe...), func(r rune) bool { return r == '\n' })
}

// plainArgument returns an argument whose printed form is plain. An argument that
// already prints plainly is returned unchanged, to keep its type.
func plainArgument(arg any) any {
	switch v := arg.(type) {
	case nil:
		return nil
	case string:
		return Plain(v)
	case error, fmt.Stringer:
		if v := reflect.ValueOf(arg); v.Kind() == reflect.Pointer && v.IsNil() {
			return arg
		}
		if text := fmt.Sprint(v); Plain(text) != text {
			return Plain(text)
		}
	case []string:
		all := make([]string, len(v))
		for i, s := range v {
			all[i] = Plain(s)
		}
		return all
	default:
		if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
			return Plain(v.String())
		}
	}
	return arg
}

// cellText returns a text cell of a CSV file for people: plain, and prefixed if a
// spreadsheet would read it as a formula (OWASP, CSV Injection). A text that is a
// number is unchanged.
func cellText(s string) string {
	s = Plain(s)
	if s == "-" || strings.IndexAny(s, "=+-@\uff1d\uff0b\uff0d\uff20") != 0 {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}

// plainJSON escapes the characters of JSON that a terminal would interpret; JSON
// itself escapes only those below U+0020.
func plainJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r >= 0x7f && unsafe(r) }) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r < 0x7f || r == utf8.RuneError || !unsafe(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
