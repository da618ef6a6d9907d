package cli

import (
	"os"
	"time"

	"github.com/foretime/foretime/mirage/samples"
	"github.com/foretime/foretime/mirage/trace"
	"github.com/foretime/foretime/shared/cli"
)

// batches are samples to learn from: folders of ours, or files of the original
// program, with what those do not say.
type batches struct {
	start, interval string
}

func (b *batches) load(env *cli.Env, paths []string, reduce func([]float64) []float64, zone string) ([]*samples.Set, error) {
	start, err := b.begin(zone)
	if err != nil {
		return nil, err
	}
	interval, err := seconds("interval", b.interval)
	if err != nil {
		return nil, err
	}
	bar := env.Progress("read samples", int64(len(paths)))
	defer bar.Done()
	var sets []*samples.Set
	for _, path := range paths {
		set, err := openSamples(env, path, start, interval, reduce)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
		bar.Add(1)
	}
	return sets, nil
}

func (b *batches) begin(zone string) (int64, error) {
	if b.start == "" {
		return 0, nil
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return 0, cli.Usagef("--zone: %w", err)
	}
	at, err := trace.ParseDate(b.start, location)
	if err != nil {
		return 0, cli.Usagef("--start: %w", err)
	}
	return at, nil
}

func openSamples(env *cli.Env, path string, start, interval int64, reduce func([]float64) []float64) (*samples.Set, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return samples.Load(path, reduce)
	}
	set, dropped, err := samples.LoadOriginal(path, start, interval, reduce)
	if err != nil {
		return nil, err
	}
	env.Log.Warnf("%s: %d samples of %d episodes; their histories end at the reward, so that they show part of the wait that is to be predicted", path, len(set.Samples), set.Manifest.Plan.Episodes)
	if dropped > 0 {
		env.Log.Warnf("%s: %d samples dropped, taken before their predecessor ran: how long they waited is not told", path, dropped)
	}
	if start == 0 {
		env.Log.Warnf("%s: without --start its hours of the day count from midnight of the first predecessor", path)
	}
	return set, nil
}
