package experiment

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/policy"
)

// Parse reads an experiment from JSON text, or YAML; file names it in errors, which are
// of type [*Error].
func Parse(file string, text []byte) (*Experiment, error) {
	root, err := parseTree(file, text)
	if err != nil {
		return nil, err
	}
	r := &reader{file: file, lines: countLines(text)}
	x := r.experiment(root)
	if r.err != nil {
		return nil, r.err
	}
	x.Warnings = r.warnings
	return x, nil
}

// reader turns nodes into fields. The first error stays; every method goes on
// with zero values after it.
type reader struct {
	file     string
	lines    int
	err      error
	warnings []error
}

func (r *reader) fail(n node, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{r.file, min(n.Line, r.lines), n.path, fmt.Sprintf(format, args...)}
	}
}

func (r *reader) warn(n node, format string, args ...any) {
	r.warnings = append(r.warnings, &Warning{r.file, min(n.Line, r.lines), n.path, fmt.Sprintf(format, args...)})
}

// object reads the fields of a JSON object one by one.
type object struct {
	r    *reader
	node node
	used map[string]bool
}

func (r *reader) object(n node) *object {
	if n.kind() != kindObject {
		r.fail(n, "want an object, have %s", n.describe())
		n.Node = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line}
	}
	return &object{r, n, map[string]bool{}}
}

// field returns a field, the last of equal keys as in Python; ok is false if it is absent or
// null.
func (o *object) field(key string) (n node, ok bool) {
	o.used[key] = true
	for i := 0; i < len(o.node.Content); i += 2 {
		if o.node.Content[i].Value == key {
			n = node{o.node.Content[i+1], o.node.fieldPath(key)}
		}
	}
	return n, n.Node != nil && n.kind() != kindNull
}

// requiredField returns a field and fails if it is absent.
func (o *object) requiredField(key string) (node, bool) {
	n, ok := o.field(key)
	if !ok {
		o.r.fail(node{o.node.Node, o.node.fieldPath(key)}, "missing")
	}
	return n, ok
}

// warnOthers warns about the fields that were not read and those that are given twice.
func (o *object) warnOthers() {
	seen := map[string]bool{}
	for i := 0; i < len(o.node.Content); i += 2 {
		key := o.node.Content[i].Value
		n := node{o.node.Content[i+1], o.node.fieldPath(key)}
		switch {
		case seen[key]:
			o.r.warn(n, "given twice; the last value is used")
		case !o.used[key]:
			o.r.warn(n, "unknown field, ignored")
		}
		seen[key] = true
	}
}

// decode sets the fields of a struct that name a key in their tag, and that the object
// has: "low" is the least value of a number, "unit" that of a time, and "values" lists those
// of a text.
func (o *object) decode(to any) {
	v := reflect.ValueOf(to).Elem()
	for f, field := range v.Fields() {
		key, tagged := f.Tag.Lookup("field")
		if !tagged {
			continue
		}
		n, ok := o.field(key)
		if !ok {
			continue
		}
		low, _ := strconv.Atoi(f.Tag.Get("low"))
		unit, _ := time.ParseDuration("1" + f.Tag.Get("unit"))
		switch field.Kind() {
		case reflect.String:
			field.SetString(o.r.text(n, f.Tag.Get("values")))
		case reflect.Bool:
			field.SetBool(o.r.flag(n))
		case reflect.Int:
			field.SetInt(int64(o.r.whole(n, low)))
		case reflect.Uint64:
			field.SetUint(uint64(o.r.whole(n, low)))
		case reflect.Float64:
			field.SetFloat(o.r.number(n, kindNumber, float64(low), maxNumber))
		case reflect.Int64:
			field.SetInt(int64(o.r.duration(n, unit)))
		}
	}
}

// text returns a text, one of several values with blanks between if there are any.
func (r *reader) text(n node, values string) string {
	if n.kind() != kindText {
		r.fail(n, "want text, have %s", n.describe())
	}
	if all := strings.Split(values, " "); values != "" && n.Value != "" && !slices.Contains(all, n.Value) {
		r.fail(n, "want one of %q, have %s", all, n.describe())
	}
	return n.Value
}

func (r *reader) flag(n node) bool {
	on, err := strconv.ParseBool(n.Value)
	if n.kind() != kindBool || err != nil {
		r.fail(n, "want true or false, have %s", n.describe())
	}
	return on
}

// maxNumber bounds every number of a configuration: as nanoseconds it is 104 days.
const maxNumber = 9e15

// number returns a number between two others; what names it.
func (r *reader) number(n node, what string, low, most float64) float64 {
	v, err := strconv.ParseFloat(n.Value, 64)
	switch {
	case n.kind() != kindNumber || err != nil || !(v >= low):
		r.fail(n, "want %s of %v or more, have %s", what, low, n.describe())
	case v > most:
		r.fail(n, "want at most %.10g, have %s", most, n.describe())
	default:
		return v
	}
	return low
}

// whole returns a whole number of low or more; 3.0 is one, as in Python.
func (r *reader) whole(n node, low int) int {
	const what = "a whole number"
	v := r.number(n, what, float64(low), math.MaxInt32)
	if v != math.Trunc(v) {
		r.fail(n, "want %s of %d or more, have %s", what, low, n.describe())
	}
	return int(v)
}

// duration returns a time of 0 or more, given in a unit.
func (r *reader) duration(n node, unit time.Duration) time.Duration {
	v := r.number(n, kindNumber, 0, maxNumber) * float64(unit)
	if v > maxNumber {
		r.fail(n, "%s is too long", n.describe())
		return 0
	}
	return time.Duration(math.Round(v))
}

func (r *reader) experiment(root node) *Experiment {
	o := r.object(root)
	x := &Experiment{MinJobs: 10, Device: device.Settings{Discipline: device.FIFO}}
	if n, ok := o.requiredField("exp_dur"); ok {
		if x.Duration = r.duration(n, time.Second); x.Duration == 0 {
			r.fail(n, "want a duration above 0 s, have %s", n.describe())
		}
	}
	o.decode(x)
	o.decode(&x.Device)
	if n, ok := o.field("overlap"); ok && x.Device.Overlap > 1 {
		r.fail(n, "want a share of at most 1, have %v", x.Device.Overlap)
	}
	if n, ok := o.field("slack"); ok && !(x.Slack > 1 && x.Slack <= policy.MaxSlack) {
		r.fail(n, "want a number above 1, at most %d, have %s", policy.MaxSlack, n.describe())
	}
	models, ok := o.requiredField("models")
	if ok && (models.kind() != kindArray || len(models.Content) == 0) {
		r.fail(models, "want an array of one model or more, have %s", models.describe())
	}
	if r.err != nil {
		return x
	}
	for i := range models.Content {
		x.Models = append(x.Models, r.model(models.item(i)))
	}
	o.warnOthers()
	if first, second := duplicateLogs(x.Models); second > 0 {
		at := models.item(second)
		at.path += ".output_file_name"
		r.fail(at, "%s is also the log of models[%d]", x.Models[second].CSV(), first)
	}
	return x
}

func (r *reader) model(n node) Model {
	o := r.object(n)
	m := Model{BatchSize: 1, Terms: policy.Terms{Weight: 1}}
	if name, ok := o.requiredField("model_name"); ok {
		if m.ModelName = r.text(name, ""); m.ModelName == "" {
			r.fail(name, "want the name of a model, have %s", name.describe())
		}
	}
	o.decode(&m)
	o.decode(&m.Terms)
	m.OutputName = o.stem(m.ModelName)
	m.Terms.Name = m.OutputName
	m.Height, m.Width = o.size(m.Resize)
	m.Control = o.control()
	if m.Weight == 0 {
		n, _ := o.field("weight")
		r.fail(n, "want a weight above 0, have 0")
	}
	o.kernels(&m)
	o.warnOthers()
	return m
}

// stem returns the name of the log files, which is not a path.
func (o *object) stem(model string) string {
	n, ok := o.field("output_file_name")
	if !ok {
		return filepath.Base(model)
	}
	if name := o.r.text(n, ""); name == "" || name != filepath.Base(name) || name == "." || name == ".." {
		o.r.fail(n, "want the stem of a file name, have %s", n.describe())
	}
	return n.Value
}

func (o *object) size(needed bool) (height, width int) {
	n, ok := o.field("resize_size")
	if !ok {
		if needed {
			o.requiredField("resize_size")
		}
		return 0, 0
	}
	if n.kind() != kindArray || len(n.Content) != 2 {
		o.r.fail(n, "want [height, width] in px, have %s", n.describe())
		return 0, 0
	}
	return o.r.whole(n.item(0), 1), o.r.whole(n.item(1), 1)
}

// control reads the original's control of a model.
func (o *object) control() (c Control) {
	n, ok := o.field("control")
	if !ok {
		return c
	}
	in := o.r.object(n)
	in.decode(&c)
	if limit, ok := in.field("queue_limit"); ok {
		var every struct {
			Sync  int `field:"sync"`
			Event int `field:"event_group"`
		}
		l := o.r.object(limit)
		l.decode(&every)
		l.warnOthers()
		c.SyncEvery = every.Sync
	}
	var event struct {
		On bool `field:"controlEvent"`
	}
	in.decode(&event)
	in.warnOthers()
	switch {
	case c.On && event.On:
		o.r.warn(n, "controlEvent is ignored: controlsync or the policy bounds the queue")
	case c.On && c.Sync && c.SyncEvery == 0:
		o.r.warn(n, "controlsync without a queue_limit.sync above 0: the policy chooses the bound")
	}
	return c
}

// maxKernels bounds the launches of a job.
const maxKernels = 1_000_000

func (o *object) kernels(m *Model) {
	if m.Kernels > maxKernels {
		n, _ := o.field("kernels")
		o.r.fail(n, "more than %d kernels in a job", maxKernels)
		return
	}
	times, ok := o.field("kernel_ns")
	if m.Trace != "" && (ok || m.Kernels > 0 || m.Graph > 0) {
		n, _ := o.field("trace")
		o.r.fail(n, "want either a trace or kernels")
		return
	}
	if !ok {
		if m.Kernels > 0 {
			o.requiredField("kernel_ns")
		}
		return
	}
	if times.kind() == kindArray {
		for i := range times.Content {
			m.KernelTimes = append(m.KernelTimes, o.r.kernelTime(times.item(i)))
		}
		if m.Kernels = cmp.Or(m.Kernels, len(m.KernelTimes)); m.Kernels != len(m.KernelTimes) || m.Kernels == 0 {
			o.r.fail(times, "%d times for %d kernels", len(m.KernelTimes), m.Kernels)
		}
		return
	}
	each := o.r.kernelTime(times)
	if m.Kernels == 0 {
		o.requiredField("kernels")
	}
	for range m.Kernels {
		m.KernelTimes = append(m.KernelTimes, each)
	}
}

// kernelTime returns the time of a kernel.
func (r *reader) kernelTime(n node) time.Duration {
	each := r.duration(n, time.Nanosecond)
	if each == 0 {
		r.fail(n, "want a time of 1 ns or more, have %s", n.describe())
	}
	return each
}

// duplicateLogs returns the first two models with the same log; 0, 0 if there are none.
func duplicateLogs(all []Model) (first, second int) {
	seen := map[string]int{}
	for i := range all {
		path := all[i].CSV()
		if first, ok := seen[path]; ok {
			return first, i
		}
		seen[path] = i
	}
	return 0, 0
}
