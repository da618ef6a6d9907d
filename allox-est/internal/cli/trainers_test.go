package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/follow"
	"github.com/foretime/foretime/allox-est/internal/journal"
)

// trainers are programs as the documents of their packages show them, with the number that
// a user gives where their output has none, and the total of the right counter.
var trainers = []struct {
	name, count string
	total       int
}{
	{"hugging_face", "", 320},
	{"lightning", "5", 5},
	{"accelerated", "", 480},
	{"sklearn_boosting", "100", 100},
	{"sklearn_mlp", "150", 150},
	{"sklearn_search", "64", 64},
	{"ignite_bars", "", 5},
	{"skorch_table", "40", 40},
}

// TestRealTrainers runs each trainer once, whole, and prints the answers on the way. The
// total is that of the right counter, no end is announced before it comes, and the
// last answer is the time that the run took.
func TestRealTrainers(t *testing.T) {
	byName(t)
	command(t)
	wheels := realWheels(t, trainerModules...)
	for _, trainer := range trainers {
		path := filepath.Join(t.TempDir(), "j.jsonl")
		args := []string{"run", "--keep", "--json", "--journal", path}
		if trainer.count != "" {
			args = append(args, "--epochs", trainer.count)
		}
		stdout, stderr := withWheels(t, wheels, append(args, "--", "/usr/bin/python3", filepath.Join("testdata", "real", trainer.name+".py")))
		var updates []follow.Update
		for line := range bytes.Lines(stdout.Bytes()) {
			var u follow.Update
			if err := json.Unmarshal(line, &u); err != nil {
				t.Fatalf("%s: %v: %s", trainer.name, err, line)
			}
			if u.Epochs > 0 { // it is no rate
				updates = append(updates, u)
			}
		}
		j, err := journal.Read(path)
		if err != nil || len(j.Runs) != 1 || len(updates) == 0 {
			t.Fatalf("%s: %v, %d runs, %d answers\n%s", trainer.name, err, len(j.Runs), len(updates), stderr.String())
		}
		took := j.Runs[0].Wall
		last := updates[len(updates)-1]
		if last.Epochs != trainer.total || last.Done != float64(trainer.total) || last.Total == nil || math.Abs(last.Total.Value/took-1) > 0.01 {
			t.Errorf("%s: the last answer is %+v, want %d units in %.2f s", trainer.name, last, trainer.total, took)
		}
		for _, u := range updates[:len(updates)-1] {
			if u.Left != nil && u.Left.Value <= 0 {
				t.Errorf("%s: announces its end after %.2f of %.2f s", trainer.name, u.Elapsed, took)
			}
		}
		t.Logf("%-16s took %.1f s: %s", trainer.name, took, answersAt(updates, took))
	}
}

// answersAt describes the first answer, and those at 10, 25 and 50 % of a run.
func answersAt(updates []follow.Update, took float64) string {
	said := []string{"no answer"}
	for _, u := range updates {
		if u.Total != nil {
			said[0] = fmt.Sprintf("first at %.0f %%", 100*u.Elapsed/took)
			break
		}
	}
	for _, share := range []float64{0.1, 0.25, 0.5} {
		text := "none"
		for _, u := range updates {
			if u.Elapsed > share*took || u.Total == nil {
				continue
			}
			text = fmt.Sprintf("%+.0f %%", 100*(u.Total.Value/took-1))
			switch {
			case u.Refused != "":
				text += " refused"
			case !u.Total.Contains(took):
				text += " outside"
			}
		}
		said = append(said, fmt.Sprintf("%.0f %%: %s", 100*share, text))
	}
	return strings.Join(said, "; ")
}
