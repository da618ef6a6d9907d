package device

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/foretime/foretime/shared/crash"
)

// Prometheus is a Prometheus server that scrapes node_exporter and a
// characterization agent on every node.
type Prometheus struct {
	Client *http.Client
	URL    string // such as "http://10.0.0.1:9090"
	// NodeLabel is the label of node_exporter's series that names the node; ""
	// means instance. A port after the name is left off, and a name that no
	// agent has is looked up in node_uname_info.
	NodeLabel string
	// GPULoad is an expression for the load of each GPU in percent; "" means that of NVIDIA's
	// dcgm-exporter.
	GPULoad string
	// Window is the time over which the processors' load is averaged; 0 means four scrape
	// intervals. A node that is scraped less often gets four of its own.
	Window time.Duration
	// MaxAge is the oldest sample that counts; 0 means 1 minute. It is at least two and
	// a half scrape intervals.
	MaxAge time.Duration
	// ForgetAfter is the time for which a silent node is still listed as excluded; 0 means 1 hour.
	ForgetAfter time.Duration
	// Timeout bounds all queries together; 0 means 5 seconds.
	Timeout time.Duration
	// MaxBytes bounds one answer; 0 means 8 MiB.
	MaxBytes int64
}

var _ Source = Prometheus{}

func (s Prometheus) timeout() time.Duration { return cmp.Or(s.Timeout, 5*time.Second) }
func (s Prometheus) maxBytes() int64        { return cmp.Or(s.MaxBytes, 8<<20) }
func (s Prometheus) label() string          { return cmp.Or(s.NodeLabel, "instance") }
func (s Prometheus) maxAge() time.Duration  { return cmp.Or(s.MaxAge, time.Minute) }

// Quantities distinguish the series of an answer.
const (
	busyPercent  = "busy_percent"
	cores        = "cores"
	ageSeconds   = "age_seconds"
	maxHertz     = "max_hertz"
	diskPercent  = "disk_percent"
	memoryFree   = "memory_available_bytes"
	uname        = "uname"
	known        = "known"
	memoryTotal  = "memory_bytes"
	architecture = "architecture"
	load1        = "load1"
	waiting      = "waiting_percent"
	running      = "running"
	gpuPercent   = "gpu_percent"
)

// expressions returns the queries: processors, agents, and the rest of the system. A rate is
// that of the first window in which a series has two samples.
func (s Prometheus) expressions(windows []time.Duration) [3]string {
	by := "by (" + s.label() + ") "
	over := func(function, series string) string {
		parts := make([]string, len(windows))
		for i, w := range windows {
			parts[i] = function + "(" + series + "[" + promDuration(w) + "])"
		}
		return "(" + strings.Join(parts, " or ") + ")"
	}
	root := `{mountpoint="/",fstype!="rootfs"}`
	join := func(rows ...[2]string) string {
		parts := make([]string, len(rows))
		for i, row := range rows {
			parts[i] = fmt.Sprintf(`label_replace(%s, "quantity", %q, "", "")`, row[1], row[0])
		}
		return strings.Join(parts, "\nor ")
	}
	return [3]string{
		join(
			[2]string{busyPercent, "100 * (1 - avg " + by + over("rate", idleSeries) + ")"},
			[2]string{cores, "count " + by + "(count by (" + s.label() + ", cpu) (" + idleSeries + "))"},
			[2]string{ageSeconds, "time() - max " + by + "(timestamp(" + idleSeries + "))"},
			[2]string{maxHertz, "max " + by + "(node_cpu_frequency_max_hertz)"},
		),
		join(
			[2]string{known, "last_over_time(char_node_device_model[" + promDuration(cmp.Or(s.ForgetAfter, time.Hour)) + "])"},
			[2]string{ageSeconds, "time() - timestamp(char_node_device_model)"},
			[2]string{memoryTotal, "char_node_ram_total_bytes"},
			[2]string{architecture, "char_node_cpu_total_cores"},
		),
		join(
			[2]string{diskPercent, "100 * (1 - max " + by + "(node_filesystem_avail_bytes" + root + ") / max " + by + "(node_filesystem_size_bytes" + root + "))"},
			[2]string{memoryFree, "max " + by + "(node_memory_MemAvailable_bytes)"},
			[2]string{load1, "max " + by + "(node_load1)"},
			[2]string{waiting, "100 * max " + by + over("rate", "node_pressure_cpu_waiting_seconds_total")},
			[2]string{running, "max " + by + over("avg_over_time", "node_procs_running")},
			[2]string{uname, "max by (" + s.label() + ", nodename) (node_uname_info)"},
			[2]string{gpuPercent, "max by (" + s.label() + ", Hostname) (" + cmp.Or(s.GPULoad, "DCGM_FI_DEV_GPU_UTIL") + ")"},
		),
	}
}

// idleSeries counts the seconds in which each processor was idle.
const idleSeries = `node_cpu_seconds_total{mode="idle"}`

// Devices asks for all nodes. The error matches [ErrUnreachable], [ErrTimeout]
// or [ErrAnswer].
func (s Prometheus) Devices(ctx context.Context) ([]Device, []Exclusion, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	type result struct {
		query   int
		samples []sample
		err     error
	}
	windows, maxAge := s.windows(s.intervals(ctx))
	results := make(chan result, 3)
	for i, expression := range s.expressions(windows) {
		crash.Go(func() {
			samples, err := s.query(ctx, expression)
			results <- result{i, samples, err}
		})
	}
	var answers [3][]sample
	var first error
	for range answers {
		r := <-results
		if r.err != nil && first == nil {
			first = fmt.Errorf("query for %s: %w", [...]string{"processors", "agents", "disks"}[r.query], r.err)
			cancel() // the others are of no use
		}
		answers[r.query] = r.samples
	}
	if first != nil {
		return nil, nil, first
	}
	devices, excluded := s.assemble(newNodes(answers[1]), append(answers[0], answers[2]...), maxAge)
	return devices, excluded, nil
}

// node gathers what is said of one.
type node struct {
	device   Device
	seen     map[string]float64 // of node_exporter, by quantity
	agentAge float64            // seconds; NaN while unknown
	agents   map[string]bool    // that speak for it now, by address
	rivals   []string           // exporters of which each may be the node's
}

// newNodes returns the nodes that agents name, by name.
func newNodes(agents []sample) map[string]*node {
	nodes := map[string]*node{}
	at := func(a sample) *node {
		name := a.labels["char_node_name"]
		n := nodes[name]
		if n == nil {
			n = &node{device: Device{Node: name}, seen: map[string]float64{}, agentAge: math.NaN(), agents: map[string]bool{}}
			nodes[name] = n
		}
		return n
	}
	for _, a := range agents {
		if a.labels["char_node_name"] == "" {
			continue
		}
		n := at(a)
		switch a.labels["quantity"] {
		case known:
			if len(n.agents) == 0 {
				n.identify(a.labels)
			}
		case ageSeconds:
			n.identify(a.labels)
			n.agents[a.labels["instance"]] = true
			n.agentAge = a.value
		case memoryTotal:
			n.device.MemoryBytes = sizeOf(a.value)
		case architecture:
			n.device.Arch, n.device.Processor = a.labels["char_node_arch"], a.labels["char_node_brand"]
		}
	}
	return nodes
}

func (n *node) identify(labels map[string]string) {
	n.device.Class = labels["char_node_class"]
	n.device.Model = labels["char_node_device_model_name"]
	n.device.UUID = labels["char_node_uuid"]
}

// sizeOf returns 0, unknown, for what is no size.
func sizeOf(v float64) int64 {
	if !(v >= 0 && v < 1<<62) {
		return 0
	}
	return int64(v)
}

// number returns 0, unknown, for what is none.
func number(v float64) float64 {
	if !(v >= 0) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// assemble joins node_exporter's rows to the agents' nodes.
func (s Prometheus) assemble(nodes map[string]*node, rows []sample, maxAge time.Duration) (devices []Device, excluded []Exclusion) {
	owners := s.join(nodes, rows)
	var strangers, silent []string // exporters without a node, nodes without an exporter
	for _, row := range rows {
		instance := row.labels[s.label()]
		quantity := row.labels["quantity"]
		n := nodes[owners[instance]]
		switch {
		case quantity == gpuPercent:
			if n = nodes[s.ownerOfGPU(row, nodes, owners)]; n != nil {
				n.seen[quantity] = max(n.seen[quantity], row.value)
			}
		case n != nil && quantity != uname:
			n.seen[quantity] = row.value
		case n == nil && quantity == busyPercent && instance != "" && !isRival(nodes, instance) && !slices.Contains(strangers, instance):
			strangers = append(strangers, instance)
		}
	}
	for name, n := range nodes {
		if len(n.seen) == 0 && len(n.rivals) == 0 {
			silent = append(silent, name)
		}
	}
	slices.Sort(strangers)
	slices.Sort(silent)
	for name, n := range nodes {
		err := n.complete(maxAge)
		if err == nil {
			devices = append(devices, n.device)
			continue
		}
		reason := err.Error()
		if slices.Contains(silent, name) {
			reason += listOthers("node_exporters without an agent", strangers)
		}
		excluded = append(excluded, Exclusion{Node: name, Reason: reason})
	}
	for _, instance := range strangers {
		excluded = append(excluded, Exclusion{Node: instance, Reason: "no agent says what it is (char_node_device_model)" + listOthers("agents without a node_exporter", silent)})
	}
	slices.SortFunc(devices, func(a, b Device) int { return strings.Compare(a.Node, b.Node) })
	slices.SortFunc(excluded, func(a, b Exclusion) int { return strings.Compare(a.Node, b.Node) })
	return devices, excluded
}

// complete fills in the load, or says why the node cannot be ranked.
func (n *node) complete(maxAge time.Duration) error {
	for _, part := range []struct {
		name, series string
		age          float64
		ok           bool
	}{{"agent", "char_node_device_model", n.agentAge, len(n.agents) > 0}, {"node_exporter", idleSeries, n.seen[ageSeconds], hasKey(n.seen, ageSeconds)}} {
		if !part.ok && part.name == "node_exporter" && len(n.rivals) > 0 {
			return fmt.Errorf("%d node_exporters may be its own: %s; name one of them %s in Prometheus", len(n.rivals), strings.Join(n.rivals, ", "), n.device.Node)
		}
		if !part.ok {
			return fmt.Errorf("no data from its %s (%s)", part.name, part.series)
		}
		if !(part.age <= maxAge.Seconds()) {
			return fmt.Errorf("the last data from its %s (%s) is %.0f s old, more than %.0f s", part.name, part.series, part.age, maxAge.Seconds())
		}
	}
	if len(n.agents) > 1 {
		return fmt.Errorf("%d agents report this node name", len(n.agents))
	}
	var err error
	load := &n.device.Load
	if load.CPUPercent, err = n.percent(busyPercent, "CPU load", idleSeries); err != nil {
		return err
	}
	if hasKey(n.seen, diskPercent) {
		used, err := n.percent(diskPercent, "disk usage", "node_filesystem_avail_bytes")
		if err != nil {
			return err
		}
		load.DiskPercent = &used
	}
	if gpu, ok := n.seen[gpuPercent]; ok {
		load.GPUPercent = &gpu
	}
	if count := n.seen[cores]; count >= 1 && count < 1<<20 {
		n.device.Cores = int(count)
	}
	if hertz := n.seen[maxHertz]; hertz > 0 && !math.IsInf(hertz, 0) {
		n.device.MaxMHz = hertz / 1e6
	}
	load.MemoryAvailableBytes = sizeOf(n.seen[memoryFree])
	load.Load1, load.Running = number(n.seen[load1]), number(n.seen[running]-1) // but for the exporter
	if hasKey(n.seen, waiting) {
		share, err := n.percent(waiting, "share of waiting", "node_pressure_cpu_waiting_seconds_total")
		if err != nil {
			return err
		}
		load.WaitingPercent = &share
	}
	return n.device.Check()
}

func hasKey(m map[string]float64, key string) bool { _, ok := m[key]; return ok }

// percent returns a share; rates that Prometheus extrapolates may leave 0 to 100 by
// a little.
func (n *node) percent(quantity, name, series string) (float64, error) {
	v, ok := n.seen[quantity]
	if !ok {
		return 0, fmt.Errorf("its %s is unknown: no two recent samples of %s", name, series)
	}
	if !(v >= -5 && v <= 105) {
		return 0, fmt.Errorf("its %s is %v %%, want 0 to 100", name, v)
	}
	return min(max(v, 0), 100), nil
}
