package scaling

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/foretime/foretime/allox-est/internal/journal"
)

// samples are a pair of a job whose epoch takes 1/threads + batch/100 s.
func samples(threads int, batch, processor string) []journal.Run {
	var size float64
	fmt.Sscan(batch, &size)
	epoch := 1/float64(threads) + size/100
	var runs []journal.Run
	for _, epochs := range []int{2, 5} {
		laps := []float64{0.5}
		for range epochs {
			laps = append(laps, epoch)
		}
		laps = append(laps, 0.1)
		runs = append(runs, journal.Run{
			Job: batch, Name: "job", Kind: journal.Sample, Device: "cpu", Threads: threads, Epochs: epochs, CPUs: 4,
			Wall: 0.6 + float64(epochs)*epoch, CPU: 0.6 + float64(epochs)*epoch, Laps: laps,
			Params: map[string]string{"batch": batch}, Identity: journal.Identity{Processor: processor},
		})
	}
	return runs
}

func TestTable(t *testing.T) {
	var runs []journal.Run
	for _, threads := range []int{1, 2, 4} {
		for _, batch := range []string{"16", "64"} {
			if threads == 2 && batch == "64" {
				continue
			}
			runs = append(runs, samples(threads, batch, "slow")...)
		}
	}
	half := samples(8, "16", "slow")[:1]
	half[0].Laps = nil // without progress one run is not enough
	runs = append(runs, half...)
	table, err := NewTable(runs, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Estimates) != 5 || len(table.Notes) != 1 || !strings.Contains(table.Notes[0], "threads=8: not used: too few runs: a line needs two lengths") {
		t.Fatalf("%d estimates, notes %q", len(table.Estimates), table.Notes)
	}
	if fmt.Sprint(table.Numbers, table.Names) != "[batch threads] []" {
		t.Errorf("numbers %v, names %v", table.Numbers, table.Names)
	}
	m, err := table.Fit(0.9)
	if err != nil {
		t.Fatal(err)
	}
	asked, p, err := table.Ask(m, Configuration{"threads": "2", "batch": "64"})
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.6 + 100*(0.5+0.64); math.Abs(p.Value/want-1) > 0.15 || !p.Contains(want) {
		t.Errorf("%+v for %v, want %v", p, asked, want)
	}
	if next := table.Doubtful(m, asked); table.Of(next) != "batch=64 threads=8" && table.Of(next) != "batch=64 threads=2" {
		t.Errorf("next %v", next)
	}
	for _, c := range []Configuration{{"device": "gpu"}, {"processor": "fast"}} {
		if _, _, err := table.Ask(m, c); !errors.Is(err, ErrSame) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, _, err := table.Ask(m, Configuration{"rate": "2"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("a parameter that is none: %v", err)
	}
}

// Another processor is another class: it multiplies the whole.
func TestProcessors(t *testing.T) {
	var runs []journal.Run
	for _, threads := range []int{1, 2, 4} {
		runs = append(runs, samples(threads, "16", "slow")...)
	}
	fast := samples(2, "16", "fast")
	for i := range fast {
		fast[i].Wall /= 2
		fast[i].CPU /= 2
		for k := range fast[i].Laps {
			fast[i].Laps[k] /= 2
		}
	}
	table, err := NewTable(append(runs, fast...), 100)
	if err != nil {
		t.Fatal(err)
	}
	m, err := table.Fit(0.9)
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := table.Ask(m, Configuration{"threads": "4"})
	if err != nil {
		t.Fatal(err)
	}
	if want := (0.6 + 100*(0.25+0.16)) / 2; math.Abs(p.Value/want-1) > 0.03 {
		t.Errorf("%v on the other processor, want %v", p.Value, want)
	}
}

func TestNoTable(t *testing.T) {
	other := samples(1, "16", "")
	other[1].Name = "another"
	for _, runs := range [][]journal.Run{nil, other} {
		if _, err := NewTable(runs, 100); !errors.Is(err, ErrTooFew) {
			t.Errorf("%d runs: %v", len(runs), err)
		}
	}
}
