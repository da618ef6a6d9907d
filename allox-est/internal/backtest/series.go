package backtest

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/allox-est/internal/estimate"
	"github.com/foretime/foretime/shared/file"
)

// ErrColumn is returned where a table lacks a column, or holds it twice.
var ErrColumn = errors.New("no such column")

// Series are the values of one run in the order of its steps.
type Series struct {
	Name   string
	Values []float64
	Stages []string // of each step; nil without a column for it
}

// stages are the parts of the series with one name.
func (s Series) stages() []estimate.Stage {
	var stages []estimate.Stage
	for i, name := range s.Stages {
		if n := len(stages); n == 0 || stages[n-1].Name != name {
			stages = append(stages, estimate.Stage{Name: name, From: float64(i)})
		}
		stages[len(stages)-1].To = float64(i + 1)
	}
	return stages
}

// Load reads a CSV file with a header, plain or compressed (.gz): one row a
// step, in order, series mixed as they come. Bad rows are diagnostics that name
// file and line.
//
// Stage is the column that names the stage of a step, empty where there is none.
func Load(path, series, value, stage string) (all []Series, diagnostics []error, err error) {
	f, err := file.Open(path)
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
	all, diagnostics, err = read(in, path, series, value, stage)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, diagnostics, nil
}

func read(in io.Reader, path, series, value, stage string) (all []Series, diagnostics []error, err error) {
	rows := csv.NewReader(in)
	header, err := rows.Read()
	if err != nil {
		return nil, nil, err
	}
	var at [3]int // the columns' places
	for i, name := range []string{series, value, stage} {
		if at[i] = slices.Index(header, name); name == "" {
			continue
		}
		if at[i] < 0 {
			return nil, nil, fmt.Errorf("%w: %q; have %s", ErrColumn, name, strings.Join(header, ", "))
		}
		if slices.Contains(header[at[i]+1:], name) {
			return nil, nil, fmt.Errorf("%w: %q occurs twice in the header", ErrColumn, name)
		}
	}
	known := map[string]int{}
	for {
		row, err := rows.Read()
		var x float64
		if err == nil {
			line, _ := rows.FieldPos(at[1])
			if x, err = strconv.ParseFloat(strings.TrimSpace(row[at[1]]), 64); err != nil || !(x >= 0) || math.IsInf(x, 0) {
				err = &csv.ParseError{Line: line, Err: fmt.Errorf("%q is not a time", row[at[1]])}
			}
		}
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			diagnostics = append(diagnostics, fmt.Errorf("%s:%d: %w", path, bad.Line, bad.Err))
			continue
		} else if errors.Is(err, io.EOF) {
			return all, diagnostics, nil
		} else if err != nil {
			return nil, nil, err
		}
		i, seen := known[row[at[0]]]
		if !seen {
			i = len(all)
			known[row[at[0]]], all = i, append(all, Series{Name: row[at[0]]})
		}
		all[i].Values = append(all[i].Values, x)
		if stage != "" {
			all[i].Stages = append(all[i].Stages, row[at[2]])
		}
	}
}
