package samples

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/shared/pickle"
)

// ErrOriginal is returned for a file that is no batch of the original program.
var ErrOriginal = errors.New("not a batch of samples of the original program")

// LoadOriginal reads a batch that the original program pickled: a dictionary of
// episodes, each with a list of (history, reward in seconds), or one list of all
// of these. A history is a list of 144 snapshots (pending, running, predecessor,
// successor), in which jobs are four numbers in the units of [Pending] and
// [Running]. Nothing of the file is executed.
//
// The file does not say when: start and interval are those of the run that made
// it, seconds. It does not hold the mean of the last waits either, for which the
// mean wait of the running jobs stands, nor what the queue predicts. Samples
// taken before their predecessor ran are dropped and counted, since their waits
// are not told. The histories end at the reward, not at the decision.
//
// reduce is as in [Load]. The error matches ErrOriginal or [pickle.ErrFormat].
func LoadOriginal(path string, start, interval int64, reduce func([]float64) []float64) (set *Set, dropped int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	v, err := new(pickle.Decoder).Decode(f)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	b := batch{start: start, interval: interval, reduce: reduce}
	if err := b.read(v); err != nil {
		return nil, 0, fmt.Errorf("%s: %w: %w", path, ErrOriginal, err)
	}
	m := Manifest{Plan: Plan{Episodes: b.episodes, Interval: interval, Start: start, Service: b.service}, Columns: Columns()}
	return &Set{Manifest: m, Samples: b.samples, Original: true}, b.dropped, nil
}

// batch is a file on its way to samples.
type batch struct {
	start, interval int64
	reduce          func([]float64) []float64
	lens            Lens
	service         chain.Service
	samples         []Sample
	episodes        int
	dropped         int
}

func (b *batch) read(v any) error {
	switch v := v.(type) {
	case *pickle.List:
		return b.merged(v.Items)
	case *pickle.Dict:
		for i, key := range v.Keys {
			episode, isNumber := key.(int64)
			l, isList := v.Values[i].(*pickle.List)
			if !isNumber || !isList || episode < 0 || episode > 1<<24 {
				return fmt.Errorf("an episode %v that is %T", key, v.Values[i])
			}
			if err := b.episode(int(episode), l.Items); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("it holds %T", v)
}

func (b *batch) episode(episode int, items []any) error {
	for i, item := range items {
		x, predecessor, reward, err := b.pair(item)
		if err != nil {
			return fmt.Errorf("episode %d, sample %d: %w", episode, i, err)
		}
		b.add(x, predecessor, reward, episode, i)
	}
	return nil
}

// merged takes in episodes of which only the order is told: one begins where the
// time since the submission of its predecessor goes back.
func (b *batch) merged(items []any) error {
	episode, probe, last := -1, 0, math.Inf(1)
	for i, item := range items {
		x, predecessor, reward, err := b.pair(item)
		if err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
		since := predecessor[2] + predecessor[3]
		if since < last {
			episode, probe = episode+1, 0
		}
		b.add(x, predecessor, reward, episode, probe)
		probe, last = probe+1, since
	}
	return nil
}

func (b *batch) pair(v any) (x []float64, predecessor [4]float64, reward float64, err error) {
	items, err := sequence(v, 2)
	if err != nil {
		return nil, predecessor, 0, err
	}
	if reward, err = number(items[1]); err != nil {
		return nil, predecessor, 0, fmt.Errorf("reward: %w", err)
	}
	x, predecessor, err = b.history(items[0])
	return x, predecessor, reward, err
}

func (b *batch) add(x []float64, predecessor [4]float64, reward float64, episode, probe int) {
	b.episodes = max(b.episodes, episode+1)
	limit, wait, ran := predecessor[0]*60, predecessor[2], predecessor[3]
	b.service = chain.Service{Limit: int64(limit), Nodes: int(predecessor[1])}
	if ran <= 0 {
		b.dropped++
		return
	}
	submit := b.start + int64(episode)*b.interval
	s := Sample{Episode: episode, Probe: probe, PredStart: submit + int64(wait), Reward: int64(reward)}
	s.Decision = s.PredStart + int64(ran)
	s.PredEnd = s.PredStart + int64(limit)
	s.SuccStart = s.PredEnd + s.Reward
	s.HistoryEnd = s.SuccStart
	row := x[(Steps-1)*Features:]
	s.PendingJobs = int(row[0])
	for _, q := range row[24:29] { // quantiles of the waits of those that run
		s.MeanWait += q / 5
	}
	s.X = x
	if b.reduce != nil {
		s.X = b.reduce(x)
	}
	b.samples = append(b.samples, s)
}

// history is 144 snapshots as 144 rows of 42 features, and the predecessor.
func (b *batch) history(v any) (x []float64, predecessor [4]float64, err error) {
	snapshots, err := sequence(v, Steps)
	if err != nil {
		return nil, predecessor, fmt.Errorf("history: %w", err)
	}
	x = make([]float64, 0, Steps*Features)
	for i, v := range snapshots {
		var successor [4]float64
		var s Snapshot
		if s, predecessor, successor, err = b.snapshot(v); err != nil {
			return nil, predecessor, fmt.Errorf("snapshot %d: %w", i, err)
		}
		x = append(append(append(x, s[:]...), predecessor[:]...), successor[:]...)
	}
	return x, predecessor, nil
}

func (b *batch) snapshot(v any) (s Snapshot, predecessor, successor [4]float64, err error) {
	parts, err := sequence(v, 4)
	if err != nil {
		return s, predecessor, successor, err
	}
	var jobs [2][][4]float64
	for i := range jobs {
		if jobs[i], err = quadruples(parts[i]); err != nil {
			return s, predecessor, successor, err
		}
	}
	b.lens.pending, b.lens.running = b.lens.pending[:0], b.lens.running[:0]
	for _, j := range jobs[0] {
		b.lens.pending = append(b.lens.pending, Pending{j[0], j[1], j[2]})
	}
	for _, j := range jobs[1] {
		b.lens.running = append(b.lens.running, Running{j[0], j[1], j[2], j[3]})
	}
	if predecessor, err = quadruple(parts[2]); err == nil {
		successor, err = quadruple(parts[3])
	}
	return b.lens.Take(b.lens.pending, b.lens.running), predecessor, successor, err
}

func quadruples(v any) ([][4]float64, error) {
	l, ok := v.(*pickle.List)
	if !ok {
		return nil, fmt.Errorf("%T for a list of jobs", v)
	}
	out := make([][4]float64, len(l.Items))
	var err error
	for i, item := range l.Items {
		if out[i], err = quadruple(item); err != nil {
			return nil, fmt.Errorf("job %d: %w", i, err)
		}
	}
	return out, nil
}

func quadruple(v any) (q [4]float64, err error) {
	items, err := sequence(v, len(q))
	if err != nil {
		return q, err
	}
	for i := range q {
		if q[i], err = number(items[i]); err != nil {
			return q, err
		}
	}
	return q, nil
}

// sequence is a list or a tuple of n values.
func sequence(v any, n int) ([]any, error) {
	var items []any
	switch v := v.(type) {
	case *pickle.List:
		items = v.Items
	case pickle.Tuple:
		items = v
	default:
		return nil, fmt.Errorf("%T, want %d values", v, n)
	}
	if len(items) != n {
		return nil, fmt.Errorf("%d values, want %d", len(items), n)
	}
	return items, nil
}

// number is a finite number that counts seconds, minutes or nodes.
func number(v any) (float64, error) {
	var x float64
	switch v := v.(type) {
	case int64:
		x = float64(v)
	case float64:
		x = v
	default:
		return 0, fmt.Errorf("%T for a number", v)
	}
	if !(math.Abs(x) < 1<<40) {
		return 0, fmt.Errorf("%v for a time or a number of nodes", x)
	}
	return x, nil
}
