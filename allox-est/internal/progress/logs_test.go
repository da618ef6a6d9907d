package progress

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// printed is one line of a recorded log: what came when, in seconds.
type printed struct {
	at   float64
	text string
}

// readLog reads what one run of a program printed: a row a line or a bar's drawing,
// its second, a tab, its text; the last is the exit status.
func readLog(t testing.TB, name string) (lines []printed, end float64) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		at, text, _ := strings.Cut(in.Text(), "\t")
		if seconds, err := strconv.ParseFloat(at, 64); err == nil {
			lines, end = append(lines, printed{seconds, text}), seconds
		}
	}
	if len(lines) < 2 {
		t.Fatalf("%s: %d lines", name, len(lines))
	}
	return lines[:len(lines)-1], end
}

// The logs are those of one run each; their first lines name what made them.
// Without a pattern the counter is found within ten of its lines, the run is never
// thought further than it was by more than a unit or a twentieth, and at the end
// the units done are those of the command.
func TestLogs(t *testing.T) {
	for _, tt := range []struct {
		name    string
		units   float64 // of the command
		tells   float64 // the length that the output tells by itself; 0 where none
		last    float64 // the last mark
		seconds float64 // when it came
	}{
		{"mnist", 6, 0, 5.96, 12.598},
		{"imagenet", 4, 0, 3 + 81.0/91, 4.61},
		{"transfer", 10, 10, 9, 2.342},
		{"nanogpt", 100, 0, 100, 2.631},
		{"nanogpt10", 200, 0, 200, 3.489},
		{"lstm", 12, 0, 12, 2.341},
		{"tqdm_batches", 5, 0, 4.9, 6.088},
		{"tqdm_epochs", 80, 80, 80, 3.303},
		{"lightgbm", 120, 0, 120, 3.182},
		{"lightgbm_stop", 400, 0, 140, 2.205},
		{"xgboost", 60, 0, 60, 2.208},
		{"xgboost10", 95, 0, 95, 2.257},
		{"catboost", 150, 0, 150, 1.55},
		{"sklearn_mlp", 40, 40, 40, 1.478},
		{"sklearn_gb", 100, 100, 100, 3.019},
		{"keras", 6, 6, 5, 15.203},
		{"keras2", 6, 6, 5, 13.047},
		{"optax", 400, 0, 400, 5.427},
		{"spacy", 12, 0, 12, 4.181},
		{"gensim", 12, 0, 12, 2.917},
		{"optuna", 30, 0, 30, 2.087},
		{"hmmlearn", 30, 0, 30, 5.9},
		{"tinygrad", 60, 60, 60, 99.678},
		{"transformers", 3, 90, 3, 3.168},
		{"accelerate", 4, 152, 4, 8.46},
		{"ignite", 4, 0, 4, 2.155},
		{"sb3", 6144, 0, 6144, 6.602}, {"lightning", 5, 5, 4.97, 11.365},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines, end := readLog(t, tt.name)
			r := Reader{Units: tt.units, Short: true}
			var live []Mark
			for _, l := range lines {
				r.Line(l.text, l.at)
				m := r.Marks()
				if len(m) == 0 {
					continue
				}
				if last := m[len(m)-1]; len(live) == 0 || last != live[len(live)-1] {
					live = append(live, last)
				}
				if len(live) == 10 && len(m) < 4 {
					t.Errorf("four marks only after ten")
				}
			}
			if tt.name != "ignite" && len(live) < 4 { // of Ignite only whole epochs count
				t.Errorf("%d marks on the way", len(live))
			}
			r.End(end)
			marks := r.Marks()
			if len(marks) == 0 {
				t.Fatal("no marks at the end")
			}
			if last := marks[len(marks)-1]; last.Number != tt.last || last.Seconds != tt.seconds || last.Of != tt.units {
				t.Errorf("last mark %v, want %v of %v at %v", last, tt.last, tt.units, tt.seconds)
			}
			if at, early := r.FindEarlyEnd(); early != (tt.name == "lightgbm_stop") || early && at != 140 {
				t.Errorf("stopped by itself at %v: %v", at, early)
			}
			for _, m := range live {
				if was := through(marks, m.Seconds, end); m.Number > was+max(1, tt.units/20) {
					t.Errorf("thought at %v of %v after %v s, was at %v", m.Number, tt.units, m.Seconds, was)
				}
			}
			alone := Reader{Short: true}
			for _, l := range lines {
				alone.Line(l.text, l.at)
			}
			if got := alone.Length(); got != tt.tells {
				t.Errorf("tells a length of %v by itself, want %v", got, tt.tells)
			}
		})
	}
}

// through is how far a run was at a time, on the line between its marks.
func through(marks []Mark, at, end float64) float64 {
	before := Mark{}
	for _, m := range append(marks, Mark{Number: marks[len(marks)-1].Of, Seconds: end}) {
		if m.Seconds >= at {
			return before.Number + (m.Number-before.Number)*(at-before.Seconds)/max(1e-9, m.Seconds-before.Seconds)
		}
		before = m
	}
	return before.Number
}
