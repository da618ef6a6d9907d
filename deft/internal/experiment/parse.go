package experiment

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foretime/foretime/deft/internal/device"
	"github.com/foretime/foretime/deft/internal/policy"
)

// Parse reads an experiment from JSON text, or YAML; file names it in errors, which are
// of type [*Error].
func Parse(file string, text []byte) (*Experiment, error) {
	root, quirks, err := parseTree(file, text)
	if err != nil {
		return nil, err
	}
	r := &reader{file: file, warnings: quirks}
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
	err      error
	warnings []error
}

func (r *reader) fail(n node, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{r.file, n.line, n.path, fmt.Sprintf(format, args...)}
	}
}

func (r *reader) warn(n node, format string, args ...any) {
	r.warnings = append(r.warnings, &Warning{r.file, n.line, n.path, fmt.Sprintf(format, args...)})
}

// object reads the fields of a JSON object one by one.
type object struct {
	r    *reader
	node node
	used map[string]bool
}

func (r *reader) object(n node) *object {
	if n.kind != kindObject {
		r.fail(n, "want an object, have %s", n.describe())
	}
	return &object{r, n, map[string]bool{}}
}

// describe returns a value as an error shows it.
func (n node) describe() string {
	switch n.kind {
	case kindBool, kindNumber:
		return n.text
	case kindString:
		return fmt.Sprintf("%.40q", n.text)
	}
	if n.kind == kindArray && len(n.items) == 0 {
		return "an empty array"
	}
	return string(n.kind)
}

// field returns a field; ok is false if it is absent or null.
func (o *object) field(key string) (node, bool) {
	o.used[key] = true
	n, ok := o.node.fields[key]
	return n, ok && n.kind != kindNull
}

// requiredField returns a field and fails if it is absent.
func (o *object) requiredField(key string) (node, bool) {
	n, ok := o.field(key)
	if !ok {
		at := o.node
		at.path = joinPath(at.path, key)
		o.r.fail(at, "missing")
	}
	return n, ok
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// warnUnknown warns about the fields that were not read.
func (o *object) warnUnknown() {
	for _, key := range o.node.order {
		if !o.used[key] {
			o.r.warn(o.node.fields[key], "unknown field, ignored")
		}
	}
}

// decode sets the fields of a struct that name a key in their tag, and that the object
// has; "low" is the least value of a number. A time is in the unit that ends its key:
// _ms, _ns, else seconds.
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
		switch p := field.Addr().Interface().(type) {
		case *string:
			*p = o.r.text(n)
		case *bool:
			*p = o.r.flag(n)
		case *int:
			*p = o.r.whole(n, low)
		case *uint64:
			*p = uint64(o.r.whole(n, low))
		case *float64:
			*p = o.r.number(n, float64(low))
		case *time.Duration:
			*p = o.r.duration(n)
		}
	}
}

func (r *reader) text(n node) string {
	if n.kind != kindString {
		r.fail(n, "want text, have %s", n.describe())
	}
	return n.text
}

func (r *reader) flag(n node) bool {
	on, err := strconv.ParseBool(n.text)
	if n.kind != kindBool || err != nil {
		r.fail(n, "want true or false, have %s", n.describe())
	}
	return on
}

// number returns a finite number of low or more.
func (r *reader) number(n node, low float64) float64 {
	v, err := strconv.ParseFloat(n.text, 64)
	if v > maxNumber && err == nil && n.kind == kindNumber {
		r.fail(n, "want at most %v, have %s", float64(maxNumber), n.describe())
		return low
	}
	if n.kind != kindNumber || err != nil || !(v >= low) {
		r.fail(n, "want a number of %v or more, have %s", low, n.describe())
		return low
	}
	return v
}

// maxNumber bounds every number of a configuration: as nanoseconds it is 104 days.
const maxNumber = 9e15

// whole returns a whole number of low or more; 3.0 is one, as in Python.
func (r *reader) whole(n node, low int) int {
	v, err := strconv.ParseFloat(n.text, 64)
	if v > math.MaxInt32 && err == nil && n.kind == kindNumber {
		r.fail(n, "want at most %d, have %s", math.MaxInt32, n.describe())
		return low
	}
	if n.kind != kindNumber || err != nil || v != math.Trunc(v) || v < float64(low) {
		r.fail(n, "want a whole number of %d or more, have %s", low, n.describe())
		return low
	}
	return int(v)
}

// duration returns a time of 0 or more; the key names its unit.
func (r *reader) duration(n node) time.Duration {
	unit := time.Second
	if strings.Contains(n.path, "_ms") {
		unit = time.Millisecond
	} else if strings.Contains(n.path, "_ns") {
		unit = time.Nanosecond
	}
	v := r.number(n, 0) * float64(unit)
	if v > maxNumber {
		r.fail(n, "%s is too long", n.describe())
		return 0
	}
	return time.Duration(math.Round(v))
}

func (r *reader) experiment(root node) *Experiment {
	o := r.object(root)
	x := &Experiment{MinJobs: 10}
	if n, ok := o.requiredField("exp_dur"); ok {
		if x.Duration = r.duration(n); x.Duration == 0 {
			r.fail(n, "want a duration above 0 s, have %s", n.describe())
		}
	}
	o.decode(x)
	x.Device = o.device()
	if n, ok := o.field("slack"); ok && !(x.Slack > 1 && x.Slack <= policy.MaxSlack) {
		r.fail(n, "want a number above 1, at most %d, have %s", policy.MaxSlack, n.describe())
	}
	models, ok := o.requiredField("models")
	if ok && (models.kind != kindArray || len(models.items) == 0) {
		r.fail(models, "want an array of one model or more, have %s", models.describe())
	}
	for _, n := range models.items {
		x.Models = append(x.Models, r.model(n))
	}
	o.warnUnknown()
	r.distinctLogs(models, x.Models)
	return x
}

// device reads the constants of the simulated device.
func (o *object) device() device.Settings {
	own := struct {
		Turn    time.Duration `field:"slice_ms"`
		Switch  time.Duration `field:"switch_ns"`
		Overlap float64       `field:"overlap"`
		Ahead   int           `field:"ahead" low:"1"`
	}{}
	o.decode(&own)
	s := device.Settings{Discipline: device.FIFO, Turn: own.Turn, Switch: own.Switch, Overlap: own.Overlap, Ahead: own.Ahead}
	if s.Overlap > 1 {
		o.r.fail(o.node.fields["overlap"], "want a share of at most 1, have %v", s.Overlap)
	}
	n, ok := o.field("discipline")
	if !ok {
		return s
	}
	switch n.text {
	case "fifo", "turns", "mps":
		s.Discipline = device.Discipline(n.text)
	default:
		o.r.fail(n, `want "fifo", "turns" or "mps", have %s`, n.describe())
	}
	return s
}

func (r *reader) model(n node) Model {
	o := r.object(n)
	m := Model{BatchSize: 1}
	if name, ok := o.requiredField("model_name"); ok {
		if m.ModelName = r.text(name); m.ModelName == "" {
			r.fail(name, "want the name of a model, have %s", name.describe())
		}
	}
	own := struct {
		Priority int           `field:"priority"`
		Weight   float64       `field:"weight"`
		Deadline time.Duration `field:"deadline_ms"`
	}{Weight: 1}
	o.decode(&m)
	o.decode(&own)
	m.OutputName = o.stem(m.ModelName)
	m.Terms = policy.Terms{Name: m.OutputName, Priority: own.Priority, Weight: own.Weight, Deadline: own.Deadline}
	m.Height, m.Width = o.size(m.Resize)
	m.Control = o.control()
	if !slices.Contains([]string{"", "layer", "kernel"}, m.SyncLevel) {
		n := o.node.fields["sync_level"]
		r.fail(n, `want "", "layer" or "kernel", have %s`, n.describe())
	}
	if m.Weight == 0 {
		r.fail(o.node.fields["weight"], "want a weight above 0, have 0")
	}
	o.kernels(&m)
	o.warnUnknown()
	return m
}

// stem returns the name of the log files, which is not a path.
func (o *object) stem(model string) string {
	n, ok := o.field("output_file_name")
	if !ok {
		return filepath.Base(model)
	}
	if name := o.r.text(n); name == "" || name != filepath.Base(name) || name == "." || name == ".." {
		o.r.fail(n, "want the stem of a file name, have %s", n.describe())
	}
	return n.text
}

func (o *object) size(needed bool) (height, width int) {
	n, ok := o.field("resize_size")
	if !ok {
		if needed {
			o.requiredField("resize_size")
		}
		return 0, 0
	}
	if n.kind != kindArray || len(n.items) != 2 {
		o.r.fail(n, "want [height, width] in px, have %s", n.describe())
		return 0, 0
	}
	return o.r.whole(n.items[0], 1), o.r.whole(n.items[1], 1)
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
		l.warnUnknown()
		c.SyncEvery = every.Sync
	}
	var event struct {
		On bool `field:"controlEvent"`
	}
	in.decode(&event)
	in.warnUnknown()
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
		o.r.fail(o.node.fields["kernels"], "more than %d kernels in a job", maxKernels)
		return
	}
	times, ok := o.field("kernel_ns")
	if m.Trace != "" && (ok || m.Kernels > 0 || m.Graph > 0) {
		o.r.fail(o.node.fields["trace"], "want either a trace or kernels")
		return
	}
	if !ok {
		if m.Kernels > 0 {
			o.requiredField("kernel_ns")
		}
		return
	}
	if times.kind == kindArray {
		for _, n := range times.items {
			m.KernelTimes = append(m.KernelTimes, o.r.duration(n))
		}
		if m.Kernels == 0 {
			m.Kernels = len(times.items)
		}
		if m.Kernels != len(times.items) || m.Kernels == 0 {
			o.r.fail(times, "%d times for %d kernels", len(times.items), m.Kernels)
		}
		return
	}
	each := o.r.duration(times)
	if m.Kernels == 0 {
		o.requiredField("kernels")
	}
	for range m.Kernels {
		m.KernelTimes = append(m.KernelTimes, each)
	}
}

// distinctLogs refuses two models that would overwrite each other's log.
func (r *reader) distinctLogs(models node, all []Model) {
	if first, second := duplicateLogs(all); second > 0 {
		at := models.items[second]
		at.path += ".output_file_name"
		r.fail(at, "%s is also the log of models[%d]", all[second].CSV(), first)
	}
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
