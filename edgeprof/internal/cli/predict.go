package cli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/cli"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// newPredictCommand returns predict, which predicts each row of a file of measurements.
func newPredictCommand(env *cli.Env) *cobra.Command {
	var model, data, out string
	c := &cobra.Command{
		Use:     "predict --model FILE --data FILE",
		Short:   "Predict the time of each row of a collected file",
		Example: "  edgeprof predict --model model.json --data rows.csv",
		Long: `Predict the time of each row of a collected file. The output has the same columns
and prediction, low and high, in seconds. The model is one of train, or one that
XGBoost saved as JSON over the columns of the original collector.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			content, err := file.ReadAll(model)
			if err != nil {
				return err
			}
			m, err := profiler.ReadModel(bytes.NewReader(content))
			if err != nil {
				return fmt.Errorf("%s: %w", model, err)
			}
			return predictFile(env, m, data, out)
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", "", "model file written by train or, as JSON, by XGBoost")
	f.StringVar(&data, "data", "", "collected file")
	f.StringVar(&out, "out", "pred.csv", "file to write")
	cli.OutputFile(c, "out")
	cli.Require(c, "model", "data")
	return c
}

func predictFile(env *cli.Env, m *profiler.Model, data, out string) error {
	text, err := readText(data)
	if err != nil {
		return err
	}
	table, err := dataset.Load[measurement.Row](data, dataset.Options{})
	if err != nil {
		return err
	}
	if len(table.Diagnostics) > 0 {
		return table.Diagnostics[0] // a skipped row would shift the others
	}
	if len(table.Rows) != len(text)-1 {
		return fmt.Errorf("%s: only %d of %d lines are rows", data, len(table.Rows), len(text)-1)
	}
	text[0] = append(text[0], "prediction", "low", "high")
	warned := map[string]bool{}
	var warnings []string
	for i := range table.Rows {
		row := table.Rows[i].WithSetting()
		seconds, doubts, err := m.PredictRow(&row)
		if errors.Is(err, profiler.ErrNegative) {
			warnings = append(warnings, fmt.Sprintf("%s: row %d: %v", data, i+1, err))
			text[i+1] = append(text[i+1], "", "", "")
			continue
		} else if err != nil {
			return fmt.Errorf("%s: row %d: %w", data, i+1, err)
		}
		for _, w := range doubts {
			if line := strings.TrimPrefix(fmt.Sprintf("%s: %v", row.ModelName, w), ": "); !warned[line] {
				warned[line] = true
				warnings = append(warnings, line)
			}
		}
		for _, v := range []float64{seconds.Value, seconds.Low, seconds.High} {
			cell := ""
			if !math.IsInf(v, 0) { // an end that is unknown
				cell = strconv.FormatFloat(v, 'g', -1, 64)
			}
			text[i+1] = append(text[i+1], cell)
		}
	}
	cli.Warn(env, warnings)
	return file.Write(out, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(text) })
}

func readText(path string) ([][]string, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := csv.NewReader(f).ReadAll()
	if err == nil && len(text) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}
