package samples

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// The files of a directory of samples.
const (
	manifestFile = "plan.json"
	samplesFile  = "samples.parquet"
)

// Manifest is the content of plan.json.
type Manifest struct {
	Plan   Plan             `json:"plan"`
	Config simulator.Config `json:"config"`
	// LastSubmit is the last submission of the simulated jobs, Unix seconds. An outcome
	// later than that was reached in a queue without arrivals.
	LastSubmit int64 `json:"last_submit"`
}

// Set holds the samples of a plan.
type Set struct {
	Manifest Manifest
	Samples  []Sample
}

// Generate plays the episodes, a number of workers at once, and returns their samples. It
// calls progress at each finished episode, from any goroutine. The error wraps ErrPlan if
// the plan is at fault.
func (p Plan) Generate(ctx context.Context, w *simulator.Workload, workers int, progress func()) (*Set, error) {
	played := make([][]Sample, max(p.Episodes, 0))
	err := p.Each(ctx, w, workers, func(background *simulator.Simulator, episode int) (err error) {
		played[episode], err = p.Episode(background, episode)
		progress()
		return err
	})
	set := &Set{Manifest: Manifest{Plan: p, Config: w.Config}, Samples: slices.Concat(played...)}
	if n := len(w.Jobs); n > 0 {
		set.Manifest.LastSubmit = w.Jobs[n-1].Submit
	}
	return set, err
}

// CheckNew returns an error if a directory takes no samples. The error wraps fs.ErrExist if it has
// some already.
func CheckNew(dir string) error {
	for _, name := range []string{manifestFile, samplesFile} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s: %w", path, fs.ErrExist)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		defer os.Remove(dir) // until there are samples
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return file.TryWrite(filepath.Join(dir, manifestFile))
}

// Save writes the samples into a directory, which it makes.
func (s *Set) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := dataset.Save(filepath.Join(dir, samplesFile), s.Samples, dataset.Options{RestColumns: SummaryColumns()}); err != nil {
		return err
	}
	return file.WriteJSON(filepath.Join(dir, manifestFile), s.Manifest)
}

// Load reads a directory of samples. The error wraps ErrPlan if they are not those of its plan.
func Load(dir string) (*Set, error) {
	path := filepath.Join(dir, manifestFile)
	b, err := file.ReadAll(path)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := m.Plan.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	table, err := dataset.Load[Sample](filepath.Join(dir, samplesFile), dataset.Options{RestColumns: SummaryColumns()})
	if err != nil {
		return nil, err
	}
	if want := m.Plan.Episodes * m.Plan.Probes; len(table.Diagnostics) > 0 || len(table.Rows) != want {
		return nil, fmt.Errorf("%s: %w: %d samples, want %d", dir, ErrPlan, len(table.Rows), want)
	}
	return &Set{Manifest: m, Samples: table.Rows}, nil
}
