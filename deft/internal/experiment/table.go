package experiment

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/foretime/foretime/shared/dataset"
)

// Input is the size of one job's input.
type Input struct {
	Height, Width int // pixels
	Batch         int // images
}

// megapixels returns the size of the input.
func (in Input) megapixels() (float64, error) {
	if in.Batch < 1 || in.Batch > 1<<16 {
		return 0, fmt.Errorf("batch size %d: want 1 to %d", in.Batch, 1<<16)
	}
	if min(in.Height, in.Width) < 1 || max(in.Height, in.Width) > 1<<16 {
		return 0, fmt.Errorf("input of %dx%d pixels: want 1 to %d per side", in.Height, in.Width, 1<<16)
	}
	return float64(in.Height) * float64(in.Width) / 1e6 * float64(in.Batch), nil
}

// ErrUnknownModel is returned for a model that the table does not hold.
var ErrUnknownModel = errors.New("no kernels are known of model")

// Models returns the names of the table's models, sorted.
func Models() []string {
	var names []string
	for _, r := range table() {
		names = append(names, r.Model)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Lookup returns the profile of a model for one input size. A kernel of a
// stage takes the stage's floor plus a part in proportion to the input.
func Lookup(model string, in Input) (Profile, error) {
	p := Profile{Model: model}
	fixed := true // the kernels do not depend on the input
	for _, r := range table() {
		if r.Model != model {
			continue
		}
		units, err := in.megapixels()
		if err != nil {
			return Profile{}, fmt.Errorf("profile: %s: %w", model, err)
		}
		fixed = fixed && r.UnitNS == 0
		p.AllocatedBytes = int64((r.WeightsMB + r.ActivationsMB*units) * 1e6)
		p.ReservedBytes = p.AllocatedBytes + p.AllocatedBytes/4
		p.Groups = append(p.Groups, Group{r.Kernels, time.Duration(r.FloorNS + r.UnitNS*units)})
	}
	if p.Groups == nil {
		return Profile{}, fmt.Errorf("profile: %w %q: give a trace, kernels and kernel_ns, or a model of %s", ErrUnknownModel, model, strings.Join(Models(), ", "))
	}
	if fixed && in != (Input{Height: classifierPixels, Width: classifierPixels, Batch: 1}) {
		return Profile{}, fmt.Errorf("profile: %s: its kernels are known for one image of %dx%d only: set resize to false and batch_size to 1", model, classifierPixels, classifierPixels)
	}
	return p, nil
}

// profiles holds models whose kernels were published, and one of this project's own runs.
//
// resnet50 and retinanet_resnet50_fpn: the lists that the Orion scheduler was published with
// (eth-easl/orion, EuroSys 2024, MIT licence), of a V100 in single precision: resnet50 at
// 4 x 224 x 224, the heads of a RetinaNet at 4 x 800 x 800 on the backbone of that resnet50. A
// kernel whose blocks fill w whole rounds of the 80 multiprocessors and part of one more grows
// with the input by the share of those rounds that is filled.
//
// fasterrcnn_resnet50_fpn: number of kernels per job and the range of kernel times at 1280x720
// (4.4 to about 400 µs) as in the original program's published sample profile; how the times
// spread over the stages is assumed, for a GPU of about 100 TFLOP/s and 1.5 TB/s.
//
// mobilenet_v3_small: means of consecutive kernels of one image of 224 x 224, measured on an
// H200 (docs/results/h200.json, check 21).
//
//go:embed profiles.csv
var profiles string

// row is one line of profiles.csv.
type row struct {
	Model         string  `dataset:"model"`
	Stage         string  `dataset:"stage"`
	Kernels       int     `dataset:"kernels"`
	FloorNS       float64 `dataset:"floor_ns"`
	UnitNS        float64 `dataset:"unit_ns"`
	WeightsMB     float64 `dataset:"weights_mb"`
	ActivationsMB float64 `dataset:"activations_mb_per_unit"`
}

// table returns profiles.csv, read once. The file is part of the program: a
// bad line is a mistake in it.
var table = sync.OnceValue(func() []row {
	_, body, _ := strings.Cut(profiles, "\n") // what the columns are
	r, err := dataset.NewReader[row](strings.NewReader(body), "profiles.csv", dataset.CSV, dataset.Options{})
	if err != nil {
		panic(err)
	}
	t, err := dataset.ReadAll(r)
	if err != nil || len(t.Diagnostics) > 0 {
		panic(fmt.Sprint(err, t))
	}
	return t.Rows
})
