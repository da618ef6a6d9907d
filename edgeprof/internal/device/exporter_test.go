package device

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// laptop has everything that can be reported.
func laptop() fstest.MapFS {
	return fstest.MapFS{
		"proc/stat":                                           entry("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1\ncpu1 1\n"),
		"proc/cpuinfo":                                        entry("model name : Cortex-A72\nflags : fp\n"),
		"proc/meminfo":                                        entry("MemTotal: 4000000 kB\n"),
		"etc/machine-id":                                      entry("0123456789abcdef0123456789abcdef\n"),
		"etc/os-release":                                      entry("NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\n"),
		"proc/device-tree/model":                              entry("Raspberry Pi 4 Model B Rev 1.4\x00"),
		"sys/class/power_supply/AC/type":                      entry("Mains\n"),
		"sys/class/power_supply/BAT0/type":                    entry("Battery\n"),
		"sys/class/power_supply/BAT0/capacity":                entry("87\n"),
		"sys/class/power_supply/BAT0/status":                  entry("Discharging\n"),
		"sys/class/powercap/intel-rapl:0/name":                entry("package-0\n"),
		"sys/class/powercap/intel-rapl:0/energy_uj":           entry("90000000\n"),
		"sys/class/powercap/intel-rapl:0/max_energy_range_uj": entry("100000000\n"),
		"sys/class/powercap/intel-rapl:0:0/name":              entry("core\n"),
		"sys/class/powercap/intel-rapl:0:0/energy_uj":         entry("1\n"),
		"proc/driver/nvidia/gpus/0000:01:00.0/information":    entry("Model: \t NVIDIA T4\nGPU UUID: \t GPU-1\n"),
		"proc/driver/nvidia/gpus/0000:02:00.0/information":    entry("Model: \t NVIDIA T4\nGPU UUID: \t GPU-2\n"),
	}
}

// The text below has the names and labels of char_agent 1.2.
func TestMetrics(t *testing.T) {
	root, now := laptop(), time.Unix(1000, 0)
	e := NewExporter(ExporterSettings{
		Root: root, Node: "rpi-1", Model: "Raspberry Pi 4B", Arch: "aarch64", DiskBytes: func() (uint64, error) { return 64e9, nil },
		Location: Location{"Athens", "Greece", "Europe", "37.98", "23.73"}, Now: func() time.Time { return now },
	})
	d, err := e.Identity()
	if err != nil {
		t.Fatal(err)
	}
	if n := testutil.CollectAndCount(e, "char_node_cpu_energy_watt"); n != 0 {
		t.Errorf("power at the first scrape, from one reading of the meter")
	}
	// 15 J in 10 s, over the end of the counter
	root["sys/class/powercap/intel-rapl:0/energy_uj"] = entry("5000000\n")
	now = now.Add(10 * time.Second)
	common := `char_node_class="Computer",NAME="rpi-1",char_node_uuid="` + d.UUID + `"`
	processor := `char_node_arch="aarch64",char_node_bits="64",char_node_brand="Cortex-A72",char_node_class="Computer",char_node_name="rpi-1",char_node_uuid="` + d.UUID + `"`
	common = strings.Replace(common, "NAME", "char_node_name", 1)
	var want strings.Builder
	for _, m := range [][2]string{
		{"char_node_battery", `char_node_class="Computer",char_node_name="rpi-1",char_node_plugged_battery="false",char_node_uuid="` + d.UUID + `"} 87`},
		{"char_node_cpu_energy_watt", processor + "} 1.5"},
		{"char_node_cpu_total_cores", processor + "} 2"},
		{"char_node_device_model", `char_node_class="Computer",char_node_device_model_name="Raspberry Pi 4B",char_node_name="rpi-1",char_node_uuid="` + d.UUID + `"} 1`},
		{"char_node_disk_total_size", common + "} 6.4e+10"},
		{"char_node_gpu", `char_node_class="Computer",char_node_gpu_id="GPU-1",char_node_gpu_model="NVIDIA T4",char_node_gpu_type="discrete",char_node_name="rpi-1",char_node_uuid="` + d.UUID + `"} 2`},
		{"char_node_location", `char_node_city="Athens",char_node_class="Computer",char_node_continent="Europe",char_node_country="Greece",char_node_latitude="37.98",char_node_longitude="23.73",char_node_name="rpi-1",char_node_uuid="` + d.UUID + `"} 1`},
		{"char_node_os", `char_node_class="Computer",char_node_name="rpi-1",char_node_os_name="Debian GNU/Linux",char_node_os_version="12",char_node_uuid="` + d.UUID + `"} 1`},
		{"char_node_ram_total_bytes", common + "} 4.096e+09"},
	} {
		want.WriteString("# HELP " + m[0] + " " + help[m[0]] + "\n# TYPE " + m[0] + " gauge\n" + m[0] + "{" + m[1] + "\n")
	}
	if err := testutil.CollectAndCompare(e, strings.NewReader(want.String())); err != nil {
		t.Error(err)
	}
	again, err := NewExporter(ExporterSettings{Root: root, Node: "rpi-1"}).Identity()
	if err != nil || again.UUID != d.UUID || again.Model != "Raspberry Pi 4 Model B Rev 1.4" {
		t.Errorf("at the next start: %+v, %v", again, err)
	}
}

// A machine has no metric for what it lacks.
func TestMissing(t *testing.T) {
	root := fstest.MapFS{"proc/stat": entry("cpu  1 0 0 1 0 0\ncpu0 1\n")}
	e := NewExporter(ExporterSettings{Root: root, Node: "bare", Now: time.Now, DiskBytes: func() (uint64, error) { return 0, errors.New("no such file system") }})
	for name, want := range map[string]int{
		"char_node_battery": 0, "char_node_cpu_energy_watt": 0, "char_node_disk_total_size": 0,
		"char_node_device_model": 1, "char_node_gpu": 1, "char_node_os": 1, "char_node_location": 1,
	} {
		if got := testutil.CollectAndCount(e, name); got != want {
			t.Errorf("%s: %d series, want %d", name, got, want)
		}
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(NewExporter(ExporterSettings{Root: fstest.MapFS{}, Node: "none", Now: time.Now}))
	if _, err := registry.Gather(); err == nil || !strings.Contains(err.Error(), "proc/stat") {
		t.Errorf("a machine that cannot be read: %v", err)
	}
	root["proc/device-tree/model"] = entry("NVIDIA Jetson Nano Developer Kit\x00")
	if count, model, kind, _ := (files{root}).gpu(); count != 1 || model != "NVIDIA Jetson Nano Developer Kit" || kind != "integrated" {
		t.Errorf("Jetson: %d %s %s", count, model, kind)
	}
}

// Prometheus's own rules for metrics hold, but for the original's names.
func TestLint(t *testing.T) {
	problems, err := testutil.CollectAndLint(NewExporter(ExporterSettings{Root: laptop(), Node: "n", Now: time.Now}))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if p.Metric != "char_node_cpu_energy_watt" {
			t.Errorf("%+v", promlint.Problem(p))
		}
	}
}
