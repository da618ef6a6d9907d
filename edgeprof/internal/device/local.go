package device

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Local is the machine this program runs on, read from /proc and /sys.
type Local struct {
	Root fs.FS  // the root of the file system
	Host string // the host's name
	// VM makes the class of a virtual machine "VM", as the agent exports it;
	// without it this machine is a "Computer".
	VM bool
	// Disk returns the used share of the root file system in percent; nil
	// leaves it unknown.
	Disk func() (float64, error)
	// Sleep waits between two readings of the processor's times.
	Sleep func(context.Context, time.Duration) error
	// Window is the time over which the load is measured; 0 means 200 ms.
	Window time.Duration
	// Probe feels the load after that; nil leaves it at what the kernel says.
	Probe *Probe
}

var _ Source = Local{}

// Sleep waits for d or until ctx is cancelled.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Devices returns this one machine.
func (l Local) Devices(ctx context.Context) ([]Device, []Exclusion, error) {
	d, err := l.MeasureDuring(ctx, func(ctx context.Context) error { return l.Sleep(ctx, cmp.Or(l.Window, 200*time.Millisecond)) })
	if err != nil {
		return nil, nil, err
	}
	return []Device{d}, nil, nil
}

// MeasureDuring returns this machine with the load of its processors while work runs. The error
// is that of work, or matches [ErrInvalid].
func (l Local) MeasureDuring(ctx context.Context, work func(context.Context) error) (Device, error) {
	d := Device{Node: l.Host, Class: l.class(), Model: l.model(), Processor: l.processor(), UUID: l.uuid(), Arch: runtime.GOARCH}
	var err error
	if err = l.processors(ctx, work, &d); err != nil {
		return d, err
	}
	d.Load.Load1, d.Load.WaitingPercent = l.queue()
	if l.Probe != nil {
		tasks, err := l.Probe.Measure(ctx)
		if err != nil {
			return d, fmt.Errorf("load: %w", err)
		}
		d.Load.ProbedTasks = &tasks
	}
	d.PhysicalCores = l.physicalCores()
	d.MaxMHz = l.megahertz()
	d.MemoryBytes, d.Load.MemoryAvailableBytes = l.Memory()
	if l.Disk != nil {
		used, err := l.Disk()
		if err != nil {
			return d, fmt.Errorf("disk usage: %w", err)
		}
		d.Load.DiskPercent = &used
	}
	return d, d.Check()
}

// times are the busy and all ticks of the processors since the start.
type times struct {
	cores     int
	busy, all uint64
}

// processors reads /proc/stat before and after work. Idle and waiting for a disk
// are not busy (proc(5)).
func (l Local) processors(ctx context.Context, work func(context.Context) error, d *Device) error {
	before, err := l.ticks()
	if err != nil {
		return err
	}
	if err := work(ctx); err != nil {
		return err
	}
	after, err := l.ticks()
	if err != nil {
		return err
	}
	if after.all > before.all && after.busy >= before.busy {
		d.Load.CPUPercent = min(100, 100*float64(after.busy-before.busy)/float64(after.all-before.all))
	}
	d.Cores = after.cores
	return nil
}

// queue returns the load average and the share of time that some task waited for a
// processor, of the last ten seconds (Linux, Documentation/accounting/psi.rst).
func (l Local) queue() (load1 float64, waiting *float64) {
	first, _, _ := strings.Cut(l.read("proc/loadavg"), " ")
	load1, _ = strconv.ParseFloat(first, 64) // 0 if unknown
	some, _, _ := strings.Cut(l.read("proc/pressure/cpu"), "\n")
	for field := range strings.FieldsSeq(some) {
		if text, ok := strings.CutPrefix(field, "avg10="); ok {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				waiting = &v
			}
		}
	}
	return load1, waiting
}

func (l Local) ticks() (times, error) {
	var t times
	text, err := fs.ReadFile(l.Root, "proc/stat")
	if err != nil {
		return t, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 5 && fields[0] == "cpu":
			// guest time, the last two, is part of user time
			for i, field := range fields[1:min(len(fields), 9)] {
				n, err := strconv.ParseUint(field, 10, 64)
				if err != nil {
					return t, fmt.Errorf("proc/stat: %q: %w", strings.TrimSpace(line), err)
				}
				t.all += n
				if i != 3 && i != 4 { // idle, iowait
					t.busy += n
				}
			}
		case len(fields) > 0 && strings.HasPrefix(fields[0], "cpu"):
			t.cores++
		}
	}
	if t.all == 0 || t.cores == 0 {
		return t, fmt.Errorf("proc/stat: no processors")
	}
	return t, nil
}

// read returns a small file's text, "" when it cannot be read.
func (l Local) read(path string) string { return files{l.Root}.text(path) }

// model returns the board (device tree), the machine (DMI) or the processor.
func (l Local) model() string {
	for _, path := range []string{"proc/device-tree/model", "sys/class/dmi/id/product_name"} {
		if name := l.read(path); name != "" && name != "None" {
			return name
		}
	}
	if name := l.cpuinfo("model name"); name != "" {
		return name
	}
	return "unknown"
}

func (l Local) cpuinfo(key string) string { return value(l.read("proc/cpuinfo"), key, ":") }

// processor returns the processor's name; of an Arm chip that of the last core, since it lists its
// big ones last, of one of x86 with its vectors: "AMD EPYC, AVX2".
func (l Local) processor() string {
	name := ""
	for line := range strings.Lines(l.read("proc/cpuinfo")) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "CPU part" {
			name = cmp.Or(parts[strings.TrimSpace(value)], name)
		}
	}
	if name = cmp.Or(name, l.cpuinfo("model name")); name == "" {
		return ""
	}
	flags := strings.Fields(l.cpuinfo("flags"))
	for _, v := range vectors {
		if slices.Contains(flags, v.flag) {
			return name + ", " + v.name
		}
	}
	return name
}

// class recognises a virtual machine by the flag of its processors.
func (l Local) class() string {
	if l.VM && slices.Contains(strings.Fields(l.cpuinfo("flags")), "hypervisor") {
		return "VM"
	}
	return "Computer"
}

// physicalCores returns the number of different cores of the processors; 0 if the kernel does
// not name them.
func (l Local) physicalCores() int {
	cores := map[string]bool{}
	socket := ""
	for line := range strings.Lines(l.read("proc/cpuinfo")) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "physical id":
			socket = value
		case "core id":
			cores[socket+value] = true
		}
	}
	return len(cores)
}

// DefaultThreads returns the number of threads that ONNX Runtime takes for an inference here.
func (l Local) DefaultThreads() int {
	d := Device{Cores: runtime.NumCPU(), PhysicalCores: l.physicalCores()}
	return d.DefaultThreads()
}

// megahertz returns the highest frequency of the first processor.
func (l Local) megahertz() float64 {
	if kHz, ok := (files{l.Root}).number("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); ok {
		return kHz / 1000
	}
	mhz, _ := strconv.ParseFloat(l.cpuinfo("cpu MHz"), 64) // 0 if unknown
	return mhz
}

// CheckMemory returns an error if a model needs more memory than is free; 0 free is unknown.
func CheckMemory(need, free int64) error {
	if free > 0 && need > free {
		return fmt.Errorf("the model needs %d bytes of memory, %d are free", need, free)
	}
	return nil
}

// Memory returns the machine's memory, and how much is left for new programs; 0 if unknown.
func (l Local) Memory() (total, available int64) {
	text := l.read("proc/meminfo")
	bytes := func(key string) int64 {
		kib, _ := strconv.ParseInt(strings.TrimSuffix(value(text, key, ":"), " kB"), 10, 64) // 0 if unknown
		return kib << 10
	}
	return bytes("MemTotal"), bytes("MemAvailable")
}

// uuid returns an id that is the same at every start: a hash of the machine's id, or of its name
// where it has none, in the form of a version 8 UUID (RFC 9562).
func (l Local) uuid() string {
	id := cmp.Or(l.read("etc/machine-id"), l.Host)
	h := sha256.Sum256([]byte("foretime edgeprof " + id))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
