package checker

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/mirage/internal/cluster"
	"github.com/foretime/foretime/mirage/internal/samples"
	"github.com/foretime/foretime/mirage/internal/simulator"
	"github.com/foretime/foretime/mirage/internal/trace/synth"
	"github.com/foretime/foretime/shared/dataset"
)

// TestSamples judges a folder of samples as generate writes it.
func TestSamples(t *testing.T) {
	const epoch = 1_670_000_000
	jobs, err := synth.Default().Generate(t.Context(), synth.Settings{Days: 28, Start: epoch, NodeHoursPerDay: .9 * 40 * 24, MaxNodes: 40, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	w, err := simulator.NewWorkload(jobs, simulator.Config{Machine: cluster.Machine{Nodes: 40}, Rules: cluster.Defaults(cluster.Slurm)})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := samples.Plan{Episodes: 26, Probes: 3, Interval: 4 * 3600, Start: epoch + 9*86400, History: 9 * 86400, Service: chain.Service{Nodes: 4, Limit: 12 * 3600}}
	if err := p.Generate(t.Context(), w, dir, 2, func(int) {}); err != nil {
		t.Fatal(err)
	}
	report, err := Samples(dir)
	if err != nil || report.Err() != nil {
		t.Errorf("%v, %v", err, report.Err())
	}
}

// sampleRow is a row of samples-*.parquet.
type sampleRow struct {
	Episode   int   `dataset:"episode"`
	Probe     int   `dataset:"probe"`
	Decision  int64 `dataset:"decision"`
	PredStart int64 `dataset:"pred_start"`
	PredEnd   int64 `dataset:"pred_end"`
	SuccStart int64 `dataset:"succ_start"`
	Reward    int64 `dataset:"reward_seconds"`
	History   int64 `dataset:"history_end"`
}

// historyRow is a row of histories-*.parquet.
type historyRow struct {
	Episode int       `dataset:"episode"`
	Probe   int       `dataset:"probe"`
	Step    int       `dataset:"step"`
	X       []float64 `dataset:",rest"`
}

// The shape of a history and the place of things in it.
const (
	historySteps  = 144
	historyWidth  = 42
	stepSeconds   = 600
	pendingFrom   = 0
	runningFrom   = 17
	predecessorAt = 34
	successorAt   = 38
)

// Samples checks invariants 13 and 14 on the blocks of samples in a folder:
// rewards add up, the last probe of each episode is the reactive one, no
// history is later than its decision or shorter than a day, and features are
// what their definition allows.
func Samples(dir string) (Report, error) {
	var r Report
	r.checked(13, 14)
	blocks, err := filepath.Glob(filepath.Join(dir, "samples-*.parquet"))
	if err != nil {
		return r, err
	}
	for _, path := range blocks {
		table, err := dataset.Load[sampleRow](path, dataset.Options{})
		if err != nil {
			return r, err
		}
		histories, err := dataset.Load[historyRow](strings.Replace(path, "samples-", "histories-", 1), dataset.Options{})
		if err != nil {
			return r, err
		}
		if len(table.Diagnostics)+len(histories.Diagnostics) > 0 || len(histories.Rows) != historySteps*len(table.Rows) {
			r.breach(13, path, 0, "%d samples and %d snapshots, want %d of them", len(table.Rows), len(histories.Rows), historySteps*len(table.Rows))
			continue
		}
		last := map[int]int{}
		for _, s := range table.Rows {
			last[s.Episode] = max(last[s.Episode], s.Probe)
		}
		for i, s := range table.Rows {
			r.sample(s, s.Probe == last[s.Episode])
			r.history(s, histories.Rows[i*historySteps:(i+1)*historySteps])
		}
	}
	return r, nil
}

func (r *Report) sample(s sampleRow, reactive bool) {
	id := fmt.Sprintf("episode %d probe %d", s.Episode, s.Probe)
	switch {
	case s.Reward != s.SuccStart-s.PredEnd:
		r.breach(13, id, s.Decision, "reward %d, want %d", s.Reward, s.SuccStart-s.PredEnd)
	case s.SuccStart < s.Decision:
		r.breach(13, id, s.Decision, "the successor starts %d s before it is submitted", s.Decision-s.SuccStart)
	case reactive && (s.Decision != s.PredEnd || s.Reward < 0):
		r.breach(13, id, s.Decision, "the reactive probe is %d s from the end, with reward %d", s.PredEnd-s.Decision, s.Reward)
	case s.History > s.Decision || s.History <= s.Decision-stepSeconds:
		r.breach(13, id, s.Decision, "the history ends %d s before the decision", s.Decision-s.History)
	}
}

// history checks a history's rows against what their definition allows.
func (r *Report) history(s sampleRow, rows []historyRow) {
	id := fmt.Sprintf("episode %d probe %d", s.Episode, s.Probe)
	for i, h := range rows {
		if h.Episode != s.Episode || h.Probe != s.Probe || h.Step != i || len(h.X) != historyWidth {
			r.breach(13, id, s.Decision, "snapshot %d is out of place", i)
			return
		}
		if what := wrong(h.X, rows[0].X); what != "" {
			r.breach(14, id, s.Decision, "snapshot %d: %s", i, what)
			return
		}
	}
	// At the decision the predecessor has waited and run for as long as it is
	// submitted; a pending one has not run.
	p := rows[len(rows)-1].X[predecessorAt:successorAt]
	if running := s.Decision >= s.PredStart; running && p[3] != float64(s.Decision-s.PredStart) && s.History <= s.Decision || p[2] < 0 || p[3] < 0 {
		r.breach(14, id, s.Decision, "the predecessor has run %v s, want %d", p[3], s.Decision-s.PredStart)
	}
}

// wrong says what is impossible in a snapshot. first is the history's first
// one: the service jobs are the same in all of them.
func wrong(x, first []float64) string {
	for _, from := range []int{pendingFrom, runningFrom} {
		jobs, nodes := x[from], x[from+1]
		if jobs != math.Trunc(jobs) || jobs < 0 || nodes < jobs {
			return fmt.Sprintf("%v jobs on %v nodes", jobs, nodes)
		}
		for q := range 3 {
			v := x[from+2+5*q : from+7+5*q]
			for k := range v {
				if v[k] < 0 || k > 0 && v[k] < v[k-1] || jobs == 0 && v[k] != 0 || jobs == 1 && v[k] != v[0] {
					return fmt.Sprintf("quantiles %v of %v jobs", v, jobs)
				}
			}
		}
	}
	for k := pendingFrom + 12; k < runningFrom; k++ {
		if x[k] != 0 {
			return "a pending job has run"
		}
	}
	for k := predecessorAt; k < historyWidth; k++ {
		if x[k] != first[k] {
			return "the service jobs change within a history"
		}
	}
	if x[successorAt+2] != 0 || x[successorAt+3] != 0 {
		return "the successor has waited or run"
	}
	return ""
}
