package trial

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/foretime/foretime/deft/internal/experiment"
	"github.com/foretime/foretime/deft/internal/report"
	"github.com/foretime/foretime/shared/dataset"
	"github.com/foretime/foretime/shared/file"
)

// Level is the level of all predicted intervals.
const Level = 0.9

// Outcome holds the results of a run.
type Outcome struct {
	Run  *report.Run
	Logs [][]report.Job // of each model, the warm-up first; nil where its process wrote the log
	PIDs []int          // of each model's process; 0 on the virtual clock

	models []experiment.Model
}

// Save writes Deft's files into the directories that the configuration names: the logs, and
// models_pid.json next to the last model's log; and our run.json there.
func (o *Outcome) Save() error {
	for i, m := range o.models {
		if o.Logs == nil || o.Logs[i] == nil {
			continue
		}
		if err := os.MkdirAll(outputDir(m), 0o755); err != nil {
			return err
		}
		if err := dataset.Save(m.CSV(), o.Logs[i], dataset.Options{}); err != nil {
			return err
		}
	}
	last := outputDir(o.models[len(o.models)-1])
	if err := o.savePIDs(filepath.Join(last, "models_pid.json")); err != nil {
		return err
	}
	return o.Run.Save(filepath.Join(last, "run.json"))
}

// savePIDs writes [[name, pid], ...].
func (o *Outcome) savePIDs(path string) error {
	var pairs [][2]any
	for i, m := range o.Run.Models {
		pairs = append(pairs, [2]any{m.Name, o.PIDs[i]})
	}
	return file.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(pairs) })
}

func outputDir(m experiment.Model) string { return cmp.Or(m.OutputDir, ".") }

// describe returns the properties of a model that are known before it runs.
func describe(m *experiment.Model) report.Model {
	return report.Model{
		Name: m.Name(), Output: m.OutputName, Priority: m.Priority, Weight: m.Weight,
		DeadlineMS: milliseconds(m.Deadline), CSV: m.CSV(),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
