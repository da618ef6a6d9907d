package cli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/regression"
	"github.com/foretime/foretime/shared/regression/tree"
)

// numbers is a CSV file of numbers with a header; an empty field is missing.
type numbers struct {
	path    string
	columns []string
	rows    []float64 // row-major
}

func (n *numbers) len() int { return len(n.rows) / max(1, len(n.columns)) }

// readNumbers reads a whole file. A field that is no number stops it: a booster
// trained without some rows is another booster.
func readNumbers(path string) (*numbers, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: empty file, want a header", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	n := &numbers{path: path, columns: slices.Clone(header)}
	for lines := 1; ; lines++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for i, text := range record {
			v := math.NaN()
			if text != "" {
				if v, err = strconv.ParseFloat(text, 64); err != nil {
					line, _ := r.FieldPos(i)
					return nil, fmt.Errorf("%s:%d: column %s: %q is not a number", path, line, n.columns[i], text)
				}
			}
			n.rows = append(n.rows, v)
		}
		if lines == 1000 { // by now it is known how long a line is
			n.rows = slices.Grow(n.rows, int(info.Size()*int64(len(n.rows))/r.InputOffset()))
		}
	}
}

// pick returns the named columns, row-major: a copy, unless they are all there
// are in their order.
func (n *numbers) pick(names []string) ([]float64, error) {
	if slices.Equal(names, n.columns) {
		return n.rows, nil
	}
	at := make([]int, len(names))
	for i, name := range names {
		if at[i] = slices.Index(n.columns, name); at[i] < 0 {
			return nil, fmt.Errorf("%s: no column %q", n.path, name)
		}
	}
	width := len(n.columns)
	out := make([]float64, 0, n.len()*len(names))
	for r := range n.len() {
		row := n.rows[r*width : (r+1)*width]
		for _, i := range at {
			out = append(out, row[i])
		}
	}
	return out, nil
}

// marked says which columns are among the names; nil for none.
func (n *numbers) marked(names []string) ([]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	marks := make([]bool, len(n.columns))
	for _, name := range names {
		at := slices.Index(n.columns, name)
		if at < 0 {
			return nil, fmt.Errorf("%s: no column %q", n.path, name)
		}
		marks[at] = true
	}
	return marks, nil
}

// take removes a column, in place, and returns its values.
func (n *numbers) take(name string) ([]float64, error) {
	values, err := n.pick([]string{name})
	if err != nil {
		return nil, err
	}
	at, width := slices.Index(n.columns, name), len(n.columns)
	kept := n.rows[:0]
	for i, v := range n.rows {
		if i%width != at {
			kept = append(kept, v)
		}
	}
	n.rows, n.columns = kept, slices.Delete(slices.Clone(n.columns), at, at+1)
	return values, nil
}

// newBoostTrainCommand trains a plain booster on any CSV of numbers.
func newBoostTrainCommand(env *cli.Env) *cobra.Command {
	var data, label, out, objective string
	var categorical []string
	var base float64
	var asJSON bool
	b := tree.Boost{}
	c := &cobra.Command{
		Use:    "boost-train",
		Hidden: true,
		Short:  "Train boosted trees on a CSV of numbers and save them in XGBoost's format",
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"rounds", "eta", "quantile-alpha", "huber-slope", "max-bin", "subsample", "colsample-bytree", "threads"} {
				if cmd.Flag(name).Value.String() == "0" {
					return cli.Usagef("--%s 0: want a number above 0", name)
				}
			}
			// To Boost 0 means the default; here, as to XGBoost, none.
			if b.MaxDepth == 0 {
				b.MaxDepth = -1
			}
			for _, penalty := range []*float64{&b.Lambda, &b.MinChildWeight} {
				if *penalty == 0 {
					*penalty = math.SmallestNonzeroFloat64
				}
			}
			start := time.Now()
			table, err := readNumbers(data)
			if err != nil {
				return err
			}
			y, err := table.take(label)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("base-score") {
				b.BaseScore = &base
			}
			b.Objective = tree.Objective(objective)
			if b.Categorical, err = table.marked(categorical); err != nil {
				return err
			}
			read := time.Since(start)
			start = time.Now()
			model, err := b.Fit(cmd.Context(), regression.Samples{Features: len(table.columns), X: table.rows, Y: y})
			if err != nil {
				return fmt.Errorf("%s: %w", data, err)
			}
			train := time.Since(start)
			if err := model.SetNames(table.columns); err != nil {
				return err
			}
			write := model.WriteJSON
			if strings.HasSuffix(out, ".ubj") {
				write = model.WriteUBJSON
			}
			if err := file.Write(out, write); err != nil {
				return err
			}
			if asJSON {
				return env.WriteJSON(map[string]any{
					"rows": len(y), "features": len(table.columns), "trees": model.Trees(),
					"read_seconds": read.Seconds(), "train_seconds": train.Seconds(),
				})
			}
			_, err = fmt.Fprintf(env.Stdout, "%s: %d trees from %d rows of %d features in %.2f s (and %.2f s to read)\n", out, model.Trees(), len(y), len(table.columns), train.Seconds(), read.Seconds())
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&data, "data", "", "CSV file with a header; an empty field is missing")
	f.StringVar(&label, "label", "", "column to predict")
	f.IntVar(&b.Rounds, "rounds", 100, "trees")
	f.IntVar(&b.MaxDepth, "depth", 6, "deepest level of a tree; 0: no limit")
	f.Float64Var(&b.Eta, "eta", 0.3, "share of each tree's answer that is used")
	f.Float64Var(&base, "base-score", 0, "where boosting starts (default: the mean)")
	f.StringVar(&objective, "objective", string(tree.SquaredError), "the loss, by XGBoost's name: reg:squarederror, reg:absoluteerror, reg:pseudohubererror, reg:quantileerror")
	f.Float64Var(&b.QuantileAlpha, "quantile-alpha", 0.5, "the quantile of reg:quantileerror")
	f.Float64Var(&b.HuberSlope, "huber-slope", 1, "where reg:pseudohubererror turns absolute")
	f.StringSliceVar(&categorical, "categorical", nil, "columns that hold category codes from 0")
	f.IntVar(&b.MaxBin, "max-bin", 256, "bins of a column, at most 256")
	f.Float64Var(&b.Lambda, "lambda", 1, "L2 penalty of a leaf")
	f.Float64Var(&b.Alpha, "alpha", 0, "L1 penalty of a leaf")
	f.Float64Var(&b.Gamma, "gamma", 0, "least gain of a split")
	f.Float64Var(&b.MinChildWeight, "min-child-weight", 1, "least sum of second derivatives in a child")
	f.Float64Var(&b.Subsample, "subsample", 1, "share of the rows that each tree sees")
	f.Float64Var(&b.ColsampleTree, "colsample-bytree", 1, "share of the columns that each tree sees")
	f.Uint64Var(&b.Seed, "seed", 0, "of what is drawn by chance")
	f.IntVar(&b.Threads, "threads", 1, "goroutines; the model does not depend on it")
	f.StringVar(&out, "out", "model.json", "model file, JSON, or UBJSON where its name ends in .ubj")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cli.Require(c, "data", "label")
	return c
}

// newBoostPredictCommand applies a booster to a CSV of numbers.
func newBoostPredictCommand(*cli.Env) *cobra.Command {
	var model, data, out string
	var threads int
	c := &cobra.Command{
		Use:    "boost-predict",
		Hidden: true,
		Short:  "Predict each row of a CSV with boosted trees",
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			e, err := readModel(model)
			if err != nil {
				return err
			}
			table, err := readNumbers(data)
			if err != nil {
				return err
			}
			names := e.Names()
			if names == nil {
				if names = table.columns; len(names) != e.Features() {
					return fmt.Errorf("%s: the model names no features and wants %d; the file has %d columns", data, e.Features(), len(names))
				}
			}
			x, err := table.pick(names)
			if err != nil {
				return err
			}
			answers := make([]float64, table.len())
			if err := e.PredictAll(x, answers, threads); err != nil {
				return fmt.Errorf("%s: %w", data, err)
			}
			return file.Write(out, func(w io.Writer) error {
				var b bytes.Buffer
				b.WriteString("prediction\n")
				for _, v := range answers {
					b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
					b.WriteByte('\n')
				}
				_, err := b.WriteTo(w)
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", "", "model file, XGBoost's JSON or UBJSON")
	f.StringVar(&data, "data", "", "CSV file with a header; columns are matched by name")
	f.StringVar(&out, "out", "pred.csv", "file with the column prediction")
	f.IntVar(&threads, "threads", 1, "goroutines")
	cli.Require(c, "model", "data")
	return c
}

func readModel(path string) (*tree.Ensemble, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, err := tree.ReadModel(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}
