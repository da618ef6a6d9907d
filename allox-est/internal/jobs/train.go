package jobs

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/foretime/foretime/shared/file"
	"github.com/foretime/foretime/shared/timing"
)

// training is a job under way.
type training struct {
	job
	options Options
	backend compute.Backend
	store   *model.Store
	trainer *train.Trainer
	known   set // to learn from
	unseen  set // to be scored on

	rng   *rand.Rand
	order []int // of the training images; those before at are used up
	at    int
}

// run executes the whole job: set-up, epochs, teardown, each a lap.
func (j job) run(ctx context.Context, name string, o Options) (err error) {
	defer func() {
		// gomlx builds graphs by panicking.
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	if o.Threads > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.Threads))
	}
	laps := timing.NewTimeWriter(o.Out, o.Now)
	laps.Start()
	t, err := j.setUp(o)
	if err != nil {
		return fmt.Errorf("set-up: %w", err)
	}
	defer t.backend.Finalize()
	for epoch := 1; epoch <= o.Epochs; epoch++ {
		if err := laps.LogUpdate(); err != nil { // ends the set-up or an epoch
			return err
		}
		mean, err := t.epoch(ctx)
		if err != nil {
			return fmt.Errorf("epoch %d: %w", epoch, err)
		}
		if _, err := fmt.Fprintf(o.Out, "epoch %d/%d loss %.4f\n", epoch, o.Epochs, mean); err != nil {
			return err
		}
	}
	if err := laps.LogUpdate(); err != nil {
		return err
	}
	if err := t.tearDown(name); err != nil {
		return fmt.Errorf("teardown: %w", err)
	}
	if err := laps.LogUpdate(); err != nil {
		return err
	}
	return laps.PrintResults()
}

// setUp draws the images and takes the first step, which builds the graph.
func (j job) setUp(o Options) (*training, error) {
	// One operation after the other, each on all threads. Operations side by side
	// wait for a worker while they hold one, and stop for good when they hold all.
	b, err := gobackend.New("ops_sequential")
	if err != nil {
		return nil, err
	}
	t := &training{job: j, options: o, backend: b, store: model.NewStore(), rng: rand.New(rand.NewPCG(o.Seed, 0x6f72646572))}
	im := newImages(j.side, j.channels, o.Seed)
	t.known, t.unseen = im.draw(j.train), im.draw(j.heldOut)
	t.order = t.rng.Perm(len(t.known.class))
	if err := t.store.SetRNGStateFromSeed(int64(o.Seed)); err != nil {
		return nil, err
	}
	t.trainer = train.NewTrainer(b, t.store, j.graph, loss.SparseCategoricalCrossEntropyLogits,
		optimizer.Adam().LearningRate(0.002).Done(), nil, nil)
	if _, err := t.step(); err != nil {
		return nil, err
	}
	return t, nil
}

// epoch takes the epoch's steps and returns the mean of their losses.
func (t *training) epoch(ctx context.Context) (mean float64, err error) {
	for range t.options.BatchesPerEpoch {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		l, err := t.step()
		if err != nil {
			return 0, err
		}
		mean += l / float64(t.options.BatchesPerEpoch)
	}
	return mean, nil
}

// step learns from the next images and returns the loss before it.
func (t *training) step() (float64, error) {
	pixels, class := t.known.pick(t.next())
	metrics, err := t.trainer.TrainStep(train.Batch{
		Inputs: []*tensors.Tensor{t.tensor(pixels)},
		Labels: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(class, len(class), 1)},
	})
	if err != nil {
		return 0, err
	}
	value := float64(tensors.ToScalar[float32](metrics[0]))
	for _, m := range metrics {
		if err := m.FinalizeAll(); err != nil {
			return 0, err
		}
	}
	return value, nil
}

func (t *training) tensor(pixels []float32) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(pixels, t.options.BatchSize, t.side, t.side, t.channels)
}

// next names the images of the next batch: all of them in a random order, then
// all again in another.
func (t *training) next() []int {
	batch := make([]int, t.options.BatchSize)
	for i := range batch {
		if t.at == len(t.order) {
			t.rng.Shuffle(len(t.order), func(a, b int) { t.order[a], t.order[b] = t.order[b], t.order[a] })
			t.at = 0
		}
		batch[i] = t.order[t.at]
		t.at++
	}
	return batch
}

// tearDown scores the network on images it has not seen, and saves it.
func (t *training) tearDown(name string) error {
	accuracy, err := t.accuracy()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(t.options.Out, "held-out accuracy %.4f\n", accuracy); err != nil {
		return err
	}
	return file.Write(filepath.Join(t.options.Dir, name+".checkpoint"), t.checkpoint)
}

// accuracy returns the share of held-out images whose largest logit is their class.
func (t *training) accuracy() (float64, error) {
	exec, err := model.NewExec(t.backend, t.store, t.graph)
	if err != nil {
		return 0, err
	}
	size := t.options.BatchSize
	right, scored := 0, 0
	for at := 0; at < len(t.unseen.class); at += size {
		which := make([]int, size) // the last batch is filled up with image 0
		rows := min(size, len(t.unseen.class)-at)
		for i := range rows {
			which[i] = at + i
		}
		pixels, class := t.unseen.pick(which)
		logits, err := exec.Call1(t.tensor(pixels))
		if err != nil {
			return 0, err
		}
		values, err := tensors.CopyFlatData[float32](logits)
		if err != nil {
			return 0, err
		}
		for i := range rows {
			if row := values[i*classes : (i+1)*classes]; slices.Index(row, slices.Max(row)) == int(class[i]) {
				right++
			}
			scored++
		}
	}
	return float64(right) / float64(scored), nil
}

// checkpoint writes the weights: one line of JSON that names each with its
// shape, then their numbers, little-endian float32, in that order.
func (t *training) checkpoint(w io.Writer) error {
	type variable struct {
		Path string `json:"path"`
		Dims []int  `json:"dims"`
	}
	var names []variable
	var numbers []float32
	for v := range t.store.IterVariables() {
		if !v.Trainable {
			continue
		}
		value, err := v.Value()
		if err != nil {
			return err
		}
		data, err := tensors.CopyFlatData[float32](value)
		if err != nil {
			return err
		}
		names, numbers = append(names, variable{v.Path(), v.Shape().Dimensions}), append(numbers, data...)
	}
	if err := json.NewEncoder(w).Encode(names); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, numbers)
}
