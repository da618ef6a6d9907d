package yardstick

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/foretime/foretime/shared/file"
)

// History is the log of the mean readings of all runs on a host, each a line, by
// which later runs know at which speeds the host runs.
type History struct {
	Path string
}

// Entry is the mean reading of one run.
type Entry struct {
	Yardstick string    `json:"yardstick"` // Work
	Processor string    `json:"processor"` // model
	At        time.Time `json:"at"`        // start of the run
	Seconds   float64   `json:"seconds"`
}

// Past is what the runs before one say of the speed of its host.
type Past struct {
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"` // geometric mean of the mean readings
	SD      float64 `json:"sd"`      // of their logarithms
	// Lasting is the correlation of a run's with the one before, 0 to 0.9.
	Lasting float64 `json:"lasting"`
}

// What of a history counts: the last runs, of the last weeks.
const (
	mostRuns = 500
	oldest   = 60 * 24 * time.Hour
)

// Add adds an entry. The folder is made where there is none.
func (h History) Add(e Entry) (err error) {
	if err := os.MkdirAll(filepath.Dir(h.Path), 0o755); err != nil {
		return err
	}
	log, err := file.OpenLog(h.Path, lines(func(Entry) {}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return log.AppendJSON(e)
}

// Past sums up the entries of a processor before a time; nil where there is none.
func (h History) Past(processor string, before time.Time) (*Past, error) {
	var logs []float64
	_, err := file.ReadLog(h.Path, lines(func(e Entry) {
		if e.Yardstick == Work && e.Processor == processor && e.Seconds > 0 && e.At.Before(before) && before.Sub(e.At) < oldest {
			logs = append(logs, math.Log(e.Seconds))
		}
	}))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	logs = logs[max(0, len(logs)-mostRuns):]
	if err != nil || len(logs) == 0 {
		return nil, err
	}
	return pastOf(logs), nil
}

func pastOf(logs []float64) *Past {
	p := &Past{Runs: len(logs), Seconds: math.Exp(stat.Mean(logs, nil))}
	if len(logs) < 3 {
		return p
	}
	p.SD = stat.StdDev(logs, nil)
	if p.SD > 0 {
		p.Lasting = min(0.9, max(0, stat.Correlation(logs[1:], logs[:len(logs)-1], nil)))
	}
	if math.IsNaN(p.Lasting) {
		p.Lasting = 0
	}
	return p
}

// lines reads entries; a line that is none, after the first, is passed over.
func lines(take func(Entry)) file.Lines {
	return file.Lines{
		Begin: `{"yardstick":"`,
		Start: func(first []byte) error { return json.Unmarshal(first, &Entry{}) },
		Read: func(line []byte) error {
			var e Entry
			if json.Unmarshal(line, &e) == nil {
				take(e)
			}
			return nil
		},
	}
}
