package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/shared/cli"
)

// newDisplayCommand returns display, which shows the models kept between runs.
func newDisplayCommand(env *cli.Env) *cobra.Command {
	var entry string
	var out cli.Output
	c := &cobra.Command{
		Use:     "display [FILE]",
		Short:   "Show the models kept between runs",
		Example: "  chamtool display",
		Long: `Show the models kept between runs: those of this host, or those in FILE. --entry
shows one task function, one row per combination of argument sizes.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _ := config.Read(os.LookupEnv)
			path := storePath(cfg)
			if len(args) == 1 {
				path = args[0]
			}
			if path == "" {
				return errors.New("no directory of kept models: set CHAMTOOL_HOME or HOME")
			}
			s, err := perfmodel.ReadStore(path)
			if err != nil {
				return err
			}
			m := perfmodel.New(perfmodel.Options{})
			m.Teach(s)
			for _, name := range s.Names() {
				m.Entry(name)
			}
			if entry != "" {
				return footprints(env, &out, m, entry)
			}
			rows := entries(m)
			return out.Print(env, rows, func(p *cli.Page) { entryTable(p, rows) })
		},
	}
	c.Flags().StringVar(&entry, "entry", "", "show the argument sizes of this task function")
	out.Flags(c)
	return c
}

// storePath returns the path of this host's kept models; "" if none are kept.
func storePath(cfg *config.Config) string {
	host, _ := os.Hostname()
	return cfg.StorePath(host)
}

// entryRow is one task function in the answer.
type entryRow struct {
	Entry      string             `json:"entry"`
	Build      string             `json:"build"` // build id of the program; empty if unknown
	Runs       int                `json:"runs"`
	Footprints int                `json:"footprints"`
	Serving    string             `json:"serving"`
	Law        string             `json:"law"`
	Weights    map[string]float64 `json:"weights"` // weights of the experts, for sizes that ran
}

func entries(m *perfmodel.Model) []entryRow {
	var rows []entryRow
	for _, name := range m.Names() {
		e := m.Entry(name)
		function, build := perfmodel.SplitKey(name)
		row := entryRow{function, build, e.Runs(), len(e.Footprints()), e.Serving(), law(e), map[string]float64{}}
		for _, model := range perfmodel.Models().Names() {
			row.Weights[model] = e.Weight(model)
		}
		rows = append(rows, row)
	}
	return rows
}

func entryTable(p *cli.Page, rows []entryRow) {
	models := perfmodel.Models().Names()
	t := p.Table(slices.Concat([]string{"entry", "build", "runs", "footprints", "serving"}, models, []string{"law"})...)
	for _, r := range rows {
		cells := []any{r.Entry, r.Build, r.Runs, r.Footprints, r.Serving}
		for _, m := range models {
			cells = append(cells, r.Weights[m])
		}
		t.Add(append(cells, r.Law)...)
	}
}

// law returns the power law as a formula.
func law(e *perfmodel.Entry) string {
	multiplier, exponents, ok := e.Exponents()
	if !ok {
		return "constant"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%.3g s", multiplier)
	for i, x := range exponents {
		if x != 0 {
			fmt.Fprintf(&b, " * n%d^%.3f", i+1, x)
		}
	}
	return b.String()
}

func footprints(env *cli.Env, out *cli.Output, m *perfmodel.Model, entry string) error {
	type row struct {
		Sizes     []int64 `json:"sizes"`
		Runs      int     `json:"runs"`
		Median    float64 `json:"median_seconds"`
		Trimmed   float64 `json:"trimmed_mean_seconds"`
		Deviation float64 `json:"deviation_seconds"`
		Predicted float64 `json:"predicted_seconds"`
	}
	var rows []row
	for _, name := range m.Names() {
		if function, _ := perfmodel.SplitKey(name); function != entry {
			continue
		}
		e := m.Entry(name)
		for _, fp := range e.Footprints() {
			s := fp.Stats()
			r := row{fp.Sizes, s.Runs, s.Median, s.Trimmed, s.Deviation, 0}
			if p, err := e.Predict(fp); err == nil {
				r.Predicted = p.Value
			}
			rows = append(rows, r)
		}
	}
	if rows == nil {
		return fmt.Errorf("--entry %s: no runs of this function; kept are %s", entry, strings.Join(functions(m), ", "))
	}
	return out.Print(env, rows, func(p *cli.Page) {
		t := p.Table("sizes", "runs", "median s", "trimmed mean s", "deviation s", "predicted s")
		for _, r := range rows {
			t.Add(strings.Trim(fmt.Sprint(r.Sizes), "[]"), r.Runs, r.Median, r.Trimmed, r.Deviation, r.Predicted)
		}
	})
}

// functions returns the names of the model's task functions, each once.
func functions(m *perfmodel.Model) []string {
	var names []string
	for _, key := range m.Names() {
		if name, _ := perfmodel.SplitKey(key); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
