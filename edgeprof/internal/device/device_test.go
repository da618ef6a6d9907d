package device

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func entry(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// pi is a Raspberry Pi of two processors; stat changes between the readings.
func pi() fstest.MapFS {
	return fstest.MapFS{
		"proc/stat":              entry("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 50 0 25 400 25 0 0 0 0 0\ncpu1 50 0 25 400 25 0 0 0 0 0\n"),
		"proc/cpuinfo":           entry("processor : 0\nmodel name : ARMv8\nflags : fp asimd\nCPU part : 0xd03\n\nprocessor : 1\nCPU part : 0xd08\n"),
		"proc/loadavg":           entry("0.75 0.50 0.25 2/300 999\n"),
		"proc/pressure/cpu":      entry("some avg10=12.50 avg60=3.00 avg300=1.00 total=12\nfull avg10=0.00\n"),
		"proc/device-tree/model": entry("Raspberry Pi 4 Model B Rev 1.4\x00"),
		"proc/meminfo":           entry("MemTotal: 4000000 kB\nMemFree: 1 kB\nMemAvailable: 3000000 kB\n"),
		"etc/machine-id":         entry("0123456789abcdef0123456789abcdef\n"),
		"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": entry("1500000\n"),
	}
}

func TestLocal(t *testing.T) {
	root := pi()
	l := Local{Root: root, Host: "rpi-1", Disk: func() (float64, error) { return 42, nil }, Sleep: func(context.Context, time.Duration) error {
		// 200 ticks: 30 user, 20 system, 100 idle, 50 waiting for the disk
		root["proc/stat"] = entry("cpu  130 0 70 900 100 0 0 0 7 0\ncpu0 1\ncpu1 1\n")
		return nil
	}}
	got, excluded, err := l.Devices(t.Context())
	if err != nil || excluded != nil {
		t.Fatal(err, excluded)
	}
	waiting := 12.5
	want := Device{
		Node: "rpi-1", Class: "Computer", Model: "Raspberry Pi 4 Model B Rev 1.4", UUID: got[0].UUID, Arch: got[0].Arch, Processor: "Cortex-A72", Cores: 2, MaxMHz: 1500,
		MemoryBytes: 4000000 << 10, Load: Load{CPUPercent: 25, DiskPercent: new(42.0), MemoryAvailableBytes: 3000000 << 10, Load1: 0.75, WaitingPercent: &waiting},
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(want.UUID) != 36 || want.UUID[14] != '8' {
		t.Errorf("UUID %q", want.UUID)
	}
	again, _, err := l.Devices(t.Context())
	if err != nil || again[0].UUID != want.UUID {
		t.Errorf("another UUID at the next start: %v, %v", again, err)
	}
}

func TestLocalVirtualMachineAndErrors(t *testing.T) {
	root := pi()
	delete(root, "proc/device-tree/model")
	root["proc/cpuinfo"] = entry("model name : EPYC\nflags : fpu sse2 avx2 hypervisor\n")
	l := Local{Root: root, Host: "vm", Sleep: func(context.Context, time.Duration) error { return nil }}
	if got, _, err := l.Devices(t.Context()); err != nil || got[0].Class != "Computer" {
		t.Errorf("without VM: %+v, %v", got, err)
	}
	l.VM = true
	got, _, err := l.Devices(t.Context())
	if err != nil || got[0].Class != "VM" || got[0].Model != "EPYC" || got[0].Processor != "EPYC, AVX2" || got[0].Load.CPUPercent != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	root["proc/stat"] = entry("cpu  a b c d e f\n")
	if _, _, err := l.Devices(t.Context()); err == nil || !strings.Contains(err.Error(), "proc/stat") {
		t.Errorf("bad /proc/stat: %v", err)
	}
	delete(root, "proc/stat")
	if _, _, err := l.Devices(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no /proc/stat: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l = Local{Root: pi(), Host: "x", Sleep: Sleep}
	if _, _, err := l.Devices(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "devices.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`[{"node":"b","cores":4,"load":{"cpu_percent":10,"disk_percent":0}},
	{"node":"a","cores":2,"load":{"cpu_percent":0,"disk_percent":0}},
	{"node":"c","cores":0,"load":{"cpu_percent":0,"disk_percent":0}},
	{"node":"d","cores":1,"load":{"cpu_percent":101,"disk_percent":0}}]`)
	used, excluded, err := File{path}.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(used) != 2 || used[0].Node != "a" || used[1].Node != "b" {
		t.Errorf("used %+v", used)
	}
	want := []Exclusion{{"c", "invalid device: c: 0 cores, want 1 or more"}, {"d", "invalid device: d: CPU load of 101 %, want 0 to 100"}}
	if diff := cmp.Diff(want, excluded); diff != "" {
		t.Errorf("excluded (-want +got):\n%s", diff)
	}
	for text, part := range map[string]string{
		"[\n{\"node\":\"a\",\n\"core\":1}]": ":3: ",
		"":                                  ":1: EOF",
		`[{"node":"a","cores":1},{"node":"a","cores":1}]`: "node a is listed twice",
	} {
		write(text)
		if _, _, err := (File{path}).Devices(t.Context()); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want %q", text, err, part)
		}
	}
}

// Tasks that wait for a disk, by which the load average grows too, do not count
// where the kernel says that none waits for a processor.
func TestOthers(t *testing.T) {
	none, half := 0.0, 50.0
	felt := 0.7
	for name, tt := range map[string]struct {
		load Load
		want float64
	}{
		"by the processors alone": {Load{CPUPercent: 50}, 2},
		"a queue":                 {Load{CPUPercent: 100, Load1: 9}, 9},
		"a queue for the disk":    {Load{CPUPercent: 50, Load1: 9, WaitingPercent: &none}, 2},
		"half of the time":        {Load{CPUPercent: 100, Load1: 8, WaitingPercent: &half}, 6},
		"as it is now":            {Load{CPUPercent: 100, Load1: 1, Running: 7}, 7},
		"a load that is over":     {Load{CPUPercent: 25, Load1: 9, Running: 1}, 1},
		"niced work, as felt":     {Load{CPUPercent: 100, Load1: 2, ProbedTasks: &felt}, 0.7},
	} {
		if got := tt.load.Competitors(4); got != tt.want {
			t.Errorf("%s: %v others, want %v", name, got, tt.want)
		}
	}
}

// A processor's kind is known by its own name or the board's; that of several cores
// is the fastest's.
func TestCost(t *testing.T) {
	for _, tt := range []struct {
		names []string
		want  float64
	}{
		{[]string{"AMD EPYC 7742 64-Core Processor"}, 1}, {[]string{"AMD EPYC 7601 32-Core Processor"}, one}, {[]string{"Intel(R) Core(TM) i7-7700K CPU @ 4.20GHz"}, 1},
		{[]string{"", "Raspberry Pi 4 Model B Rev 1.4"}, one}, {[]string{"Cortex-A53", "Raspberry Pi 4 Model B"}, 5.7}, {[]string{"Cortex-A73 2.4GHz x 4 + Cortex-A53 1.8GHz x 4"}, one},
		{[]string{"", "NVIDIA Jetson Orin Nano"}, 1}, {[]string{"", "NVIDIA Jetson Nano Developer Kit"}, one}, {[]string{"Apple M1"}, 0.57}, {[]string{"Intel(R) Atom(TM) x5-Z8350"}, 8.2}, {[]string{"riscv", "Board"}, 0},
	} {
		if got, ok := CoreCost(tt.names...); got != tt.want || ok != (tt.want > 0) {
			t.Errorf("%q: %v, %v, want %v", tt.names, got, ok, tt.want)
		}
	}
}

func TestCore(t *testing.T) {
	for name, want := range map[string]string{"Cortex-A73 2.4GHz x 4 + Cortex-A53 1.8GHz x 4": "cortex-a73", "Rockchip RK3399 (Cortex-A53 x 4 + Cortex-A72 x 2)": "cortex-a72", "AMD EPYC": "", "Neoverse-N1": "neoverse-n1"} {
		if got := FastestCore("", name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
