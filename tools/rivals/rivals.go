package rivals

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/stats"
	"github.com/foretime/foretime/shared/uncertainty"
	"github.com/foretime/foretime/tools/docs"
	"github.com/foretime/foretime/tools/tour"
)

// Results holds the measurements of all comparisons, the content of rivals.json.
type Results struct {
	Commit  string       `json:"commit"`
	Machine tour.Machine `json:"machine"`
	Date    string       `json:"date"` // day of the run
	Seconds float64      `json:"seconds"`
	Rows    []Row        `json:"rows"`
	Skipped []string     `json:"skipped,omitempty"` // comparisons that could not be made, with the reason
}

// Row is one figure of ours and of a rival. Both have a value for each round.
type Row struct {
	Tool    string    `json:"tool"`
	What    string    `json:"what"`
	Unit    string    `json:"unit"`
	Rival   string    `json:"rival"` // with its version
	Ours    []float64 `json:"ours"`
	Theirs  []float64 `json:"theirs"`
	More    bool      `json:"more_is_better,omitempty"`
	Command string    `json:"command"`
}

// Summary summarises the rounds of a row.
type Summary struct {
	Ours, Theirs float64 // medians
	Ratio        float64 // ours over the rival's, the geometric mean of the rounds
	Low, High    float64 // its 95 % interval; 0 and 0 if there are too few rounds
}

// Summary returns the summary of the rounds. The interval is Student's, of the
// ratios' logarithms.
func (r Row) Summary() Summary {
	logs := make([]float64, min(len(r.Ours), len(r.Theirs)))
	for i := range logs {
		logs[i] = math.Log(r.Ours[i] / r.Theirs[i])
	}
	s := Summary{Ours: stats.Median(r.Ours), Theirs: stats.Median(r.Theirs), Ratio: math.Exp(stat.Mean(logs, nil))}
	if mean, err := uncertainty.Student(logs, nil, 0.95); err == nil {
		s.Low, s.High = math.Exp(mean.Low), math.Exp(mean.High)
	}
	return s
}

// Verdict returns "ahead" or "behind" if the interval excludes 1.
func (r Row) Verdict() string {
	s := r.Summary()
	switch {
	case s.Low <= 1 && s.High >= 1 || s.High == 0:
		return "undecided"
	case s.Ratio > 1 == r.More:
		return "ahead"
	}
	return "behind"
}

// amount returns a value with the row's unit, if it has one.
func (r Row) amount(v float64) string { return strings.TrimSpace(tour.Number(v) + " " + r.Unit) }

// comparison measures rows; it returns those that it could measure, and an error if
// a rival is not installed.
type comparison struct {
	name string
	run  func(context.Context, *Bench) ([]Row, error)
}

func comparisons() []comparison {
	return []comparison{
		{"xgboost", xgboost},
		{"scipy", scipy},
		{"servers", servers},
		{"policies", policies},
		{"models", models},
		{"gate", gate},
		{"inference", inference},
		{"profile", profile},
		{"test-only", testOnly},
		{"rest", rest},
		{"boards", boards},
		{"waits", waits},
		{"shares", shares},
	}
}

// Names returns the names of the comparisons.
func Names() []string {
	var names []string
	for _, c := range comparisons() {
		names = append(names, c.name)
	}
	return names
}

// Run makes the named comparisons, or all, one after another.
func Run(ctx context.Context, b *Bench, names ...string) (*Results, error) {
	start := time.Now()
	results := &Results{Commit: tour.Commit(ctx, b.Root), Machine: tour.ReadMachine(), Date: start.UTC().Format(time.DateOnly)}
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	for _, c := range comparisons() {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		fmt.Fprintf(b.Log, "%s ...\n", c.name)
		rows, err := c.run(ctx, b)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			results.Skipped = append(results.Skipped, fmt.Sprintf("%s: %v", c.name, err))
		}
		results.Rows = append(results.Rows, rows...)
	}
	results.Seconds = time.Since(start).Seconds()
	return results, nil
}

// Save writes rivals.json: the rounds, their summaries, and the machine.
func (r *Results) Save(path string) error {
	var shown []Summary
	for _, row := range r.Rows {
		shown = append(shown, row.Summary())
	}
	figures, err := json.Marshal(map[string]any{"measured": r, "shown": shown})
	if err != nil {
		return err
	}
	return file.WriteJSON(path, docs.Result{
		Command: "make rivals", Machine: fmt.Sprintf("%d x %s, %s, load %.1f", r.Machine.Cores, r.Machine.CPU, r.Machine.Go, r.Machine.Load1),
		Commit: r.Commit, Date: r.Date, Count: fmt.Sprintf("%d comparisons, rounds as listed", len(r.Rows)), Stored: "by the command", Figures: figures,
	})
}

// Load reads a rivals.json.
func Load(path string) (*Results, error) {
	stored, err := docs.ReadResult(path)
	if err != nil {
		return nil, err
	}
	var figures struct{ Measured Results }
	if err := json.Unmarshal(stored.Figures, &figures); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &figures.Measured, nil
}

// Markdown returns the table of all rows, with a link to the result.
func (r *Results) Markdown(result string) string {
	w := &strings.Builder{}
	verdicts := map[string]int{}
	for _, row := range r.Rows {
		verdicts[row.Verdict()]++
	}
	fmt.Fprintf(w, "%d comparisons: ahead in %d, behind in %d, undecided in %d. Medians of the rounds; the ratio is ours over the rival's, the geometric mean of the rounds with its 95 %% interval (Student's). %d x %s, `%s`, commit `%s`, %s, load `%.1f` at the start ([result](%s)).\n\n",
		len(r.Rows), verdicts["ahead"], verdicts["behind"], verdicts["undecided"], r.Machine.Cores, r.Machine.CPU, r.Machine.Go, r.Commit, r.Date, r.Machine.Load1, result)
	fmt.Fprint(w, "| tool | what | ours | rival | its | ratio | rounds | better is | we are |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		s := row.Summary()
		ratio := fmt.Sprintf("%s (%s to %s)", tour.Number(s.Ratio), tour.Number(s.Low), tour.Number(s.High))
		better := "less"
		if row.More {
			better = "more"
		}
		fmt.Fprintf(w, "| %s | %s | %s | `%s` | %s | %s | %d | %s | %s |\n", row.Tool, row.What, row.amount(s.Ours), row.Rival, row.amount(s.Theirs), ratio, len(row.Ours), better, row.Verdict())
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(w, "\nNot compared: %s.\n", s)
	}
	fmt.Fprint(w, "\nThe commands:\n\n")
	seen := map[string]bool{}
	for _, row := range r.Rows {
		if !seen[row.Command] {
			fmt.Fprintf(w, "- `%s`\n", row.Command)
		}
		seen[row.Command] = true
	}
	return w.String()
}
