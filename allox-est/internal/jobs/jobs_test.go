package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/shared/timing"
)

const noCheckptr = "-gcflags=github.com/gomlx/compute/...=-d=checkptr=0"

// needsPointers skips where the race detector brings checkptr along, which ends
// the process at gomlx's pointer arithmetic.
func needsPointers(t *testing.T) {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	raced, allowed := false, false
	for _, s := range info.Settings {
		raced = raced || s.Key == "-race" && s.Value == "true"
		allowed = allowed || s.Key == "-gcflags" && strings.Contains(s.Value, "checkptr=0")
	}
	if raced && !allowed {
		t.Skip("needs, beside -race, " + noCheckptr)
	}
}

// ticking is a clock that moves on a second each time it is read.
func ticking() timing.Clock {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// tiny are options that make any job short.
func tiny(t *testing.T, out io.Writer) Options {
	return Options{Epochs: 2, BatchesPerEpoch: 1, BatchSize: 2, Threads: 1, Seed: 1, Out: out, Dir: t.TempDir(), Now: ticking()}
}

// runTiny runs a job on a handful of images and returns what it printed and its
// checkpoint.
func runTiny(t *testing.T, name string, change func(*Options)) (out string, checkpoint []byte) {
	t.Helper()
	needsPointers(t)
	var b bytes.Buffer
	o := tiny(t, &b)
	change(&o)
	j := jobs()[name]
	j.train, j.heldOut = 20, 5
	if err := j.run(context.Background(), name, o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	checkpoint, err := os.ReadFile(filepath.Join(o.Dir, name+".checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), checkpoint
}

func TestEveryJob(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			out, checkpoint := runTiny(t, name, func(*Options) {})
			lines := strings.Split(strings.TrimSpace(out), "\n")
			for i, want := range []string{"epoch 1/2 loss ", "epoch 2/2 loss ", "held-out accuracy ", timing.OpenTag} {
				if len(lines) != 4 || !strings.HasPrefix(lines[i], want) {
					t.Fatalf("printed %q, want line %d to begin with %q", out, i, want)
				}
			}
			report, err := timing.ParseOutput(strings.NewReader(out), timing.Extend)
			if err != nil {
				t.Fatal(err)
			}
			// Two epochs: set-up, epoch, epoch, teardown, a clock's tick each.
			if !slices.Equal(report.Laps(), []float64{1, 1, 1, 1}) {
				t.Errorf("laps %v", report.Laps())
			}
			checkWeights(t, checkpoint)
		})
	}
}

// checkWeights reads a checkpoint as its description says.
func checkWeights(t *testing.T, checkpoint []byte) {
	t.Helper()
	head, numbers, _ := bytes.Cut(checkpoint, []byte("\n"))
	var names []struct {
		Path string
		Dims []int
	}
	if err := json.Unmarshal(head, &names); err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, n := range names {
		product := 1
		for _, d := range n.Dims {
			product *= d
		}
		size += product
	}
	if len(names) < 4 || 4*size != len(numbers) {
		t.Errorf("%d weight tensors of %d numbers in %d bytes", len(names), size, len(numbers))
	}
	for i := 0; i < len(numbers); i += 4 {
		bits := uint32(numbers[i]) | uint32(numbers[i+1])<<8 | uint32(numbers[i+2])<<16 | uint32(numbers[i+3])<<24
		if v := float64(math.Float32frombits(bits)); math.IsNaN(v) || math.Abs(v) > 10 {
			t.Fatalf("weight %d is %v", i/4, v)
		}
	}
}

// The same options give the same bytes, on one thread and on two; another seed
// gives others.
func TestSameSeedSameBytes(t *testing.T) {
	for _, name := range []string{"lenet", "googlenet"} {
		out, checkpoint := runTiny(t, name, func(*Options) {})
		for what, change := range map[string]func(*Options){
			"again":       func(*Options) {},
			"two threads": func(o *Options) { o.Threads = 2 },
		} {
			if o, c := runTiny(t, name, change); o != out || !bytes.Equal(c, checkpoint) {
				t.Errorf("%s, %s: the checkpoint or the output is another:\n%s\n%s", name, what, out, o)
			}
		}
		if _, c := runTiny(t, name, func(o *Options) { o.Seed = 2 }); bytes.Equal(c, checkpoint) {
			t.Errorf("%s: two seeds, one checkpoint", name)
		}
	}
}

func TestRunErrors(t *testing.T) {
	for name, c := range map[string]struct {
		job    string
		change func(*Options)
		want   error
	}{
		"unknown":          {"resnet", func(*Options) {}, ErrUnknownJob},
		"no name":          {"", func(*Options) {}, ErrUnknownJob},
		"gpu":              {"lenet", func(o *Options) { o.GPU = true }, ErrDeviceUnavailable},
		"no epochs":        {"lenet", func(o *Options) { o.Epochs = 0 }, ErrOption},
		"negative epochs":  {"lenet", func(o *Options) { o.Epochs = -1 }, ErrOption},
		"negative batches": {"lenet", func(o *Options) { o.BatchesPerEpoch = -1 }, ErrOption},
		"negative batch":   {"lenet", func(o *Options) { o.BatchSize = -1 }, ErrOption},
		"negative threads": {"lenet", func(o *Options) { o.Threads = -1 }, ErrOption},
	} {
		var out bytes.Buffer
		o := tiny(t, &out)
		c.change(&o)
		if err := Run(context.Background(), c.job, o); !errors.Is(err, c.want) || out.Len() > 0 {
			t.Errorf("%s: %v, want %v; printed %q", name, err, c.want, out.String())
		}
	}
}

// A job that fails or is cancelled does not claim to be done.
func TestNoTagUnlessDone(t *testing.T) {
	needsPointers(t)
	j := jobs()["lenet"]
	j.train, j.heldOut = 20, 5

	ctx, cancel := context.WithCancel(context.Background())
	out := &cancelling{cancel: cancel}
	o := tiny(t, out)
	o.Epochs = 1000
	if err := j.run(ctx, "lenet", o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if s := out.String(); strings.Count(s, "\n") != 1 || strings.Contains(s, timing.OpenTag) {
		t.Errorf("cancelled after the first epoch, it printed %q", s)
	}

	var b bytes.Buffer
	o = tiny(t, &b)
	o.Dir = filepath.Join(o.Dir, "absent")
	if err := j.run(context.Background(), "lenet", o); !errors.Is(err, os.ErrNotExist) || strings.Contains(b.String(), timing.OpenTag) {
		t.Errorf("no folder: %v, printed %q", err, b.String())
	}

	o = tiny(t, failing{})
	if err := j.run(context.Background(), "lenet", o); !errors.Is(err, errFull) {
		t.Errorf("output fails: %v", err)
	}
}

// cancelling cancels at the first write.
type cancelling struct {
	bytes.Buffer
	cancel func()
}

func (c *cancelling) Write(p []byte) (int, error) {
	c.cancel()
	return c.Buffer.Write(p)
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestThreadsArePutBack(t *testing.T) {
	needsPointers(t)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(before + 2))
	seen := 0
	o := tiny(t, nil)
	o.Out = watching(func() { seen = runtime.GOMAXPROCS(0) })
	o.Epochs = 1
	o.Threads = before + 1
	if err := Run(context.Background(), "lenet", o); err != nil {
		t.Fatal(err)
	}
	if now := runtime.GOMAXPROCS(0); seen != before+1 || now != before+2 {
		t.Errorf("%d threads while it ran, want %d; %d after, want %d", seen, before+1, now, before+2)
	}
}

type watching func()

func (w watching) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

func TestImages(t *testing.T) {
	im := newImages(8, 3, 1)
	s := im.draw(600)
	if s.size != 8*8*3 || len(s.pixels) != 600*s.size || s.class[13] != 3 {
		t.Fatalf("%d numbers an image, %d in all, class %d", s.size, len(s.pixels), s.class[13])
	}
	if again := newImages(8, 3, 1).draw(600); !slices.Equal(again.pixels, s.pixels) {
		t.Error("the same seed drew other images")
	}
	if other := newImages(8, 3, 2).draw(600); slices.Equal(other.pixels, s.pixels) {
		t.Error("two seeds drew the same images")
	}
	// The mean picture of a class is like itself in the other half of the
	// images, and unlike those of the others.
	first, second := s.means(0, 300), s.means(300, 600)
	for c := range classes {
		best := 0
		for d := range classes {
			if distance(first[c], second[d]) < distance(first[c], second[best]) {
				best = d
			}
		}
		if best != c {
			t.Errorf("class %d looks most like class %d", c, best)
		}
	}
	pixels, class := s.pick([]int{7, 0})
	if !slices.Equal(class, []int32{7, 0}) || !slices.Equal(pixels[:s.size], s.pixels[7*s.size:8*s.size]) {
		t.Error("pick gives other images than asked for")
	}
}

func (s set) means(from, to int) (out [classes][]float64) {
	for c := range out {
		out[c] = make([]float64, s.size)
	}
	for i := from; i < to; i++ {
		for p, v := range s.pixels[i*s.size : (i+1)*s.size] {
			out[s.class[i]][p] += float64(v) * classes / float64(to-from)
		}
	}
	return out
}

func distance(a, b []float64) (d float64) {
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
	}
	return d
}

// Each pass takes every image once, in an order of its own, whatever the batch.
func TestEveryImageOnce(t *testing.T) {
	tr := &training{options: Options{BatchSize: 3}, rng: rand.New(rand.NewPCG(1, 1)), order: []int{0, 1, 2, 3, 4, 5, 6}}
	var taken []int
	for range 7 {
		taken = append(taken, tr.next()...)
	}
	for pass := range 3 {
		once := slices.Sorted(slices.Values(taken[7*pass : 7*pass+7]))
		if !slices.Equal(once, []int{0, 1, 2, 3, 4, 5, 6}) {
			t.Errorf("pass %d took %v", pass, taken[7*pass:7*pass+7])
		}
	}
	if slices.Equal(taken[:7], taken[7:14]) {
		t.Error("two passes in the same order")
	}
}
