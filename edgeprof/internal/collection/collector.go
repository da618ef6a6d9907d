package collection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/measurement"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/runtime"
	"github.com/foretime/foretime/shared/timing"
)

// Collector measures models and appends rows to the files in a directory: for a
// model resnet18.onnx on a desktop, resnet18.onnx-desktop.csv and
// resnet18.onnx-desktop.kernels.csv.
type Collector struct {
	Dir string
	// Open loads a model in a setting.
	Open func(ctx context.Context, job Job) (runtime.Session, error)
	// Host reads the state of this machine.
	Host device.Local
	// Clock dates the rows.
	Clock runtime.Clock
	// Seed draws the background loads.
	Seed uint64
	// Images, when there are any, are the models' input in turn; otherwise
	// inputs are random.
	Images []string
	// Step is called after every iteration; it may be nil.
	Step func()
}

// Job is one model in one setting.
type Job struct {
	Model      string // path of the .onnx file
	Family     string // "" is taken from the file's name
	Setting    measurement.Setting
	Sizes      map[string]int64 // of named dimensions that the model leaves open
	Iterations int              // rows wanted, those of an earlier run included
	Warmup     int              // inferences before them that are not counted
	Round      int              // numbers repeats of the same measurement
	Profiles   int              // inferences for the kernels' times; 0 leaves them out
}

// Summary describes the rows of a job.
type Summary struct {
	Model   string `json:"model"`
	Setting string `json:"setting"`
	Rows    int    `json:"rows"`
	// Resumed counts the rows that an earlier run had measured.
	Resumed int     `json:"resumed"`
	Min     float64 `json:"min_seconds"`
	P50     float64 `json:"p50_seconds"`
	P90     float64 `json:"p90_seconds"`
	Kernels int     `json:"kernels"`
	// Warnings about the files and the model.
	Warnings []error `json:"-"`
}

// burstSeconds is the total time of the inferences of one row, if they are short; their median
// is the row's time.
const (
	burstSeconds = 5e-3
	longestBurst = 100
)

// profileWarmup is the number of profiled inferences of ONNX Runtime that are not counted: the
// first ones touch the memory of a new session.
const profileWarmup = 3

// profileSeconds is the time for which fast models are profiled, up to ten times as often as
// requested: the runtime's clock may be coarser than a kernel.
const profileSeconds = 20e-3

// rampUp is the time that a background load runs before an inference.
const rampUp = 30 * time.Millisecond

// Collect measures what is missing of a job. The error matches [measurement.ErrSetting],
// [measurement.ErrColumns], is one of the model's or the runtime's, or the context's.
func (c *Collector) Collect(ctx context.Context, job Job) (Summary, error) {
	if err := job.Setting.Check(); err != nil {
		return Summary{}, err
	}
	file := filepath.Base(job.Model)
	base := filepath.Join(c.Dir, file+"-"+job.Setting.Device)
	rows, err := measurement.OpenTable[measurement.Row](base + ".csv")
	if err != nil {
		return Summary{}, err
	}
	defer rows.Close()
	kernels, err := measurement.OpenTable[measurement.Kernel](base + ".kernels.csv")
	if err != nil {
		return Summary{}, err
	}
	defer kernels.Close()
	r := run{Collector: c, job: job, rows: rows, kernels: kernels, name: strings.TrimSuffix(file, ".onnx")}
	r.job.Family = cmp.Or(r.job.Family, measurement.ModelFamily(r.name))
	summary, err := r.collect(ctx)
	if err != nil {
		return Summary{}, fmt.Errorf("%s in %s: %w", job.Model, job.Setting, err)
	}
	for _, unlocked := range []error{rows.LockError, kernels.LockError} {
		if unlocked != nil {
			summary.Warnings = append(summary.Warnings, unlocked)
		}
	}
	return summary, nil
}

// run is a job at work.
type run struct {
	*Collector
	job     Job
	rows    *measurement.Table[measurement.Row]
	kernels *measurement.Table[measurement.Kernel]
	name    string
	facts   measurement.Row // what all rows share
	summary Summary
}

func (r *run) collect(ctx context.Context) (Summary, error) {
	setting := r.job.Setting.String()
	r.summary = Summary{Model: r.name, Setting: setting}
	var took timing.Latencies
	for _, row := range r.rows.Rows {
		if row.Setting == setting && row.Round != nil && *row.Round == r.job.Round && row.Time.Known {
			r.summary.Rows++
			if err := took.Add(row.Time.Value); err != nil {
				return Summary{}, err
			}
		}
	}
	r.summary.Resumed = r.summary.Rows
	profiled := r.job.Profiles == 0
	for _, k := range r.kernels.Rows {
		if k.Setting == setting && k.Round == r.job.Round {
			profiled = true
			r.summary.Kernels++
		}
	}
	for range min(r.summary.Rows, r.job.Iterations) {
		r.step()
	}
	if r.summary.Rows < r.job.Iterations || !profiled {
		if err := r.measure(ctx, &took, !profiled); err != nil {
			return Summary{}, err
		}
	}
	if s, err := took.Summary(); err == nil {
		r.summary.Min = s.Min
		r.summary.P50 = s.P50
		r.summary.P90 = s.P90
	}
	return r.summary, nil
}

func (r *run) step() {
	if r.Step != nil {
		r.Step()
	}
}

// measure adds the rows that are missing.
func (r *run) measure(ctx context.Context, took *timing.Latencies, profile bool) error {
	m, err := onnx.ReadFile(r.job.Model)
	if err != nil {
		return err
	}
	a, err := onnx.Analyze(m, onnx.Settings{Sizes: r.job.Sizes})
	if err != nil {
		return err
	}
	if why := a.InputDecides(); why != nil {
		r.summary.Warnings = append(r.summary.Warnings, fmt.Errorf("%s: an input decides the work, so its times hold for these inputs alone: %w", r.name, why))
	}
	if err := r.describe(a); err != nil {
		return err
	}
	session, err := r.Open(ctx, r.job)
	if err != nil {
		return err
	}
	defer session.Close()
	inputs := RandomInputs(session.Inputs())
	warm, err := session.Time(ctx, inputs, 1+max(1, r.job.Warmup))
	if err != nil {
		return err
	}
	shortest := max(1e-6, slices.Min(warm.Seconds))
	if profile {
		if err := r.profile(ctx, session, inputs, a, shortest); err != nil {
			return err
		}
	}
	burst := int(min(longestBurst, math.Ceil(burstSeconds/shortest)))
	rng := rand.New(rand.NewPCG(r.Seed, uint64(r.summary.Rows)))
	for r.summary.Rows < r.job.Iterations {
		row, err := r.iterate(ctx, session, inputs, burst, rng)
		if err != nil {
			return err
		}
		if err := r.rows.Add(row); err != nil {
			return err
		}
		if err := took.Add(row.Time.Value); err != nil {
			return err
		}
		r.summary.Rows++
		r.step()
	}
	return nil
}

// iterate makes one row.
func (r *run) iterate(ctx context.Context, session runtime.Session, inputs map[string]runtime.Tensor, burst int, rng *rand.Rand) (measurement.Row, error) {
	row := r.facts
	number1 := r.summary.Rows
	row.Number = &number1
	row.Burst = measurement.NumberCell(burst)
	if len(r.Images) > 0 {
		size, err := loadImage(r.Images[number1%len(r.Images)], inputs)
		if err != nil {
			return row, err
		}
		row.ReadBytes = measurement.NumberCell(size)
	}
	cores, percent := 0, 0.0
	if r.job.Setting.Stress {
		cores, percent = 1+rng.IntN(int(*r.facts.Cores)), float64(20+rng.IntN(61))
		stop := stress(cores, percent/100)
		defer stop()
		if err := device.Sleep(ctx, rampUp); err != nil {
			return row, err
		}
	}
	row.StressCores, row.LoadPercent = measurement.NumberCell(cores), measurement.NumberCell(percent)
	d, err := r.Host.MeasureDuring(ctx, func(ctx context.Context) error {
		row.Start = r.now()
		timed, err := session.Time(ctx, inputs, burst)
		if err != nil {
			return err
		}
		row.End = r.now()
		row.Uncontended = measurement.NewSeconds(timed.UncontendedSeconds(r.job.Setting.Threads))
		slices.Sort(timed.Seconds)
		row.Time = measurement.NewSeconds(timed.Seconds[(burst-1)/2])
		return nil
	})
	if err != nil {
		return row, err
	}
	state(&row, d)
	return row, nil
}

func (r *run) now() string { return r.Clock().UTC().Format("2006-01-02 15:04:05.000000") }

// state fills what changes from row to row.
func state(row *measurement.Row, d device.Device) {
	row.CPUPercent, row.DiskPercent = measurement.NumberCell(d.Load.CPUPercent), d.Load.DiskPercent
	if d.MemoryBytes > 0 {
		row.MemoryPercent = measurement.NumberCell(100 * float64(d.MemoryBytes-d.Load.MemoryAvailableBytes) / float64(d.MemoryBytes))
	}
}

// describe fills what all rows of the job share.
func (r *run) describe(a *onnx.Analysis) error {
	c, err := a.Characteristics()
	if err != nil {
		return err
	}
	d, err := r.Host.MeasureDuring(context.Background(), func(context.Context) error { return nil })
	if err == nil {
		err = device.CheckMemory(c.RunBytes(), d.Load.MemoryAvailableBytes)
	}
	if err != nil {
		return err
	}
	s := r.job.Setting
	load := "none"
	if s.Stress {
		load = "stress"
	}
	r.facts = measurement.NewRow(c)
	f := &r.facts
	f.Device, f.ModelName = s.Device, r.name
	f.Run = measurement.Run{
		Setting: s.String(), Family: r.job.Family, Round: &r.job.Round, Threads: measurement.NumberCell(s.Threads), Pin: s.CPUList(" "), Load: load,
	}
	f.Host = measurement.Host{UUID: d.UUID, DeviceModel: d.Model, Processor: d.Processor, Cores: measurement.NumberCell(d.Cores), MaxMHz: measurement.NumberCell(d.MaxMHz)}
	return nil
}

// profile adds the kernels' times.
func (r *run) profile(ctx context.Context, session runtime.Session, inputs map[string]runtime.Tensor, a *onnx.Analysis, shortest float64) error {
	runs := max(r.job.Profiles, min(10*r.job.Profiles, int(profileSeconds/shortest)))
	profiles, err := session.Profile(ctx, inputs, profileWarmup+runs)
	if err != nil {
		return err
	}
	kernels := a.Kernels()
	rows := measurement.NewKernels(kernels)
	times := measurement.KernelRuns(kernels, profiles[profileWarmup:])
	s := r.job.Setting
	for k := range rows {
		row := &rows[k]
		row.ModelName = r.name
		row.Family = r.job.Family
		row.Setting = s.String()
		row.Round = r.job.Round
		row.Threads = float64(s.Threads)
		row.Runs = len(times[k])
		if t := measurement.TrimmedMean(times[k]); t > 0 {
			row.Seconds = &t
		}
	}
	r.summary.Kernels = len(rows)
	return r.kernels.Add(rows...)
}
