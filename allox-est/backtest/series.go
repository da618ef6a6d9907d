package backtest

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/foretime/foretime/allox-est/estimate"
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
	f, err := os.Open(path)
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
	rows.FieldsPerRecord, rows.ReuseRecord = -1, true
	header, err := rows.Read()
	if err != nil {
		return nil, nil, err
	}
	s, err := column(header, series)
	if err != nil {
		return nil, nil, err
	}
	v, err := column(header, value)
	if err != nil {
		return nil, nil, err
	}
	g := -1
	if stage != "" {
		if g, err = column(header, stage); err != nil {
			return nil, nil, err
		}
	}
	fields := len(header)
	at := map[string]int{}
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return all, diagnostics, nil
		}
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			diagnostics = append(diagnostics, fmt.Errorf("%s:%d: %w", path, bad.Line, bad.Err))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		line, _ := rows.FieldPos(0)
		x, err := number(row, fields, v)
		if err != nil {
			diagnostics = append(diagnostics, fmt.Errorf("%s:%d: %w", path, line, err))
			continue
		}
		i, known := at[row[s]]
		if !known {
			i = len(all)
			name := strings.Clone(row[s])
			at[name], all = i, append(all, Series{Name: name})
		}
		all[i].Values = append(all[i].Values, x)
		if g >= 0 {
			all[i].Stages = append(all[i].Stages, strings.Clone(row[g]))
		}
	}
}

// column is the place of the one column of a name.
func column(header []string, name string) (int, error) {
	i := slices.Index(header, name)
	switch {
	case i < 0:
		return 0, fmt.Errorf("%w: %q; have %s", ErrColumn, name, strings.Join(header, ", "))
	case slices.Contains(header[i+1:], name):
		return 0, fmt.Errorf("%w: %q stands twice in the header", ErrColumn, name)
	}
	return i, nil
}

func number(row []string, fields, at int) (float64, error) {
	if len(row) != fields {
		return 0, fmt.Errorf("%d fields, want %d", len(row), fields)
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(row[at]), 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is no time", row[at])
	}
	return x, nil
}
