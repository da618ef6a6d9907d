package device_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/testkit/promtest"
)

// board holds the answers of one machine's exporter and agent.
type board struct {
	instance string // of its exporter in Prometheus
	host     string // what its kernel is called; "" for no exporter
	agent    string // what its agent is called; "" for no agent
	busy     float64
	noDisk   bool
	job      string // besides "node"
}

// exporter serves node_exporter's series, whose counters go on.
func (b board) exporter(start time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		seconds := 1000 + time.Since(start).Seconds()
		for cpu := range 4 {
			fmt.Fprintf(w, "node_cpu_seconds_total{cpu=\"%d\",mode=\"idle\"} %f\nnode_cpu_seconds_total{cpu=\"%[1]d\",mode=\"user\"} %f\n", cpu, seconds*(1-b.busy), seconds*b.busy)
		}
		if !b.noDisk {
			fmt.Fprint(w, "node_filesystem_avail_bytes{mountpoint=\"/\",fstype=\"ext4\"} 4e9\nnode_filesystem_size_bytes{mountpoint=\"/\",fstype=\"ext4\"} 1e10\n")
		}
		fmt.Fprintf(w, "node_memory_MemAvailable_bytes 2e9\nnode_load1 1\nnode_procs_running 2\nnode_uname_info{nodename=%q} 1\n", b.host)
	}
}

func (b board) identity(w http.ResponseWriter, _ *http.Request) {
	labels := fmt.Sprintf("char_node_name=%q,char_node_class=\"Computer\",char_node_uuid=\"u-%[1]s\"", b.agent)
	fmt.Fprintf(w, "char_node_device_model{%s,char_node_device_model_name=\"Raspberry Pi 4B\"} 1\nchar_node_ram_total_bytes{%[1]s} 4e9\n", labels)
}

// Clusters as people run them: a board without a root file system in its metrics, one that
// two jobs scrape, boards that share a host name, one that is scraped eight times less often,
// and an address of IPv6. Each load is right, or the board is left out with its reason.
func TestRealClusters(t *testing.T) {
	start := time.Now()
	address := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	jobs := map[string]string{}
	target := func(job, at, instance string) {
		labels := ""
		if instance != "" {
			labels = fmt.Sprintf(", labels: {instance: %q}", instance)
		}
		jobs[job] += fmt.Sprintf("  - {targets: [%q]%s}\n", at, labels)
	}
	for _, b := range []board{
		{instance: "pi-ok:9100", host: "pi-ok", agent: "pi-ok", busy: 0.25},
		{instance: "haos:9100", host: "haos", agent: "haos", busy: 0.25, noDisk: true},
		{instance: "pi-twice:9100", host: "pi-twice", agent: "pi-twice", busy: 0.9, job: "again"},
		{instance: "10.0.0.7:9100", host: "raspberrypi", agent: "kitchen", busy: 0.05},
		{instance: "10.0.0.9:9100", host: "raspberrypi", agent: "garage", busy: 0.95},
		{instance: "10.0.0.11:9100", host: "twin", agent: "twin", busy: 0.1},
		{instance: "10.0.0.13:9100", host: "twin", busy: 0.95},
		{instance: "slow:9100", host: "slow", agent: "slow", busy: 0.5, job: "slow"},
		{instance: "[fd00::6]:9100", host: "six", agent: "fd00::6", busy: 0.25},
	} {
		at, job := address(b.exporter(start)), "node"
		if b.job == "slow" {
			job = b.job
		}
		target(job, at, b.instance)
		if b.job == "again" {
			target(b.job, at, b.instance)
		}
		if b.agent != "" {
			target("agents", address(b.identity), "")
		}
	}
	config := "global: {scrape_interval: 250ms, scrape_timeout: 250ms}\nscrape_configs:\n"
	for job, targets := range jobs {
		interval := ""
		if job == "slow" {
			interval = "  scrape_interval: 2s\n"
		}
		config += "- job_name: " + job + "\n" + interval + "  static_configs:\n" + targets
	}
	source := device.Prometheus{Client: http.DefaultClient, URL: "http://" + promtest.Serve(t, config)}
	want := map[string]float64{"pi-ok": 25, "haos": 25, "pi-twice": 90, "slow": 50, "fd00::6": 25}
	reasons := map[string]string{
		"kitchen": "no data from its node_exporter", "garage": "no data from its node_exporter", "twin": "2 node_exporters may be its own: 10.0.0.11:9100, 10.0.0.13:9100",
		"10.0.0.7:9100": "no agent", "10.0.0.9:9100": "no agent",
	}
	wrong := ""
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		devices, excluded, err := source.Devices(t.Context())
		if err != nil { // the server is slow
			wrong = err.Error()
			continue
		}
		wrong = ""
		for _, d := range devices {
			if load, ok := want[d.Node]; !ok || d.Cores != 4 || d.Load.CPUPercent < load-8 || d.Load.CPUPercent > load+8 || (d.Load.DiskPercent == nil) != (d.Node == "haos") {
				wrong += fmt.Sprintf("%+v\n", d)
			}
		}
		for _, e := range excluded {
			if reason, ok := reasons[e.Node]; !ok || !strings.HasPrefix(e.Reason, reason) {
				wrong += fmt.Sprintf("%+v\n", e)
			}
		}
		if len(devices) != len(want) || len(excluded) != len(reasons) {
			wrong += fmt.Sprintf("%d devices, %d excluded\n", len(devices), len(excluded))
		}
		if wrong == "" {
			return
		}
	}
	t.Errorf("after five minutes:\n%s", wrong)
}
