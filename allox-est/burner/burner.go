package burner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/timing"
)

// ErrConfig is returned, wrapped with the field, when a Config makes no sense.
var ErrConfig = errors.New("burner")

// Config says what a burner spends. Times are in seconds.
type Config struct {
	Epochs   int
	Setup    float64
	Epoch    float64
	Teardown float64

	Noise  float64   // relative standard deviation of each segment
	WarmUp []float64 // factors of the first epochs
	Drift  float64   // relative growth of an epoch over Span epochs
	Span   int       // 0 means Epochs: tell it, for a sample to be a prefix of the whole job

	CheckpointEvery  int // epochs; 0 means never
	CheckpointFactor float64
	RareShare        float64 // of the epochs, at random
	RareFactor       float64
	BurstFrom        int // epoch, counted from 1, with which a burst begins; 0 means none
	BurstEpochs      int
	BurstFactor      float64

	Seed uint64
	// Report says when the time-writer report is printed: "end" (the default),
	// "epoch" (at every epoch and at the end) or "none".
	Report string
	// Lines prints "epoch I/N" at the end of every epoch.
	Lines bool
	// Checkpoint is a folder in which the number of the last epoch is kept, and
	// from which a later run goes on after it; empty keeps none.
	Checkpoint string
}

// Check says what is wrong with a Config. Errors wrap ErrConfig.
func (c Config) Check() error {
	for name, x := range map[string]float64{
		"setup": c.Setup, "epoch": c.Epoch, "teardown": c.Teardown, "noise": c.Noise,
		"checkpoint factor": c.CheckpointFactor, "rare share": c.RareShare, "rare factor": c.RareFactor, "burst factor": c.BurstFactor,
	} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %s: %v", ErrConfig, name, x)
		}
	}
	for _, f := range c.WarmUp {
		if !(f >= 0) || math.IsInf(f, 0) {
			return fmt.Errorf("%w: warm-up factor: %v", ErrConfig, f)
		}
	}
	switch {
	case c.Epochs < 0 || c.Span < 0 || c.CheckpointEvery < 0 || c.BurstFrom < 0 || c.BurstEpochs < 0:
		return fmt.Errorf("%w: a count is negative", ErrConfig)
	case !(c.Drift > -1) || math.IsInf(c.Drift, 0):
		return fmt.Errorf("%w: drift: %v", ErrConfig, c.Drift)
	case c.Report != "" && c.Report != "end" && c.Report != "epoch" && c.Report != "none":
		return fmt.Errorf("%w: report: %q, want end, epoch or none", ErrConfig, c.Report)
	}
	return nil
}

// Segments returns the seconds of the set-up, of each epoch and of the
// teardown.
func (c Config) Segments() []float64 {
	rng := rand.New(rand.NewPCG(c.Seed, 0x9e3779b97f4a7c15))
	noisy := func(x float64) float64 { return max(0, x*(1+c.Noise*rng.NormFloat64())) }
	segments := make([]float64, 0, c.Epochs+2)
	segments = append(segments, noisy(c.Setup))
	for i := 1; i <= c.Epochs; i++ {
		segments = append(segments, noisy(c.Epoch)*c.factor(i, rng.Float64()))
	}
	return append(segments, noisy(c.Teardown))
}

// factor returns how many times the plain epoch epoch i takes, with a uniform
// draw for what happens at random.
func (c Config) factor(i int, draw float64) float64 {
	f := 1.0
	if i <= len(c.WarmUp) {
		f *= c.WarmUp[i-1]
	}
	if c.CheckpointEvery > 0 && i%c.CheckpointEvery == 0 {
		f *= c.CheckpointFactor
	}
	if draw < c.RareShare {
		f *= c.RareFactor
	}
	if c.BurstFrom > 0 && i >= c.BurstFrom && i < c.BurstFrom+c.BurstEpochs {
		f *= c.BurstFactor
	}
	span := c.Span
	if span == 0 {
		span = c.Epochs
	}
	if span > 1 {
		f *= 1 + c.Drift*float64(i-1)/float64(span-1)
	}
	return f
}

// Run spends the time of c on a machine and prints to out as c.Report and
// c.Lines say. It ends early with ctx's error.
func Run(ctx context.Context, c Config, m Machine, out io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	w := timing.NewTimeWriter(out, m.Now)
	w.Start()
	m.Begin()
	segments := c.Segments()
	done, err := c.done()
	if err != nil {
		return err
	}
	for i, seconds := range segments {
		if i > 0 && i <= done {
			continue
		}
		if err := m.Spend(ctx, time.Duration(seconds*float64(time.Second))); err != nil {
			return err
		}
		if err := w.LogUpdate(); err != nil {
			return err
		}
		if err := c.save(i, i == len(segments)-1); err != nil {
			return err
		}
		if err := c.tell(w, out, i, i == len(segments)-1); err != nil {
			return err
		}
	}
	return nil
}

// done is the last epoch of a run before.
func (c Config) done() (int, error) {
	if c.Checkpoint == "" {
		return 0, nil
	}
	text, err := os.ReadFile(c.file())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	done, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || done < 0 || done > c.Epochs {
		return 0, fmt.Errorf("%w: %s: %q is none of %d epochs", ErrConfig, c.file(), text, c.Epochs)
	}
	return done, nil
}

// save keeps the number of an epoch.
func (c Config) save(i int, last bool) error {
	if c.Checkpoint == "" || i == 0 || last {
		return nil
	}
	return os.WriteFile(c.file(), []byte(fmt.Sprintln(i)), 0o666)
}

func (c Config) file() string { return filepath.Join(c.Checkpoint, "epoch") }

// tell prints what is due after segment i.
func (c Config) tell(w *timing.TimeWriter, out io.Writer, i int, last bool) error {
	if c.Lines && i > 0 && !last {
		if _, err := fmt.Fprintf(out, "epoch %d/%d\n", i, c.Epochs); err != nil {
			return err
		}
	}
	if c.Report != "none" && (last || c.Report == "epoch") {
		return w.PrintResults()
	}
	return nil
}
