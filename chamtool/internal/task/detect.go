package task

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// formatPrefix is the number of bytes of a file that determine its format.
const formatPrefix = 1 << 16

const byteOrderMark = "\uFEFF"

// unpack undoes what a file is packed with and returns the lines at its beginning that are not
// empty.
func unpack(r io.Reader) (whole *bufio.Reader, first []string, err error) {
	whole = bufio.NewReaderSize(r, formatPrefix)
	if magic, _ := whole.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		inner, err := gzip.NewReader(whole)
		if err != nil {
			return nil, nil, err
		}
		whole = bufio.NewReaderSize(inner, formatPrefix)
	}
	if mark, _ := whole.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = whole.Discard(len(mark))
	}
	head, err := whole.Peek(formatPrefix)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	if err == nil && bytes.IndexByte(head, '\n') >= 0 {
		head = head[:bytes.LastIndexByte(head, '\n')] // the last line may be cut off
	}
	for line := range strings.Lines(string(head)) {
		if line = strings.TrimSpace(line); line != "" {
			first = append(first, line)
		}
	}
	return whole, first, nil
}

// detect returns the format by a file's first lines; "" if it is unknown.
func detect(first []string) Format {
	if strings.HasPrefix(first[0], "iteration,lane,") {
		return FormatCSV
	}
	if loads, _ := findLoads(first); loads != nil {
		return FormatLoads
	}
	if isTabLog(first) {
		return FormatTab
	}
	return ""
}

// isTabLog reports whether most lines are those of the original tool. Its run times are never
// all whole numbers, unlike columns of sizes, and its loads none, unlike numbers of iterations.
func isTabLog(lines []string) bool {
	var fractions, tasks, loads int
	for _, line := range lines {
		fields := splitFields(line)
		one := &Log{sizes: map[string]Sizes{}}
		if one.addTab(fields) != nil {
			continue
		}
		if len(one.Rows) == 0 {
			if !areWhole(fields[:1]) {
				loads++
			}
			continue
		}
		tasks++
		if !areWhole(fields[len(fields)-2 : len(fields)-1]) {
			fractions++
		}
	}
	return 2*(tasks+loads) > len(lines) && (tasks == 0 || fractions > 0)
}

// findLoads returns the loads of a table of two or more lines: rows of numbers that end with the
// load of an iteration, of one column; numbered by iteration, the other columns whole; or windows
// of loads, each row the one before without its first and with a new last. The names of the columns
// may come first. Without loads it returns the number of the first line that is no such row, from 1.
func findLoads(lines []string) (loads []string, bad int) {
	var before []string
	windows, numbered := true, true
	for i, line := range lines {
		fields := splitFields(line)
		last := len(fields) - 1
		if i == 0 && !areNumbers(fields) {
			continue
		}
		if !areNumbers(fields) || before != nil && len(fields) != len(before) {
			return nil, i + 1
		}
		numbered = numbered && last > 0 && areWhole(fields[:last])
		if before != nil {
			numbered = numbered && follows(before[0], fields[0])
			windows = windows && areEqual(before[1:], fields[:last])
		}
		if !windows && !numbered {
			return nil, i + 1
		}
		loads = append(loads, fields[last])
		before = fields
	}
	if len(loads) < 2 {
		return nil, len(lines)
	}
	if !numbered {
		first := splitFields(lines[len(lines)-len(loads)])
		loads = slices.Concat(first[:len(first)-1], loads)
	}
	return loads, 0
}

// areEqual reports whether texts mean the same numbers.
func areEqual(a, b []string) bool {
	return slices.EqualFunc(a, b, func(x, y string) bool {
		p, err := strconv.ParseFloat(x, 64)
		q, bad := strconv.ParseFloat(y, 64)
		return err == nil && bad == nil && math.Abs(p-q) <= 1e-6*math.Abs(p)
	})
}

// follows reports whether a whole number is the next one.
func follows(before, number string) bool {
	a, err := strconv.ParseUint(before, 10, 64)
	b, bad := strconv.ParseUint(number, 10, 64)
	return err == nil && bad == nil && b == a+1
}

func areNumbers(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool {
		_, err := strconv.ParseFloat(f, 64)
		return err != nil
	})
}

func areWhole(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool {
		_, err := strconv.ParseUint(f, 10, 64)
		return err != nil
	})
}

// splitFields returns the fields of a line, separated by commas, tabs or spaces.
func splitFields(line string) []string {
	return strings.FieldsFunc(line, func(c rune) bool { return c == '\t' || c == ',' || c == ' ' || c == '\r' })
}
