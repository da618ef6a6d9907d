package jobspec

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/allox-est/internal/progress"
	"github.com/foretime/foretime/shared/file"
)

// ErrInvalid is returned, wrapped with the place, when a description cannot be
// used.
var ErrInvalid = errors.New("invalid job description")

// Names of the devices.
const (
	CPU = "cpu"
	GPU = "gpu"
)

// Units of a job's length.
const (
	Epoch = "epoch"
	Step  = "step"
)

// Spec is a training job.
type Spec struct {
	Name    string            `yaml:"name" json:"name"`
	Dir     string            `yaml:"dir" json:"dir,omitempty"` // working directory, relative to Base
	Base    string            `yaml:"-" json:"-"`               // directory of the description's file
	Command []string          `yaml:"command" json:"command"`   // template: {epochs} or {steps}, {hw}, {scratch}, any parameter; ${name} is the shell's
	Params  map[string]Scalar `yaml:"params" json:"params,omitempty"`
	Env     map[string]Scalar `yaml:"env" json:"env,omitempty"`
	Epochs  int               `yaml:"epochs" json:"-"`
	Devices map[string]Device `yaml:"devices" json:"-"`
	Sample  Sample            `yaml:"sample" json:"-"`
	// Unit is the name of what Epochs and all other lengths count: "epoch" (the default), or
	// "step" if an epoch is too long to sample.
	Unit     string   `yaml:"unit" json:"unit,omitempty"`
	Progress Progress `yaml:"progress" json:"progress"`
	// Stages are the ranges between which a schedule changes the work, such as "0-600
	// 600-1200"; a command with {stage} begins with the unit after which a stage begins.
	Stages Stages `yaml:"stages,omitempty" json:"-"`
	// Whole means that the job is run whole and not sampled: its command need not take a
	// length, and Epochs may be 0 if its output contains them.
	Whole bool `yaml:"-" json:"-"`
}

// Device says how much of a device the job uses.
type Device struct {
	Threads int `yaml:"threads" json:"threads,omitempty"` // of the CPU; 0 means 1
	Count   int `yaml:"count" json:"count,omitempty"`     // of GPUs; 0 means 1
}

// Progress says which lines of the job's output count its units, where the output
// alone does not show it.
type Progress struct {
	Pattern string `yaml:"pattern" json:"pattern,omitempty"`
}

// Sample says how the job is sampled. Its zero value is one run of 2 % on each device, and
// one of 1 % if the budget allows.
type Sample struct {
	Fractions []float64     `yaml:"fractions"`  // of the epochs, of a short and a long sample; 1 % and 2 % by default
	MinEpochs []int         `yaml:"min_epochs"` // per fraction; 2 and 5 by default, of steps 20 and 50
	Repeats   int           `yaml:"repeats"`    // most repeats of each length; 0 means as the budget allows
	Budget    float64       `yaml:"budget"`     // time of the samples relative to the job's; 0 means 3 %
	Target    float64       `yaml:"target"`     // relative half-width, without contention, at which sampling stops; 0 means 5 %
	Timeout   time.Duration `yaml:"timeout"`    // of one sample; 0 means none
}

// Scalar is a parameter's text as written, whatever its YAML type.
type Scalar string

// UnmarshalYAML takes any scalar by its text.
func (s *Scalar) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a parameter is one value, not a list or a map", n.Line)
	}
	*s = Scalar(n.Value)
	return nil
}

// Load reads a description in YAML or JSON from a file. Errors of its content
// wrap ErrInvalid.
func Load(path string) (*Spec, error) {
	f, err := file.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	spec, err := Parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	spec.Base = filepath.Dir(path)
	return spec, nil
}

// WorkDir returns the directory to run in.
func (s *Spec) WorkDir() string {
	if filepath.IsAbs(s.Dir) {
		return s.Dir
	}
	return filepath.Join(s.Base, s.Dir)
}

// Parse reads a description in YAML or JSON and checks it. Errors wrap
// ErrInvalid.
func Parse(r io.Reader) (*Spec, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	var s Spec
	if err := dec.Decode(&s); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("empty")
		}
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: line %d: a second document, want one job", ErrInvalid, second.Line)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	err = cmp.Or(checkCounts(root.Content[0], ""), s.Check())
	var bad *entryError
	if errors.As(err, &bad) {
		bad.line = lineOf(root.Content[0], bad.entry)
	}
	return &s, err
}

// counts matches the paths of the entries that are whole numbers.
var counts = regexp.MustCompile(`^(epochs|devices\.\w+\.(threads|count)|sample\.(repeats|min_epochs))$`)

// checkCounts returns an error if an entry below a path is a fraction where a number is counted,
// which the decoder would cut off.
func checkCounts(node *yaml.Node, path string) error {
	var x float64
	if counts.MatchString(path) && node.Kind == yaml.ScalarNode && node.Decode(&x) == nil && x != math.Trunc(x) {
		return invalid(path, "%s, want a whole number", node.Value)
	}
	for i, child := range node.Content {
		entry := path
		if node.Kind == yaml.MappingNode && i%2 == 1 {
			entry = strings.TrimPrefix(path+"."+node.Content[i-1].Value, ".")
		}
		if err := checkCounts(child, entry); err != nil {
			return err
		}
	}
	return nil
}

// parameter finds {name}; ${name} is left to the shell, and {{text}} is {text}.
var parameter = regexp.MustCompile(`\{\{[^{}]*\}\}|\$?\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Check says what is wrong with a description, and fills in what follows from
// the rest: the name from the command, the CPU as the device. Errors wrap
// ErrInvalid.
func (s *Spec) Check() error {
	if len(s.Command) == 0 || s.Command[0] == "" {
		return invalid("command", "empty")
	}
	if s.Epochs < 1 && (s.Epochs < 0 || !s.Whole) {
		return invalid("epochs", "%d, want at least 1 (--epochs); run --keep reads them from the output of the whole job", s.Epochs)
	}
	s.Name = cmp.Or(s.Name, nameOf(s.Command))
	if s.Unit == Epoch {
		s.Unit = "" // says nothing of epochs, as the hash does
	}
	if s.Unit != "" && s.Unit != Step {
		return invalid("unit", "%q, want %s or %s", s.Unit, Epoch, Step)
	}
	if err := cmp.Or(s.checkCommand(), s.checkDevices()); err != nil {
		return err
	}
	if n := len(s.Stages); n > 0 && s.Stages[n-1].To < float64(s.Epochs) {
		return invalid("stages", "the last one ends at %v of %d", s.Stages[n-1].To, s.Epochs)
	}
	if _, err := s.Reader(s.Epochs); err != nil {
		return err
	}
	return s.Sample.check()
}

// entryError is an error of one entry of a description.
type entryError struct {
	entry string // its path, as "sample.budget"
	line  int    // 0 where it is not from a file
	err   error
}

func (e *entryError) Error() string {
	place := e.entry
	if e.line > 0 {
		place = fmt.Sprintf("line %d: %s", e.line, e.entry)
	}
	return fmt.Sprintf("%v: %s: %v", ErrInvalid, place, e.err)
}

func (e *entryError) Unwrap() error { return ErrInvalid }

// invalid returns an error of an entry of a description.
func invalid(entry, format string, args ...any) error {
	return &entryError{entry: entry, err: fmt.Errorf(format, args...)}
}

// lineOf returns the line of an entry in a description, or of the last name on its path that is
// there.
func lineOf(node *yaml.Node, entry string) int {
	line := node.Line
	for name := range strings.SplitSeq(entry, ".") {
		i := 0
		for i < len(node.Content) && node.Content[i].Value != name {
			i += 2
		}
		if node.Kind != yaml.MappingNode || i >= len(node.Content) {
			break
		}
		line, node = node.Content[i].Line, node.Content[i+1]
	}
	return line
}

// checkCommand looks for the parameters in the command.
func (s *Spec) checkCommand() error {
	used := map[string]bool{}
	for i, word := range s.Command {
		for _, m := range parameter.FindAllStringSubmatch(word, -1) {
			if m[1] != "" && m[0][0] != '$' {
				used[m[1]] = true
			}
		}
		if word != "{hw}" && strings.Contains(word, "{hw}") {
			return invalid("command", "word %d: {hw} must be a word by itself: it becomes several words", i)
		}
	}
	switch takes := used["epochs"] || used["steps"]; {
	case !takes && !s.Whole:
		return invalid("command", "no {epochs}: the number of epochs cannot be set; run --keep runs the whole job")
	case takes && s.Epochs == 0:
		return invalid("epochs", "0, want at least 1 for {epochs}")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		if !used[name] {
			return invalid("params."+name, "not used by the command")
		}
	}
	for _, name := range []string{"epochs", "steps", "hw", "scratch", "stage"} {
		if _, given := s.Params[name]; given {
			return invalid("params."+name, "reserved name")
		}
		delete(used, name)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if _, given := s.Params[name]; !given {
			return invalid("command", "{%s}: no such parameter; write {{%s}} for the text itself", name, name)
		}
	}
	return nil
}

// checkDevices looks at the devices; the CPU where there is none.
func (s *Spec) checkDevices() error {
	if len(s.Devices) == 0 {
		s.Devices = map[string]Device{CPU: {Threads: 1}}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Devices)) {
		d := s.Devices[name]
		if name != CPU && name != GPU {
			return invalid("devices."+name, "want %s or %s", CPU, GPU)
		}
		if d.Threads < 0 || d.Count < 0 {
			return invalid("devices."+name, "negative number")
		}
	}
	return nil
}

func (s *Sample) check() error {
	f, n := s.Fractions, s.MinEpochs
	switch {
	case len(f) != 0 && len(f) != 2 || len(n) != 0 && len(n) != 2:
		return invalid("sample", "want two fractions and two min_epochs")
	case len(f) == 2 && !(f[0] > 0 && f[0] <= f[1] && f[1] <= 1):
		return invalid("sample.fractions", "want two fractions of the epochs in ascending order")
	case len(n) == 2 && !(n[0] >= 1 && n[0] <= n[1]):
		return invalid("sample.min_epochs", "want two counts in ascending order")
	case !(s.Budget >= 0 && s.Budget <= 1) || !(s.Target >= 0 && s.Target <= 1):
		return invalid("sample", "budget: %v, target: %v, want fractions from 0 to 1", s.Budget, s.Target)
	case s.Repeats < 0 || s.Timeout < 0:
		return invalid("sample", "repeats and timeout must not be negative")
	}
	return nil
}

// Reader returns what finds how far a run of so many units has come.
func (s *Spec) Reader(epochs int) (r progress.Reader, err error) {
	r.Units = float64(epochs)
	if s.Progress.Pattern == "" {
		return r, nil
	}
	if r.Pattern, err = regexp.Compile(s.Progress.Pattern); err != nil {
		return r, invalid("progress.pattern", "%w", err)
	}
	return r, nil
}

// Own lists what a run has for itself.
type Own struct {
	Scratch string // directory for {scratch}
	Stage   int    // for {stage}: the unit after which the run begins
}

// Starts returns the units after which samples begin: where stages do, if the command
// takes one, and otherwise the job's beginning.
func (s *Spec) Starts() []int {
	if len(s.Stages) == 0 || !s.usesParameter("stage") {
		return []int{0}
	}
	var starts []int
	for _, stage := range s.Stages {
		starts = append(starts, int(stage.From))
	}
	return starts
}

// Environ returns an environment, NAME=VALUE, with the job's own settings after it.
func (s *Spec) Environ(env []string) []string {
	env = append(slices.Clone(env), "PYTHONUNBUFFERED=1") // lines must come when they are printed
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, name+"="+string(s.Env[name]))
	}
	return env
}

// Args returns the command line for a run of the given length on a device.
func (s *Spec) Args(device string, epochs int, own Own) ([]string, error) {
	hw, err := s.hardware(device)
	if err != nil {
		return nil, err
	}
	var args []string
	for _, word := range s.Command {
		if word == "{hw}" {
			args = append(args, hw...)
			continue
		}
		args = append(args, parameter.ReplaceAllStringFunc(word, func(m string) string {
			if m[0] == '$' {
				return m
			}
			if m[1] == '{' {
				return m[1 : len(m)-1]
			}
			switch name := m[1 : len(m)-1]; name {
			case "epochs", "steps":
				return fmt.Sprint(epochs)
			case "scratch":
				return own.Scratch
			case "stage":
				return fmt.Sprint(own.Stage)
			default:
				return string(s.Params[name])
			}
		}))
	}
	return args, nil
}

func (s *Spec) hardware(device string) ([]string, error) {
	switch d := s.Device(device); device {
	case CPU:
		return []string{"--cpu", "--numThreads", fmt.Sprint(d.Threads)}, nil
	case GPU:
		return []string{"--gpu", "--numGPUs", fmt.Sprint(d.Count)}, nil
	}
	return nil, fmt.Errorf("%w: device %q, want %s or %s", ErrInvalid, device, CPU, GPU)
}

// Device returns how much of a device the job uses: one thread or one GPU
// where the description does not say.
func (s *Spec) Device(name string) Device {
	d := s.Devices[name]
	return Device{Threads: max(1, d.Threads), Count: max(1, d.Count)}
}

// Hash identifies the command of a run on a device: it is equal for two descriptions whose runs
// of one length are the same. The number of epochs and the way of sampling are not part of it,
// so samples serve any of them.
func (s *Spec) Hash(device string) string {
	text, err := json.Marshal(struct {
		*Spec
		Device string
		Amount Device
	}{s, device, s.Device(device)})
	if err != nil {
		panic(err) // strings and integers always encode
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Lengths returns the epochs of a short and of a long sample. They stay within a given
// budget, and are equal if the job is shorter than the long one or its description says so.
func (s *Spec) Lengths() (short, long int) {
	fractions, least := s.Sample.Fractions, s.Sample.MinEpochs
	if len(fractions) == 0 {
		fractions = []float64{0.01, 0.02}
	}
	if len(least) == 0 {
		least = []int{2, 5}
		if s.Unit == Step {
			least = []int{20, 50}
		}
	}
	length := func(i int) int {
		return min(s.Epochs, max(least[i], int(fractions[i]*float64(s.Epochs)+1e-9)))
	}
	short, long = length(0), length(1)
	if most := int(s.Sample.Budget*float64(s.Epochs) + 1e-9); most >= 2 && most < long && len(s.Sample.MinEpochs) == 0 {
		short, long = max(1, most*2/5), most
	}
	return short, long
}
