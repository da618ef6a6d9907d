package event

import (
	"errors"
	"fmt"
	"testing"
	"testing/fstest"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func sysfs(core int) string {
	return fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", core)
}

func TestRead(t *testing.T) {
	const cpuinfo = "processor\t: 0\ncpu MHz\t\t: 2599.966\n\nprocessor\t: 3\ncpu MHz\t\t: 3100.5\n"
	tests := []struct {
		name string
		root fstest.MapFS
		mhz  []float64 // by core, 0 unknown
	}{
		{"sysfs", fstest.MapFS{sysfs(0): file("2600000\n"), sysfs(1): file("1200000\n")}, []float64{2600, 1200}},
		{"an offline core", fstest.MapFS{sysfs(0): file("2600000\n"), sysfs(2): file("1200000\n")}, []float64{2600, 0, 1200}},
		{"sysfs before cpuinfo", fstest.MapFS{sysfs(0): file("2600000\n"), "proc/cpuinfo": file(cpuinfo)}, []float64{2600}},
		{"unreadable sysfs", fstest.MapFS{sysfs(0): file("<unknown>\n"), "proc/cpuinfo": file(cpuinfo)}, []float64{2599.966, 0, 0, 3100.5}},
		{"cpuinfo", fstest.MapFS{"proc/cpuinfo": file(cpuinfo)}, []float64{2599.966, 0, 0, 3100.5}},
		{"nothing", fstest.MapFS{}, nil},
		{"no frequency", fstest.MapFS{"proc/cpuinfo": file("processor : 0\nmodel name : x\n")}, nil},
		{"absurd", fstest.MapFS{"proc/cpuinfo": file("processor : 0\ncpu MHz : NaN\ncpu MHz : -5\ncpu MHz: 1e9\n")}, nil},
		{"no processor line", fstest.MapFS{"proc/cpuinfo": file("cpu MHz : 2000\n")}, nil},
		{"huge core number", fstest.MapFS{"proc/cpuinfo": file("processor : 99999999\ncpu MHz : 2000\n")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := ReadFrequencies(tt.root)
			if len(tt.mhz) == 0 {
				if !errors.Is(err, ErrFrequency) {
					t.Fatalf("error %v, want ErrUnknown", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(s) != len(tt.mhz) {
				t.Errorf("%d cores, want %d", len(s), len(tt.mhz))
			}
			for core, want := range tt.mhz {
				if got, known := s.MHz(core); got != want || known != (want > 0) {
					t.Errorf("core %d: %v, %v, want %v", core, got, known, want)
				}
			}
			if _, known := s.MHz(len(tt.mhz)); known {
				t.Error("a core beyond the last is known")
			}
			if _, known := s.MHz(-1); known {
				t.Error("core -1 is known")
			}
		})
	}
}
