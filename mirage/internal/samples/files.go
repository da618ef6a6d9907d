package samples

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/shared/crash"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// blockEpisodes is the number of episodes per file.
const blockEpisodes = 12

// manifestFile says what a directory of samples holds.
const manifestFile = "plan.json"

// Manifest is the content of plan.json. A directory may hold the samples of one
// manifest only.
type Manifest struct {
	Plan      Plan             `json:"plan"`
	Config    simulator.Config `json:"config"`
	Jobs      int              `json:"jobs"`       // in the trace
	TraceHash string           `json:"trace_hash"` // of the jobs that were simulated
	// LastSubmit is the last submission of those jobs, Unix seconds. An outcome
	// later than that was reached in a queue without arrivals.
	LastSubmit int64    `json:"last_submit"`
	Blocks     int      `json:"blocks"`
	Columns    []string `json:"columns"` // of the 42 features
}

// Blocks returns the number of files of samples.
func (p Plan) Blocks() int { return (p.Episodes + blockEpisodes - 1) / blockEpisodes }

// line is a snapshot of a sample, as in histories-*.parquet: one row of its
// history, oldest first.
type line struct {
	Episode  int       `dataset:"episode"`
	Probe    int       `dataset:"probe"`
	Step     int       `dataset:"step"`
	Features []float64 `dataset:",rest"`
}

func samplesFile(dir string, block int) string {
	return filepath.Join(dir, fmt.Sprintf("samples-%05d.parquet", block))
}

func historiesFile(dir string, block int) string {
	return filepath.Join(dir, fmt.Sprintf("histories-%05d.parquet", block))
}

// Generate plays the episodes and writes their samples into a directory, which it makes,
// so many blocks at once. It calls progress at finished episodes, from any goroutine.
// Blocks that are already there are left alone, so a run that was stopped goes on; the
// directory must hold the same plan, settings and trace. The error wraps ErrPlan where
// the plan is at fault.
func (p Plan) Generate(ctx context.Context, w *simulator.Workload, dir string, workers int, progress func(episodes int)) error {
	if err := p.Check(); err != nil {
		return err
	}
	last := int64(0)
	if n := len(w.Jobs); n > 0 {
		last = w.Jobs[n-1].Submit
	}
	m := Manifest{p, w.Config, len(w.Jobs), w.Hash(), last, p.Blocks(), Columns()}
	if err := m.claim(dir); err != nil {
		return err
	}
	group, ctx := crash.WithContext(ctx)
	group.SetLimit(max(workers, 1))
	for block := range m.Blocks {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return p.block(ctx, w, dir, block, progress)
		})
	}
	return group.Wait()
}

// claim makes the directory, or checks that it holds the same manifest.
func (m Manifest) claim(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	want, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, manifestFile)
	have, err := file.ReadAll(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file.Write(path, func(w io.Writer) error { _, err := w.Write(want); return err })
	}
	if err == nil && !bytes.Equal(have, want) {
		return fmt.Errorf("%s: %w: made with another plan, settings or trace", path, ErrPlan)
	}
	return err
}

// block plays and writes one block, unless it is there and whole.
func (p Plan) block(ctx context.Context, w *simulator.Workload, dir string, block int, progress func(int)) error {
	first, last := block*blockEpisodes, min((block+1)*blockEpisodes, p.Episodes)
	if _, err := loadBlock(dir, block, forget); err == nil {
		progress(last - first)
		return nil
	}
	background, err := p.Background(ctx, w, first)
	if err != nil {
		return err
	}
	var rows []Sample
	for e := first; e < last; e++ {
		if err := p.Forward(ctx, background, e); err != nil {
			return err
		}
		samples, err := p.Episode(background, e)
		if err != nil {
			return err
		}
		rows = append(rows, samples...)
		progress(1)
	}
	lines := make([]line, 0, len(rows)*Steps)
	for _, s := range rows {
		for i := range Steps {
			lines = append(lines, line{s.Episode, s.Probe, i, s.X[i*Features : (i+1)*Features]})
		}
	}
	if err := dataset.Save(historiesFile(dir, block), lines, dataset.Options{RestColumns: Columns()}); err != nil {
		return err
	}
	return dataset.Save(samplesFile(dir, block), rows, dataset.Options{})
}

func forget([]float64) []float64 { return nil }

// Set holds the samples of a directory.
type Set struct {
	Manifest Manifest
	Samples  []Sample
}

// loadManifest reads plan.json.
func loadManifest(dir string) (Manifest, error) {
	path := filepath.Join(dir, manifestFile)
	b, err := file.ReadAll(path)
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, m.Plan.Check()
}

// Load reads a directory of samples, all of which must be there. Each sample's
// history is handed to reduce as 144 rows of 42 features, and what reduce
// returns is kept as its X; a nil reduce keeps the history itself.
func Load(dir string, reduce func(x []float64) []float64) (*Set, error) {
	m, err := loadManifest(dir)
	if err != nil {
		return nil, err
	}
	set := &Set{Manifest: m}
	for block := range m.Blocks {
		rows, err := loadBlock(dir, block, reduce)
		if err != nil {
			return nil, err
		}
		set.Samples = append(set.Samples, rows...)
	}
	return set, nil
}

func loadBlock(dir string, block int, reduce func([]float64) []float64) ([]Sample, error) {
	path := samplesFile(dir, block)
	table, err := dataset.Load[Sample](path, dataset.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; run generate again to complete the samples", err)
	}
	if err != nil {
		return nil, err
	}
	histories, err := dataset.Load[line](historiesFile(dir, block), dataset.Options{RestColumns: Columns()})
	if err != nil {
		return nil, err
	}
	if len(table.Diagnostics)+len(histories.Diagnostics) > 0 || len(histories.Rows) != len(table.Rows)*Steps {
		return nil, fmt.Errorf("%s: %w: %d samples with %d snapshots", path, ErrPlan, len(table.Rows), len(histories.Rows))
	}
	for i := range table.Rows {
		s := &table.Rows[i]
		x := make([]float64, 0, Steps*Features)
		for k, l := range histories.Rows[i*Steps : (i+1)*Steps] {
			if l.Episode != s.Episode || l.Probe != s.Probe || l.Step != k {
				return nil, fmt.Errorf("%s: %w: snapshots in the wrong order", path, ErrPlan)
			}
			x = append(x, l.Features...)
		}
		if reduce != nil {
			x = reduce(x)
		}
		s.X = x
	}
	return table.Rows, nil
}
