package device

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// Each field is accepted at its limit and refused a step beyond.
func TestDeviceLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Device)
		good   bool
	}{
		"one core":           {func(*Device) {}, true},
		"no name":            {func(d *Device) { d.Node = "" }, false},
		"no core":            {func(d *Device) { d.Cores = 0 }, false},
		"all of the CPU":     {func(d *Device) { d.Load.CPUPercent = 100 }, true},
		"more of the CPU":    {func(d *Device) { d.Load.CPUPercent = 100.01 }, false},
		"less than none":     {func(d *Device) { d.Load.CPUPercent = -.01 }, false},
		"no number":          {func(d *Device) { d.Load.CPUPercent = math.NaN() }, false},
		"a full disk":        {func(d *Device) { d.Load.DiskPercent = new(100.0) }, true},
		"a fuller disk":      {func(d *Device) { d.Load.DiskPercent = new(100.01) }, false},
		"an idle GPU":        {func(d *Device) { d.Load.GPUPercent = new(0.0) }, true},
		"an odd GPU":         {func(d *Device) { d.Load.GPUPercent = new(-.01) }, false},
		"always waiting":     {func(d *Device) { d.Load.WaitingPercent = new(100.0) }, true},
		"waiting longer":     {func(d *Device) { d.Load.WaitingPercent = new(100.01) }, false},
		"the most tasks":     {func(d *Device) { d.Load.Load1, d.Load.Running, d.Load.ProbedTasks = 1<<22, 1<<22, new(float64(1<<22)) }, true},
		"more load":          {func(d *Device) { d.Load.Load1 = 1<<22 + 1 }, false},
		"less load":          {func(d *Device) { d.Load.Load1 = -.01 }, false},
		"more running":       {func(d *Device) { d.Load.Running = 1<<22 + 1 }, false},
		"more in a probe":    {func(d *Device) { d.Load.ProbedTasks = new(float64(1<<22 + 1)) }, false},
		"fewer in a probe":   {func(d *Device) { d.Load.ProbedTasks = new(-.01) }, false},
		"negative physical":  {func(d *Device) { d.PhysicalCores = -1 }, false},
		"the slowest clock":  {func(d *Device) { d.MaxMHz = 50 }, true},
		"a slower clock":     {func(d *Device) { d.MaxMHz = 49.9 }, false},
		"the fastest clock":  {func(d *Device) { d.MaxMHz = 10000 }, true},
		"a faster clock":     {func(d *Device) { d.MaxMHz = 10000.1 }, false},
		"a clock of no MHz":  {func(d *Device) { d.MaxMHz = math.NaN() }, false},
		"negative memory":    {func(d *Device) { d.MemoryBytes = -1 }, false},
		"less than no free":  {func(d *Device) { d.Load.MemoryAvailableBytes = -1 }, false},
		"a byte of memory":   {func(d *Device) { d.MemoryBytes, d.Load.MemoryAvailableBytes = 1, 1 }, true},
		"physical as others": {func(d *Device) { d.PhysicalCores = 1 }, true},
	} {
		d := Device{Node: "a", Cores: 1}
		tt.change(&d)
		if err := d.Check(); (err == nil) != tt.good || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, tt := range []struct{ physical, cores, want int }{{0, 4, 4}, {2, 4, 2}, {8, 4, 4}, {4, 4, 4}} {
		if got := (&Device{PhysicalCores: tt.physical, Cores: tt.cores}).DefaultThreads(); got != tt.want {
			t.Errorf("%d of %d cores: %d threads, want %d", tt.physical, tt.cores, got, tt.want)
		}
	}
}

// TestCompetitorsByHand checks a probe, or the busy cores and the tasks that wait for one.
func TestCompetitorsByHand(t *testing.T) {
	for _, tt := range []struct {
		load Load
		want float64
	}{
		{Load{}, 0}, {Load{CPUPercent: 50}, 2}, {Load{CPUPercent: 50, Load1: 3}, 3}, {Load{CPUPercent: 50, Load1: 1}, 2}, {Load{CPUPercent: 50, Load1: 3, Running: 2.5}, 2.5},
		{Load{CPUPercent: 50, Load1: 6, WaitingPercent: new(25.0)}, 3}, {Load{CPUPercent: 50, Load1: 6, WaitingPercent: new(0.0)}, 2}, {Load{CPUPercent: 50, Load1: 6, Running: 5, WaitingPercent: new(0.0)}, 5}, {Load{CPUPercent: 50, ProbedTasks: new(.5)}, .5},
	} {
		if got := tt.load.Competitors(4); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v: %v, want %v", tt.load, got, tt.want)
		}
	}
	for tasks, want := range map[float64]bool{3.8: true, 3.79: false, 4: true} {
		if got := (&Load{ProbedTasks: &tasks}).IsSaturated(4); got != want {
			t.Errorf("%v tasks on four cores: saturated %v", tasks, got)
		}
	}
}

// TestCostsOfCores checks the cycles of each grade by its vector units, and of wider vectors.
func TestCostsOfCores(t *testing.T) {
	for name, want := range map[string]float64{
		"Cortex-X1": .57, "Cortex-A76": 1, "Cortex-A72": 3.4, "Cortex-A53": 5.7, "Cortex-A15": 8.2, "Cortex-A7": 13.3, "EPYC 7251": 3.4, "Xeon": 1, "Xeon, AVX-512": .5, "Xeon, AVX2": 1, "Xeon, SSE2": 2,
	} {
		if got, ok := CoreCost("unknown", name); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, %v; want %v", name, got, ok, want)
		}
	}
	if got, ok := CoreCost("unknown"); ok || got != 0 {
		t.Errorf("unknown: %v, %v", got, ok)
	}
	for name, want := range map[string]int{"a, AVX-512": 512, "a, AVX2": 256, "a, SSE2": 128, "AVX2": 0, "a": 0} {
		if got := VectorWidth(name); got != want {
			t.Errorf("%s: %d bits, want %d", name, got, want)
		}
	}
	if got := FastestCore("Cortex-A53 and Cortex-A72", "Cortex-A7", "Cortex-A73"); got != "cortex-a72" {
		t.Errorf("the fastest is %s, want the first of the fastest", got)
	}
	if got := FastestCore("x86"); got != "" {
		t.Errorf("none is %s", got)
	}
}

// TestScrapeIntervals checks those of the jobs, the usual one of the server, or a minute.
func TestScrapeIntervals(t *testing.T) {
	const second = time.Second
	for text, want := range map[string][]time.Duration{
		"":                                {time.Minute},
		"global: {scrape_interval: 15s}":  {15 * second},
		"global: {scrape_interval: 0s}":   {time.Minute},
		"global: {scrape_interval: 1ns}":  {1},
		"global: {scrape_interval: soon}": {time.Minute},
		"global: {scrape_interval: 15s}\nscrape_configs: [{scrape_interval: 30s}, {}, {scrape_interval: 5s}, {scrape_interval: 15s}]": {5 * second, 15 * second, 30 * second},
		"scrape_configs: [{scrape_interval: 1ns}, {scrape_interval: 0s}, {scrape_interval: x}]":                                       {1, time.Minute},
		"7": {time.Minute},
	} {
		if got := parseIntervals(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for _, tt := range []struct {
		s       Prometheus
		every   []time.Duration
		windows []time.Duration
		age     time.Duration
	}{
		{Prometheus{}, []time.Duration{10 * second}, []time.Duration{40 * second}, time.Minute},
		{Prometheus{}, []time.Duration{10 * second, 30 * second}, []time.Duration{40 * second, 120 * second}, 75 * second},
		{Prometheus{Window: 40 * second}, []time.Duration{10 * second, 11 * second}, []time.Duration{40 * second, 44 * second}, time.Minute},
		{Prometheus{MaxAge: 90 * second}, []time.Duration{30 * second}, []time.Duration{120 * second}, 90 * second},
	} {
		windows, age := tt.s.windows(tt.every)
		if !slices.Equal(windows, tt.windows) || age != tt.age {
			t.Errorf("%+v, each %v: %v, %v; want %v, %v", tt.s, tt.every, windows, age, tt.windows, tt.age)
		}
	}
	if s := (Prometheus{}); s.timeout() != 5*second || s.maxBytes() != 8388608 || s.maxAge() != time.Minute || s.label() != "instance" {
		t.Errorf("%v, %d bytes, %v, %s", s.timeout(), s.maxBytes(), s.maxAge(), s.label())
	}
	if got := promDuration(1500 * time.Millisecond); got != "1500ms" {
		t.Errorf("1.5 s is %s", got)
	}
}

// A value that is no size, no number or no share is unknown.
func TestValuesOfSeries(t *testing.T) {
	for v, want := range map[float64]int64{0: 0, 1: 1, -1: 0, .9: 0, 1 << 62: 0, 1<<62 - 1024: 1<<62 - 1024, math.Inf(1): 0} {
		if got := sizeOf(v); got != want {
			t.Errorf("size %v: %d, want %d", v, got, want)
		}
	}
	if sizeOf(math.NaN()) != 0 || number(math.NaN()) != 0 {
		t.Error("no number is a size")
	}
	for v, want := range map[float64]float64{0: 0, .5: .5, -.5: 0, math.Inf(1): 0, math.Inf(-1): 0} {
		if got := number(v); got != want {
			t.Errorf("number %v: %v, want %v", v, got, want)
		}
	}
	for v, want := range map[float64]float64{-5: 0, -5.01: -1, 0: 0, 50: 50, 100: 100, 105: 100, 105.01: -1} {
		n := &node{seen: map[string]float64{"x": v}}
		got, err := n.percent("x", "share", "series")
		if (err == nil) != (want >= 0) || err == nil && got != want || err != nil && got != 0 {
			t.Errorf("share %v: %v, %v; want %v", v, got, err, want)
		}
	}
	if _, err := (&node{}).percent("x", "share", "series"); err == nil {
		t.Error("an unknown share is known")
	}
}

// TestCompleteNodes builds nodes from series at their limits.
func TestCompleteNodes(t *testing.T) {
	with := func(more map[string]float64) *node {
		n := &node{agents: map[string]bool{"x": true}, agentAge: 60, seen: map[string]float64{ageSeconds: 60, busyPercent: 25, cores: 4}, device: Device{Node: "a"}}
		for k, v := range more {
			n.seen[k] = v
		}
		return n
	}
	for _, tt := range []struct {
		more map[string]float64
		good bool
		look func(Device) bool
	}{
		{nil, true, func(d Device) bool {
			return d.Cores == 4 && d.MaxMHz == 0 && d.Load.CPUPercent == 25 && d.Load.DiskPercent == nil && d.Load.Running == 0
		}},
		{map[string]float64{cores: 1}, true, func(d Device) bool { return d.Cores == 1 }},
		{map[string]float64{cores: 0}, false, nil},
		{map[string]float64{cores: 1<<20 - 1}, true, func(d Device) bool { return d.Cores == 1<<20-1 }},
		{map[string]float64{cores: 1 << 20}, false, nil},
		{map[string]float64{maxHertz: 2e9}, true, func(d Device) bool { return d.MaxMHz == 2000 }},
		{map[string]float64{maxHertz: 1}, false, nil},
		{map[string]float64{maxHertz: -1}, true, func(d Device) bool { return d.MaxMHz == 0 }},
		{map[string]float64{maxHertz: math.Inf(1)}, true, func(d Device) bool { return d.MaxMHz == 0 }},
		{map[string]float64{memoryFree: 77, load1: 3, running: 6}, true, func(d Device) bool {
			return d.Load.MemoryAvailableBytes == 77 && d.Load.Load1 == 3 && d.Load.Running == 5
		}},
		{map[string]float64{waiting: 7, diskPercent: 8, gpuPercent: 9}, true, func(d Device) bool {
			return *d.Load.WaitingPercent == 7 && *d.Load.DiskPercent == 8 && *d.Load.GPUPercent == 9
		}},
		{map[string]float64{waiting: 107}, false, nil}, {map[string]float64{diskPercent: 107}, false, nil}, {map[string]float64{busyPercent: 107}, false, nil}, {map[string]float64{gpuPercent: 107}, false, nil},
		{map[string]float64{ageSeconds: 60.01}, false, nil},
	} {
		n := with(tt.more)
		err := n.complete(time.Minute)
		if (err == nil) != tt.good || err == nil && !tt.look(n.device) {
			t.Errorf("%v: %+v, %v", tt.more, n.device, err)
		}
	}
	n := with(nil)
	n.agentAge = 60.01
	if err := n.complete(time.Minute); err == nil || !strings.Contains(err.Error(), "agent") {
		t.Errorf("an old agent: %v", err)
	}
	n = with(nil)
	n.agents["y"] = true
	if err := n.complete(time.Minute); err == nil || !strings.Contains(err.Error(), "2 agents") {
		t.Errorf("two agents: %v", err)
	}
	n = with(nil)
	n.agents = nil
	n.rivals = []string{"r"}
	if err := n.complete(time.Minute); err == nil || !strings.Contains(err.Error(), "no data from its agent") {
		t.Errorf("no agent: %v", err)
	}
	n = with(nil)
	delete(n.seen, ageSeconds)
	if err := n.complete(time.Minute); err == nil || !strings.Contains(err.Error(), "no data from its node_exporter") {
		t.Errorf("no exporter: %v", err)
	}
	n.rivals = []string{"r", "s"}
	if err := n.complete(time.Minute); err == nil || !strings.Contains(err.Error(), "2 node_exporters may be its own: r, s") {
		t.Errorf("two exporters: %v", err)
	}
}

// One name is the other with a domain; addresses are none.
func TestNamesOfHosts(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"pi", "pi", true}, {"pi", "PI.lan", true}, {"pi.lan", "pi", true}, {"pi", "pi2", false}, {"", "pi", false}, {"", "", false}, {"10", "10.0.0.1", false}, {"10.0.0.1", "10.0.0.1", false}, {"pj", "pi", false},
	} {
		if got := isSameHost(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
	for n, want := range map[int]string{0: "", 1: "; x: a", 3: "; x: a, b, c", 4: "; x: a, b, c and 1 more", 5: "; x: a, b, c and 2 more"} {
		if got := listOthers("x", []string{"a", "b", "c", "d", "e"}[:n]); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := address("host:9100") + address("host") + address("[::1]:9"); got != "hosthost::1" {
		t.Errorf("addresses %s", got)
	}
	nodes := map[string]*node{"a": {rivals: []string{"x"}}, "b": {}}
	if !isRival(nodes, "x") || isRival(nodes, "y") {
		t.Error("rivals")
	}
}

// The last free byte is enough; unknown free memory is.
func TestMemoryAtItsEdge(t *testing.T) {
	for _, tt := range []struct {
		need, free int64
		good       bool
	}{
		{5, 5, true}, {6, 5, false}, {6, 0, true}, {2, 1, false}, {1, 1, true}, {0, 0, true},
	} {
		if err := CheckMemory(tt.need, tt.free); (err == nil) != tt.good {
			t.Errorf("%d of %d: %v", tt.need, tt.free, err)
		}
	}
}

// TestTicksByHand checks the busy share between two readings of /proc/stat.
func TestTicksByHand(t *testing.T) {
	const cores = "cpu0 1\ncpu1 1\n"
	for _, tt := range []struct {
		before, after string
		want          float64
	}{
		{"cpu  0 0 0 0 0 1", "cpu  0 0 0 0 0 1", 0},                   // no tick
		{"cpu  0 0 0 1 0 0", "cpu  1 1 1 2 2 1 2 2 99 99", 800. / 11}, // all but idle and iowait, without guests
		{"cpu  0 0 0 0 0 0 0 1", "cpu  4 0 0 0 0 0 0 1", 100},         // all busy
		{"cpu  9 0 0 1 0 0", "cpu  8 0 0 9 0 0", 0},                   // a counter went back
		{"cpu  9 0 0 1 0 0", "cpu  9 0 0 2 0 0", 0},                   // idle
	} {
		root := fstest.MapFS{"proc/stat": entry(tt.before + "\n" + cores)}
		l := Local{Root: root, Host: "h"}
		d, err := l.MeasureDuring(t.Context(), func(context.Context) error {
			root["proc/stat"] = entry(tt.after + "\n" + cores)
			return nil
		})
		if err != nil || math.Abs(d.Load.CPUPercent-tt.want) > 1e-9 || d.Cores != 2 {
			t.Errorf("%s, then %s: %v %% of %d cores, %v; want %v", tt.before, tt.after, d.Load.CPUPercent, d.Cores, err, tt.want)
		}
	}
	for _, bad := range []string{"", "cpu  1 1 1 1 1 1\n", "cpu0 1\n", "cpu  0 0 0 0 0 0\ncpu0 1\n", "cpu  1 1 1 1 x 1\ncpu0 1\n", "cpu  1 1 1 1\ncpu0 1\n"} {
		if _, err := (Local{Root: fstest.MapFS{"proc/stat": entry(bad)}}).ticks(); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if got, err := (Local{Root: fstest.MapFS{"proc/stat": entry("\ncpu  1 0 0 0 0 0\ncpu0 1\n")}}).ticks(); err != nil || got.cores != 1 || got.all != 1 || got.busy != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
