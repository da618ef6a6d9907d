package readme

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/foretime/foretime/tools/tour"
)

const (
	begin = "<!-- measured: written by make readme -->\n"
	end   = "<!-- end of measured -->\n"
)

// ErrNoBlock is returned when a README lacks the lines that enclose the measured
// block.
var ErrNoBlock = errors.New("no measured block in README.md")

// Tested counts test results; subtests count like tests.
type Tested struct {
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	Seconds float64 `json:"seconds"`
}

// Count adds the results in the output of `go test -json`.
func (t *Tested) Count(events io.Reader) error {
	var first, last time.Time
	for d := json.NewDecoder(events); ; {
		var e struct {
			Time         time.Time
			Action, Test string
		}
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			t.Seconds += math.Round(last.Sub(first).Seconds())
			return nil
		} else if err != nil {
			return err
		}
		if !e.Time.IsZero() {
			last = e.Time
			if first.IsZero() {
				first = e.Time
			}
		}
		if e.Test == "" {
			continue
		}
		switch e.Action {
		case "pass":
			t.Passed++
		case "fail":
			t.Failed++
		case "skip":
			t.Skipped++
		}
	}
}

// Load reads the results of a tour and of a test run.
func Load(tourFile, testFile string) (*tour.Results, Tested, error) {
	toured, err := tour.Load(tourFile)
	if err != nil {
		return nil, Tested{}, err
	}
	data, err := os.ReadFile(testFile)
	if err != nil {
		return nil, Tested{}, err
	}
	var tested Tested
	if err := json.Unmarshal(data, &tested); err != nil {
		return nil, Tested{}, fmt.Errorf("%s: %w", testFile, err)
	}
	return toured, tested, nil
}

// Render returns the block's text: each command with its output.
func Render(toured *tour.Results, tested Tested) (string, error) {
	var b bytes.Buffer
	b.WriteString("```console\n$ make tour\n")
	if err := toured.WriteStory(&b); err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "\n$ make test\n...\n%d passed, %d failed, %d skipped in %.0f s\n```\n", tested.Passed, tested.Failed, tested.Skipped, tested.Seconds)
	return b.String(), nil
}

// Block returns the measured block of a README, without its enclosing lines.
func Block(text string) (string, error) {
	_, rest, ok := strings.Cut(text, begin)
	block, _, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", ErrNoBlock
	}
	return block, nil
}

// Replace puts a new block into a README's text.
func Replace(text, block string) (string, error) {
	old, err := Block(text)
	if err != nil {
		return "", err
	}
	return strings.Replace(text, begin+old+end, begin+block+end, 1), nil
}
