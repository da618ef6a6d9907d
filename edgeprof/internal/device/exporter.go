package device

import (
	"cmp"
	"context"
	"io/fs"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ExporterSettings say which machine is reported, and what cannot be read from it.
type ExporterSettings struct {
	Root fs.FS  // of the machine's file system
	Node string // its name in the cluster
	// Model overrides what the machine says it is.
	Model string
	// DiskBytes returns the size of the root file system; nil or an error
	// leaves the metric out.
	DiskBytes func() (uint64, error)
	Location  Location
	// Arch is the kernel's name of the instruction set, such as "aarch64".
	Arch string
	Now  func() time.Time
}

// Location is a machine's place as its owner gave it; the zero value is unknown.
type Location struct{ City, Country, Continent, Latitude, Longitude string }

// Exporter collects one machine's metrics at each scrape.
type Exporter struct {
	settings ExporterSettings
	files    files

	mutex  sync.Mutex // guards the last reading of the power meter
	joules float64
	at     time.Time
}

var _ prometheus.Collector = (*Exporter)(nil)

// NewExporter returns the exporter of a machine.
func NewExporter(s ExporterSettings) *Exporter { return &Exporter{settings: s, files: files{s.Root}} }

// Identity returns the machine as a device, without its load.
func (e *Exporter) Identity() (Device, error) {
	still := func(context.Context, time.Duration) error { return nil }
	devices, _, err := Local{Root: e.settings.Root, Host: e.settings.Node, Sleep: still, VM: true}.Devices(context.Background())
	if err != nil {
		return Device{}, err
	}
	d := devices[0]
	if e.settings.Model != "" {
		d.Model = e.settings.Model
	}
	return d, nil
}

// Describe sends nothing: which metrics there are depends on the machine.
func (e *Exporter) Describe(chan<- *prometheus.Desc) {}

// Collect reads the machine. A machine that cannot be read yields an invalid metric: the scrape
// fails and gives the reason.
func (e *Exporter) Collect(metrics chan<- prometheus.Metric) {
	d, err := e.Identity()
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(prometheus.NewDesc("char_node_device_model", help["char_node_device_model"], nil, nil), err)
		return
	}
	send := func(name string, v float64, labels ...string) {
		keys := []string{"char_node_name", "char_node_class", "char_node_uuid"}
		values := []string{d.Node, d.Class, d.UUID}
		for i := 0; i < len(labels); i += 2 {
			keys, values = append(keys, labels[i]), append(values, labels[i+1])
		}
		metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help[name], keys, nil), prometheus.GaugeValue, v, values...)
	}
	processor := []string{"char_node_brand", cmp.Or(d.Processor, e.files.brand()), "char_node_arch", e.settings.Arch, "char_node_bits", strconv.Itoa(strconv.IntSize)}
	send("char_node_device_model", 1, "char_node_device_model_name", d.Model)
	send("char_node_cpu_total_cores", float64(d.Cores), processor...)
	send("char_node_ram_total_bytes", float64(d.MemoryBytes))
	if watts, ok := e.watts(); ok {
		send("char_node_cpu_energy_watt", watts, processor...)
	}
	if percent, plugged, ok := e.files.battery(); ok {
		send("char_node_battery", percent, "char_node_plugged_battery", strconv.FormatBool(plugged))
	}
	if e.settings.DiskBytes != nil {
		if size, err := e.settings.DiskBytes(); err == nil {
			send("char_node_disk_total_size", float64(size))
		}
	}
	name, version := e.files.system()
	send("char_node_os", truth(name != ""), "char_node_os_name", name, "char_node_os_version", version)
	place := e.settings.Location
	send("char_node_location", truth(place != Location{}), "char_node_city", place.City, "char_node_country", place.Country,
		"char_node_continent", place.Continent, "char_node_latitude", place.Latitude, "char_node_longitude", place.Longitude)
	count, model, kind, id := e.files.gpu()
	send("char_node_gpu", float64(count), "char_node_gpu_model", model, "char_node_gpu_type", kind, "char_node_gpu_id", id)
}

func truth(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// watts returns the mean power since the last scrape; the first has none.
func (e *Exporter) watts() (float64, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	joules, wraps, ok := e.files.joules()
	now := e.settings.Now()
	spent, seconds := joules-e.joules, now.Sub(e.at).Seconds()
	first := e.at.IsZero()
	if !ok {
		return 0, false
	}
	e.joules, e.at = joules, now
	if spent < 0 {
		spent += wraps
	}
	if first || seconds <= 0 || spent < 0 {
		return 0, false
	}
	return math.Round(1000*spent/seconds) / 1000, true
}

var help = map[string]string{
	"char_node_device_model":    "1 for the model that the device is.",
	"char_node_battery":         "Charge of the battery in percent.",
	"char_node_ram_total_bytes": "Memory in bytes.",
	"char_node_cpu_total_cores": "Processor cores.",
	"char_node_cpu_energy_watt": "Mean power of the processors since the last scrape in watts.",
	"char_node_location":        "1 where the owner says where the node stands.",
	"char_node_disk_total_size": "Size of the root file system in bytes.",
	"char_node_os":              "1 for the operating system that the node runs.",
	"char_node_gpu":             "Graphics processors.",
}
