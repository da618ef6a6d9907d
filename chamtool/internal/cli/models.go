package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/foretime/foretime/chamtool/internal/config"
	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/shared/chart"
	"github.com/foretime/foretime/shared/cli"
)

// ErrNoModels is returned if no runs are kept.
var ErrNoModels = errors.New("no kept models")

// keptModels holds what report --models shows.
type keptModels struct {
	File      string                   `json:"file"`
	Functions []perfmodel.KeptFunction `json:"functions"`
	detailed  bool                     // by sizes
}

// readModels lists the kept models of a file, of this host by default, whose function's name
// contains a text.
func readModels(paths []string, function string) (*keptModels, error) {
	k := &keptModels{detailed: function != ""}
	if len(paths) > 0 {
		k.File = paths[0]
	} else {
		cfg, _ := config.Read(os.LookupEnv)
		k.File = cfg.StorePath()
	}
	if k.File == "" {
		return nil, fmt.Errorf("%w: set CHAMTOOL_HOME or HOME", ErrNoModels)
	}
	store, err := perfmodel.ReadStore(k.File)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNoModels, err)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range store.List() {
		if strings.Contains(f.Name, function) {
			k.Functions = append(k.Functions, f)
		}
	}
	if len(k.Functions) == 0 {
		return nil, fmt.Errorf("%s: %w: none of %d functions has %q in its name", k.File, ErrNoModels, store.Len(), function)
	}
	return k, nil
}

// print prints one row per function, or per sizes of the functions that were asked for.
func (k *keptModels) print(p *cli.Page) {
	p.Line("kept in %s", k.File)
	if !k.detailed {
		t := p.Table("function", "build", "sizes", "runs", "last run")
		for _, f := range k.Functions {
			t.Add(f.Name, f.Build, len(f.Sizes), f.Runs, f.Last.Format("2006-01-02 15:04"))
		}
		return
	}
	t := p.Table("function", "build", "sizes", "runs", "least (s)", "median (s)", "most (s)")
	for _, f := range k.Functions {
		for _, s := range f.Sizes {
			t.Add(f.Name, f.Build, strings.Trim(fmt.Sprint(s.Sizes), "[]"), s.Runs, s.Least, s.Median, s.Most)
		}
	}
}

// maxSeries bounds the functions in one chart.
const maxSeries = 6

// chart draws the median times over the total sizes.
func (k *keptModels) chart() chart.Scatter {
	c := chart.Scatter{Frame: chart.Frame{Title: "Kept runs", X: "total size (bytes)", Y: "median (s)", LogX: true, LogY: true}}
	for _, f := range k.Functions[:min(maxSeries, len(k.Functions))] {
		one := chart.Series{Name: f.Name}
		for _, s := range f.Sizes {
			one.X = append(one.X, max(1, s.Total()))
			one.Y = append(one.Y, s.Median)
		}
		c.Series = append(c.Series, one)
	}
	return c
}
