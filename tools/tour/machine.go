package tour

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes the machine of the measurements.
type Machine struct {
	CPU       string  `json:"cpu"`
	Cores     int     `json:"cores"`
	MemoryGiB float64 `json:"memory_gib"`
	OS        string  `json:"os"`
	Go        string  `json:"go"`
	Load1     float64 `json:"load_1min"` // run-queue length at the start
}

// ReadMachine reads the machine from the running kernel; unknown fields are empty.
func ReadMachine() Machine {
	m := Machine{CPU: "unknown", Cores: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if model := field("/proc/cpuinfo", "model name"); model != "" {
		m.CPU = model
	}
	if kib, err := strconv.ParseFloat(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 64); err == nil {
		m.MemoryGiB = float64(int(kib/1024/1024*10)) / 10
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load1, _ = strconv.ParseFloat(strings.Fields(string(load))[0], 64)
	}
	return m
}

// field returns the first value of "key: value" in a /proc file.
func field(path, key string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
