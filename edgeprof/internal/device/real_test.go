package device_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/testkit/promtest"
)

// agent is a node's agent; what it says of the machine is this machine's.
func agent(t *testing.T, node string) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(device.NewExporter(device.ExporterSettings{Root: os.DirFS("/"), Node: node, Model: "Model of " + node, Arch: "x", Now: time.Now}))
	s := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// A real Prometheus with real exporters: loads are what the kernel's counters
// say, a node whose exporter ends is excluded, and a server that ends is an
// error until it is back.
func TestRealPrometheus(t *testing.T) {
	c := promtest.Start(t, map[string]string{"rpi-1": agent(t, "rpi-1"), "rpi-2": agent(t, "rpi-2")})
	c.Busy("rpi-1", 0.75)
	c.Busy("rpi-2", 0.25)
	source := device.Prometheus{Client: http.DefaultClient, URL: "http://" + c.Address, Window: 8 * promtest.Interval, MaxAge: 8 * promtest.Interval}
	// until waits for the source to say what is wanted, and reports the last it said.
	until := func(what string, ok func([]device.Device, []device.Exclusion, error) bool) {
		t.Helper()
		said := ""
		for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
			devices, excluded, err := source.Devices(t.Context())
			if ok(devices, excluded, err) {
				return
			}
			said = fmt.Sprintf("devices %+v, excluded %+v, error %v", devices, excluded, err)
		}
		t.Fatalf("%s: not in five minutes; the last was %s", what, said)
	}
	loads := func(first, second float64) func([]device.Device, []device.Exclusion, error) bool {
		near := func(d device.Device, want float64) bool {
			around := func(v float64) bool { return v > want-12 && v < want+12 }
			return around(d.Load.CPUPercent) && d.Load.WaitingPercent != nil && around(*d.Load.WaitingPercent) && d.Load.Load1 == 2.5 && d.Load.Running == math.Ceil(want/50)
		}
		return func(devices []device.Device, _ []device.Exclusion, err error) bool {
			return err == nil && len(devices) == 2 && near(devices[0], first) && near(devices[1], second) &&
				devices[0].Model == "Model of rpi-1" && devices[0].Cores == 2 && devices[0].Load.MemoryAvailableBytes == 3000000<<10 && devices[0].Load.DiskPercent != nil
		}
	}
	until("75 and 25 % busy", loads(75, 25))
	c.Busy("rpi-1", 0)
	c.Busy("rpi-2", 1)
	until("0 and 100 % busy", loads(0, 100))

	c.StopExporter("rpi-2")
	until("rpi-2 excluded", func(devices []device.Device, excluded []device.Exclusion, err error) bool {
		return err == nil && len(devices) == 1 && len(excluded) == 1 && excluded[0] == device.Exclusion{Node: "rpi-2", Reason: `no data from its node_exporter (node_cpu_seconds_total{mode="idle"})`}
	})
	c.StopServer()
	if _, _, err := source.Devices(t.Context()); !errors.Is(err, device.ErrUnreachable) {
		t.Errorf("a server that ended: %v", err)
	}
	c.StartServer()
	until("back", func(devices []device.Device, _ []device.Exclusion, err error) bool {
		return err == nil && len(devices) == 1 && devices[0].Node == "rpi-1"
	})
}
