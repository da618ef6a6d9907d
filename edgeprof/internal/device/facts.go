package device

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// files reads small files below a root; what cannot be read is "".
type files struct{ root fs.FS }

func (f files) text(name string) string {
	b, err := fs.ReadFile(f.root, name)
	if err != nil {
		return ""
	}
	return strings.TrimRight(strings.TrimSpace(string(b)), "\x00")
}

func (f files) number(name string) (float64, bool) {
	v, err := strconv.ParseFloat(f.text(name), 64)
	return v, err == nil
}

// entries returns the entries of a directory, in order of their names.
func (f files) entries(name string) []string {
	entries, err := fs.ReadDir(f.root, name)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, path.Join(name, e.Name()))
	}
	return out
}

// value finds "key<separator>value" in a text of lines.
func value(text, key, separator string) string {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, separator); ok && strings.TrimSpace(k) == key {
			return strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return ""
}

// brand returns the processor's name.
func (f files) brand() string {
	cpuinfo := f.text("proc/cpuinfo")
	for _, key := range []string{"model name", "Model", "Hardware"} {
		if v := value(cpuinfo, key, ":"); v != "" {
			return v
		}
	}
	return "unknown"
}

// system returns the distribution's name and version (os-release(5)).
func (f files) system() (name, version string) {
	text := f.text("etc/os-release")
	if text == "" {
		text = f.text("usr/lib/os-release")
	}
	return value(text, "NAME", "="), value(text, "VERSION_ID", "=")
}

// battery returns the charge of the first battery in percent.
func (f files) battery() (percent float64, plugged, ok bool) {
	for _, supply := range f.entries("sys/class/power_supply") {
		if f.text(supply+"/type") != "Battery" {
			continue
		}
		if percent, ok = f.number(supply + "/capacity"); ok {
			return percent, f.text(supply+"/status") != "Discharging", true
		}
	}
	return 0, false, false
}

// gpu returns the GPUs that the NVIDIA driver lists, or a Jetson's own graphics.
func (f files) gpu() (count int, model, kind, id string) {
	for _, g := range f.entries("proc/driver/nvidia/gpus") {
		if count++; count == 1 {
			information := f.text(g + "/information")
			model = value(information, "Model", ":")
			kind = "discrete"
			id = value(information, "GPU UUID", ":")
		}
	}
	if board := f.text("proc/device-tree/model"); count == 0 && strings.Contains(board, "Jetson") {
		return 1, board, "integrated", "0"
	}
	return count, model, kind, id
}

// joules returns the energy that the processor packages have taken so far (Intel
// RAPL, kernel documentation, power capping framework), and where the counter
// starts again.
func (f files) joules() (sum, wraps float64, ok bool) {
	for _, zone := range f.entries("sys/class/powercap") {
		if strings.Count(path.Base(zone), ":") != 1 || !strings.HasPrefix(f.text(zone+"/name"), "package") {
			continue // parts of a package are counted in it
		}
		uj, read := f.number(zone + "/energy_uj")
		if !read {
			continue
		}
		most, _ := f.number(zone + "/max_energy_range_uj")
		sum = sum + uj/1e6
		wraps = wraps + most/1e6
		ok = true
	}
	return sum, wraps, ok
}
