package rivals

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
	Note    string    `json:"note,omitempty"` // counts what the figures leave out
	Commit  string    `json:"commit"`
	Load    float64   `json:"load_1min"` // at the start of the comparison
}

// Summary summarises the rounds of a row.
type Summary struct {
	Ours, Theirs float64 // medians
	Ratio        float64 // ours over the rival's, the geometric mean of the rounds; 0 if a value is 0
	Low, High    float64 // its 95 % interval; 0 and 0 if there are too few rounds
}

// Summary returns the summary of the rounds. The interval is Student's, of the
// ratios' logarithms.
func (r Row) Summary() Summary {
	s := Summary{Ours: stats.Median(r.Ours), Theirs: stats.Median(r.Theirs)}
	logs := make([]float64, min(len(r.Ours), len(r.Theirs)))
	for i := range logs {
		if r.Ours[i] <= 0 || r.Theirs[i] <= 0 {
			return s
		}
		logs[i] = math.Log(r.Ours[i] / r.Theirs[i])
	}
	s.Ratio = math.Exp(stat.Mean(logs, nil))
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

// Run runs compare.py in a checkout, for the named comparisons or all, and returns its
// rows. The programs that it starts end with it.
func Run(ctx context.Context, root string, log io.Writer, names ...string) (*Results, error) {
	start := time.Now()
	results := &Results{Commit: tour.Commit(ctx, root), Machine: tour.ReadMachine(), Date: start.UTC().Format(time.DateOnly)}
	rows, err := output(ctx, root, log, append([]string{filepath.Join("tools", "rivals", "compare.py")}, names...)...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(rows)); d.More(); {
		var row struct {
			Row
			Skipped string
		}
		if err := d.Decode(&row); err != nil {
			return nil, fmt.Errorf("compare.py: a row of its output: %w", err)
		}
		if row.Skipped != "" {
			results.Skipped = append(results.Skipped, row.Skipped)
		} else {
			row.Commit = results.Commit
			results.Rows = append(results.Rows, row.Row)
		}
	}
	results.Seconds = time.Since(start).Seconds()
	return results, nil
}

// Merge returns the rows of old with those of r in place of rows that compare the same;
// further rows of r follow those with the same subject, or come last. What was skipped
// remains so if it is not one of the names. The machine, the commit and the date are those of r.
func (r *Results) Merge(old *Results, names ...string) *Results {
	same := func(a, b Row) bool { return a.Tool == b.Tool && a.What == b.What && a.Rival == b.Rival }
	merged := *r
	merged.Rows = nil
	merged.Skipped = slices.Clone(r.Skipped)
	merged.Seconds = r.Seconds + old.Seconds
	left := slices.Clone(r.Rows)
	for _, row := range old.Rows {
		if i := slices.IndexFunc(left, func(n Row) bool { return same(n, row) }); i >= 0 {
			row = left[i]
			left = slices.Delete(left, i, i+1)
		}
		merged.Rows = append(merged.Rows, row)
	}
	for _, row := range left {
		at := len(merged.Rows)
		for i, other := range merged.Rows {
			if other.Tool == row.Tool && other.What == row.What {
				at = i + 1
			}
		}
		merged.Rows = slices.Insert(merged.Rows, at, row)
	}
	for _, s := range old.Skipped {
		if name, _, _ := strings.Cut(s, ":"); !slices.Contains(names, name) {
			merged.Skipped = append(merged.Skipped, s)
		}
	}
	return &merged
}

// output returns the output of a Python program; if ctx ends, so do the programs that
// it started.
func output(ctx context.Context, root string, log io.Writer, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "/usr/bin/python3", args...) // the interpreter with Debian's packages
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.Dir, cmd.Stderr = root, log
	return cmd.Output()
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
	fmt.Fprintf(w, "%d comparisons: ahead in %d, behind in %d, undecided in %d. Medians of the rounds; the ratio is ours over the rival's, the geometric mean of the rounds with its 95 %% interval (Student's). %d x %s, `%s`, %s ([result](%s)).\n\n",
		len(r.Rows), verdicts["ahead"], verdicts["behind"], verdicts["undecided"], r.Machine.Cores, r.Machine.CPU, r.Machine.Go, r.Date, result)
	fmt.Fprint(w, "| tool | what | ours | rival | its | ratio | rounds | better is | we are | commit, load |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		s := row.Summary()
		ratio := "none, with a value of zero"
		if s.Ratio > 0 {
			ratio = fmt.Sprintf("%s (%s to %s)", tour.Number(s.Ratio), tour.Number(s.Low), tour.Number(s.High))
		}
		better := "less"
		if row.More {
			better = "more"
		}
		fmt.Fprintf(w, "| %s | %s | %s | `%s` | %s | %s | %d | %s | %s | `%s`, `%.1f` |\n", row.Tool, row.What, row.amount(s.Ours), row.Rival, row.amount(s.Theirs), ratio, len(row.Ours), better, row.Verdict(), row.Commit, row.Load)
	}
	notes := map[string]bool{}
	for _, row := range r.Rows {
		if row.Note != "" && !notes[row.Note] {
			fmt.Fprintf(w, "\n*%s*: %s ([result](%s)).\n", row.What, row.Note, result)
		}
		notes[row.Note] = true
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
