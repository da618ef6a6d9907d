package task

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
)

// formatPrefix is the number of bytes of a file that determine its format.
const formatPrefix = 1 << 16

const byteOrderMark = "\uFEFF"

// unpacked undoes what a file is packed with and looks at its first line.
func unpacked(r io.Reader) (whole *bufio.Reader, first string, err error) {
	whole = bufio.NewReaderSize(r, formatPrefix)
	if magic, _ := whole.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		inner, err := gzip.NewReader(whole)
		if err != nil {
			return nil, "", err
		}
		whole = bufio.NewReaderSize(inner, formatPrefix)
	}
	if mark, _ := whole.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = whole.Discard(len(mark))
	}
	head, err := whole.Peek(formatPrefix)
	if err != nil && err != io.EOF {
		return nil, "", err
	}
	for line := range strings.Lines(string(head)) {
		if first = strings.TrimSpace(line); first != "" {
			return whole, first, nil
		}
	}
	return whole, "", nil
}

// detect returns the format by a file's first line; "" if it is unknown.
func detect(first string) Format {
	fields := strings.FieldsFunc(first, separates)
	switch {
	case strings.HasPrefix(first, "iteration,"):
		return FormatCSV
	case len(fields) < 2 || !numbers(fields, false):
		return ""
	case len(fields) == 2:
		return FormatMXM // iteration loads of a rank that ran no task
	case len(fields) >= 5 && numbers(fields[:len(fields)-3], true):
		return FormatMXM
	}
	return ""
}

func numbers(fields []string, whole bool) bool {
	for _, f := range fields {
		var err error
		if whole {
			_, err = strconv.ParseUint(f, 10, 64)
		} else {
			_, err = strconv.ParseFloat(f, 64)
		}
		if err != nil {
			return false
		}
	}
	return true
}

func separates(c rune) bool { return c == '\t' || c == ',' || c == ' ' || c == '\r' }
