package backtest

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/shared/file"
)

// ErrColumn is returned where a table lacks a column, or holds it twice.
var ErrColumn = errors.New("no such column")

// Series are the values of one run in the order of its steps.
type Series struct {
	Name   string
	Values []float64
}

// Load reads a CSV file with a header, plain or compressed (.gz): one row a
// step, in order, series mixed as they come. Bad rows are diagnostics that name
// file and line.
//
// Values are columns with the time of the step, of which the first one that the file has counts.
func Load(path, series string, values []string) (all []Series, diagnostics []error, err error) {
	f, err := file.OpenRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	all, diagnostics, err = read(in, path, series, values)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, diagnostics, nil
}

// columns holds the places of the columns in a row.
type columns struct{ series, value int }

// findColumns returns the places of columns in a header.
func findColumns(header []string, series string, values []string) (c columns, err error) {
	value := values[0]
	for _, name := range slices.Backward(values) {
		if slices.Contains(header, name) {
			value = name
		}
	}
	find := func(name string) int {
		at := slices.Index(header, name)
		switch {
		case at < 0:
			err = cmp.Or(err, fmt.Errorf("%w: %q; have %s", ErrColumn, name, strings.Join(header, ", ")))
		case slices.Contains(header[at+1:], name):
			err = cmp.Or(err, fmt.Errorf("%w: %q occurs twice in the header", ErrColumn, name))
		}
		return at
	}
	return columns{find(series), find(value)}, err
}

// read reads the rows of a table.
func read(in io.Reader, path, series string, values []string) (all []Series, diagnostics []error, err error) {
	rows := csv.NewReader(in)
	header, err := rows.Read()
	if err != nil {
		return nil, nil, err
	}
	at, err := findColumns(header, series, values)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]int{}
	for {
		row, err := rows.Read()
		var seconds float64
		if err == nil {
			seconds, err = parseTime(rows, row, at.value)
		}
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad):
			diagnostics = append(diagnostics, fmt.Errorf("%s:%d: %w", path, bad.Line, bad.Err))
			continue
		case errors.Is(err, io.EOF):
			return all, diagnostics, nil
		case err != nil:
			return nil, nil, err
		}
		name := row[at.series]
		i, seen := known[name]
		if !seen {
			i = len(all)
			known[name] = i
			all = append(all, Series{Name: name})
		}
		all[i].Values = append(all[i].Values, seconds)
	}
}

// parseTime returns the time in a column of the row that was read last; the error is a
// csv.ParseError.
func parseTime(rows *csv.Reader, row []string, column int) (float64, error) {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(row[column]), 64)
	if err != nil || !(seconds >= 0) || math.IsInf(seconds, 0) {
		line, _ := rows.FieldPos(column)
		return 0, &csv.ParseError{Line: line, Err: fmt.Errorf("%q is not a time", row[column])}
	}
	return seconds, nil
}
