package experiment

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/shared/file"
)

// Experiment is a set of models that share a device.
type Experiment struct {
	Models   []Model
	Duration time.Duration // of the shared part; each model then runs to MinJobs
	DeviceID int           `field:"device_id"`

	Policy  string  `field:"policy"`           // name; empty: each model's own control
	Slack   float64 `field:"slack"`            // of an urgent job's time for others; 0 the policy's default
	MinJobs int     `field:"min_jobs" low:"1"` // jobs of each model at least
	// Of simulated devices and the virtual clock.
	Seed     uint64  `field:"seed"`
	Jitter   float64 `field:"jitter"` // standard deviation of kernel times and sleeps as a share of them
	Device   device.Settings
	SyncCost time.Duration `field:"sync_ns" unit:"ns"`     // of the host at a synchronization point; 0 the default
	Reaction time.Duration `field:"reaction_ns" unit:"ns"` // from a change to the policy's answer

	Warnings []error // quirks of the file, in file order
}

// Rules returns the settings of the experiment's policy.
func (x *Experiment) Rules() policy.Settings {
	return policy.Settings{Slack: x.Slack, Device: x.Device}
}

// PolicyName returns the name of the experiment's policy: the one in the file, or else
// priority if a model has control, or none.
func (x *Experiment) PolicyName() string {
	switch {
	case x.Policy != "":
		return x.Policy
	case slices.ContainsFunc(x.Models, func(m Model) bool { return m.Control.On }):
		return "priority"
	}
	return "none"
}

// Terms returns the terms of model i with the policy. If the file names no policy, a model
// without control is exempt from it.
func (x *Experiment) Terms(i int) policy.Terms {
	t, c := x.Models[i].Terms, x.Models[i].Control
	named := x.Policy != ""
	switch {
	case !named && !c.On:
		t.Exempt = true
	case c.Sync || named:
		t.Interval = c.SyncEvery
	}
	return t
}

// Control holds the settings of Deft's control of a model.
type Control struct {
	On        bool `field:"control"`     // the model stops for, or stops, others
	Sync      bool `field:"controlsync"` // synchronization points bound its queue
	SyncEvery int  // launches between synchronization points; 0: the policy's choice
}

// Model is one process of an experiment: jobs of one model, one after another.
type Model struct {
	// Terms holds the model's terms with any policy; [Experiment.Terms] adds those of its
	// control. Their Name is OutputName.
	policy.Terms
	Control Control

	ModelName   string        // torchvision factory, or a name of ours
	ModelWeight string        `field:"model_weight"`
	SleepTime   time.Duration `field:"sleep_time" unit:"s"` // between the end of a job and the begin of the next
	InputFile   string        `field:"input_file_path"`
	OutputDir   string        `field:"output_file_path"`
	OutputName  string        // stem of the log files
	Resize      bool          `field:"resize"`
	Height      int           // px; 0 where the file gives no size
	Width       int
	BatchSize   int    `field:"batch_size" low:"1"`
	SyncLevel   string `field:"sync_level" values:"kernel layer"` // "" for neither
	PythonPath  string `field:"python_path"`
	RepoPath    string `field:"repo_path"`

	Trace       string `field:"trace"`           // recording of deft pair --out-dir, whose typical job is the model's; "" none
	Kernels     int    `field:"kernels" low:"1"` // launches of a job; 0: the model's profile
	KernelTimes []time.Duration
	TracePause  time.Duration // between two jobs of the trace
	Graph       int           `field:"graph" low:"1"`       // kernels that are launched together, as one CUDA graph; 0 none are
	LaunchCost  time.Duration `field:"launch_ns" unit:"ns"` // host time of a launch, virtual clock; 0 the default
	Period      time.Duration `field:"period_ms" unit:"ms"`
	Compile     bool          `field:"compile"` // by torch.compile, on a GPU
	Start       time.Duration `field:"start_ms" unit:"ms"`
}

// Load reads an experiment, and the traces that it names, from files.
func Load(path string) (*Experiment, error) {
	text, err := file.ReadAll(path)
	if err != nil {
		return nil, err
	}
	x, err := Parse(path, text)
	if err != nil {
		return nil, err
	}
	if err := x.loadTraces(path); err != nil {
		return nil, err
	}
	return x, nil
}

// SetOutputDir makes every model write its logs into one directory. It refuses models that
// would overwrite each other's there.
func (x *Experiment) SetOutputDir(dir string) error {
	for i := range x.Models {
		x.Models[i].OutputDir = dir
	}
	if first, second := duplicateLogs(x.Models); second > 0 {
		return fmt.Errorf("models[%d] and models[%d] both write %s", first, second, x.Models[second].CSV())
	}
	return nil
}

// Name returns the name of a model in results: model, size, batch and sleep time, as in
// "fasterrcnn_resnet50_fpn_720x1280_batch_1_sleep_1".
func (m *Model) Name() string {
	var b strings.Builder
	b.WriteString(m.ModelName)
	if m.Height > 0 {
		fmt.Fprintf(&b, "_%dx%d", m.Height, m.Width)
	}
	fmt.Fprintf(&b, "_batch_%d_sleep_%s", m.BatchSize, strconv.FormatFloat(m.SleepTime.Seconds(), 'f', -1, 64))
	return b.String()
}

// Pause returns the time between the end of a job and the begin of the next on a simulated
// device: SleepTime, or that of the trace.
func (m *Model) Pause() time.Duration { return cmp.Or(m.SleepTime, m.TracePause) }

// CSV returns the path of the model's log of jobs.
func (m *Model) CSV() string { return filepath.Join(m.OutputDir, m.OutputName+".csv") }

// Log returns the path of the standard error of the model's process.
func (m *Model) Log() string { return filepath.Join(m.OutputDir, m.OutputName+".log") }
