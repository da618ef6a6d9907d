package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// row is one series of a fake answer; labels go in pairs.
type row struct {
	quantity string
	value    string
	labels   []string
}

// vector is the rows as Prometheus writes them.
func vector(rows []row) string {
	type result struct {
		Metric map[string]string `json:"metric"`
		Value  [2]any            `json:"value"`
	}
	results := []result{}
	for _, r := range rows {
		m := map[string]string{"quantity": r.quantity}
		for i := 0; i < len(r.labels); i += 2 {
			m[r.labels[i]] = r.labels[i+1]
		}
		results = append(results, result{m, [2]any{1.7e9, r.value}})
	}
	text, err := json.Marshal(map[string]any{"status": "success", "data": map[string]any{"resultType": "vector", "result": results}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// cluster is what three queries answer: processors, agents, system.
type cluster [3][]row

// two healthy nodes; b's exporter is scraped as b:9100, a's under an address.
func two() cluster {
	agent := func(node, uuid, model string) []string {
		return []string{"char_node_name", node, "char_node_class", "Computer", "char_node_uuid", uuid, "char_node_device_model_name", model}
	}
	a, b := agent("a", "ua", "Raspberry Pi 4B"), agent("b", "ub", "Jetson Nano")
	return cluster{
		{
			{busyPercent, "25", []string{"instance", "10.0.0.1:9100"}},
			{cores, "4", []string{"instance", "10.0.0.1:9100"}},
			{ageSeconds, "3", []string{"instance", "10.0.0.1:9100"}},
			{maxHertz, "1.5e9", []string{"instance", "10.0.0.1:9100"}},
			{busyPercent, "-0.3", []string{"instance", "b:9100"}}, // rates are extrapolated
			{cores, "4", []string{"instance", "b:9100"}},
			{ageSeconds, "3", []string{"instance", "b:9100"}},
		},
		{
			{known, "1", a},
			{ageSeconds, "2", a},
			{memoryTotal, "4e9", a},
			{architecture, "4", append(slices.Clone(a), "char_node_arch", "aarch64", "char_node_brand", "Cortex-A72")},
			{known, "1", b},
			{ageSeconds, "2", b},
		},
		{
			{uname, "1", []string{"instance", "10.0.0.1:9100", "nodename", "a"}},
			{diskPercent, "58", []string{"instance", "10.0.0.1:9100"}},
			{memoryFree, "3e9", []string{"instance", "10.0.0.1:9100"}},
			{load1, "6.5", []string{"instance", "10.0.0.1:9100"}},
			{waiting, "40", []string{"instance", "10.0.0.1:9100"}},
			{running, "4", []string{"instance", "10.0.0.1:9100"}}, // the exporter among them
			{diskPercent, "40", []string{"instance", "b:9100"}},
		},
	}
}

// serve answers with the cluster; it counts queries that are under way at once.
func serve(t *testing.T, c cluster) *httptest.Server {
	t.Helper()
	var together sync.WaitGroup
	together.Add(3)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/status/config" {
			http.NotFound(w, r) // a server that is no Prometheus has none
			return
		}
		q := r.FormValue("query")
		i := slices.IndexFunc([]string{"node_cpu_seconds_total", "char_node_device_model", "node_filesystem_avail_bytes"}, func(s string) bool { return strings.Contains(q, s) })
		if r.URL.Path != "/api/v1/query" || i < 0 {
			t.Errorf("%s %s", r.URL, q)
			return
		}
		together.Done()
		together.Wait() // all three are asked before one is answered
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, vector(c[i]))
	}))
	t.Cleanup(s.Close)
	return s
}

func ask(t *testing.T, c cluster) ([]Device, []Exclusion) {
	t.Helper()
	s := serve(t, c)
	devices, excluded, err := Prometheus{Client: s.Client(), URL: s.URL + "/", Timeout: time.Minute}.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return devices, excluded
}

func TestDevices(t *testing.T) {
	waited := 40.0
	want := []Device{
		{
			Node: "a", Class: "Computer", Model: "Raspberry Pi 4B", UUID: "ua", Arch: "aarch64", Processor: "Cortex-A72", Cores: 4, MaxMHz: 1500, MemoryBytes: 4e9,
			Load: Load{CPUPercent: 25, DiskPercent: new(58.0), MemoryAvailableBytes: 3e9, Load1: 6.5, WaitingPercent: &waited, Running: 3},
		},
		{Node: "b", Class: "Computer", Model: "Jetson Nano", UUID: "ub", Cores: 4, Load: Load{DiskPercent: new(40.0)}},
	}
	// Rows in any order: they are joined by name.
	for seed := range uint64(10) {
		c := two()
		rng := rand.New(rand.NewPCG(1, seed))
		for i := range c {
			rng.Shuffle(len(c[i]), func(x, y int) { c[i][x], c[i][y] = c[i][y], c[i][x] })
		}
		devices, excluded := ask(t, c)
		if diff := cmp.Diff(want, devices); diff != "" || len(excluded) > 0 {
			t.Fatalf("excluded %v, devices (-want +got):\n%s", excluded, diff)
		}
	}
}

// without drops b's rows of one quantity.
func (c cluster) without(query int, quantity string) cluster {
	c[query] = slices.DeleteFunc(c[query], func(r row) bool {
		return r.quantity == quantity && (slices.Contains(r.labels, "b") || slices.Contains(r.labels, "b:9100"))
	})
	return c
}

// with sets b's value of one quantity.
func (c cluster) with(query int, quantity, value string) cluster {
	for i, r := range c[query] {
		if r.quantity == quantity && (slices.Contains(r.labels, "b") || slices.Contains(r.labels, "b:9100")) {
			c[query][i].value = value
		}
	}
	return c
}

// The load of the busiest GPU comes from an exporter of its own at the node's address, or one
// that names the host; other exporters' stay as they are.
func TestGPULoad(t *testing.T) {
	c := two()
	c[2] = append(c[2],
		row{gpuPercent, "30", []string{"instance", "10.0.0.1:9400", "Hostname", "pod-1"}}, row{gpuPercent, "70", []string{"instance", "10.0.0.1:9400", "Hostname", "pod-2"}},
		row{gpuPercent, "0", []string{"instance", "10.9.9.9:9400", "Hostname", "b"}}, row{gpuPercent, "99", []string{"instance", "10.9.9.8:9400"}},
	)
	devices, excluded := ask(t, c)
	if len(devices) != 2 || len(excluded) > 0 {
		t.Fatalf("%+v, %+v", devices, excluded)
	}
	for i, want := range []float64{70, 0} {
		if got := devices[i].Load.GPUPercent; got == nil || *got != want {
			t.Errorf("%s: GPU load %v, want %v", devices[i].Node, got, want)
		}
	}
	c[2] = append(c[2], row{gpuPercent, "101", []string{"instance", "b:9400"}})
	if _, excluded := ask(t, c); len(excluded) != 1 || !strings.Contains(excluded[0].Reason, "GPU load of 101 %") {
		t.Errorf("%+v", excluded)
	}
}

// Whatever is wrong with b is its reason, and a is as it was.
func TestExcluded(t *testing.T) {
	other := two()
	other[1] = append(other[1], row{ageSeconds, "1", []string{"char_node_name", "b", "instance", "elsewhere"}})
	stranger := two()
	stranger[0] = append(stranger[0], row{busyPercent, "1", []string{"instance", "c:9100"}})
	for name, tt := range map[string]struct {
		cluster cluster
		node    string
		reason  string
	}{
		"no load":           {two().without(0, busyPercent), "b", "its CPU load is unknown: no two recent samples of node_cpu_seconds_total{mode=\"idle\"}"},
		"agent silent":      {two().without(1, ageSeconds), "b", "no data from its agent (char_node_device_model)"},
		"exporter silent":   {two().without(0, ageSeconds), "b", "no data from its node_exporter (node_cpu_seconds_total{mode=\"idle\"})"},
		"agent stale":       {two().with(1, ageSeconds, "151"), "b", "the last data from its agent (char_node_device_model) is 151 s old, more than 150 s"},
		"exporter stale":    {two().with(0, ageSeconds, "3600"), "b", "the last data from its node_exporter (node_cpu_seconds_total{mode=\"idle\"}) is 3600 s old, more than 150 s"},
		"age is no number":  {two().with(0, ageSeconds, "NaN"), "b", "the last data from its node_exporter (node_cpu_seconds_total{mode=\"idle\"}) is NaN s old, more than 150 s"},
		"two host names":    {twins(), "b", "2 node_exporters may be its own: 10.0.0.2:9100, 10.0.0.3:9100; name one of them b in Prometheus"},
		"NaN":               {two().with(0, busyPercent, "NaN"), "b", "its CPU load is NaN %, want 0 to 100"},
		"infinite":          {two().with(2, diskPercent, "+Inf"), "b", "its disk usage is +Inf %, want 0 to 100"},
		"beyond 100":        {two().with(0, busyPercent, "250"), "b", "its CPU load is 250 %, want 0 to 100"},
		"no cores":          {two().with(0, cores, "NaN"), "b", "invalid device: b: 0 cores, want 1 or more"},
		"two agents":        {other, "b", "2 agents report this node name"},
		"exporter no agent": {stranger, "c:9100", "no agent says what it is (char_node_device_model)"},
	} {
		t.Run(name, func(t *testing.T) {
			devices, excluded := ask(t, tt.cluster)
			if diff := cmp.Diff([]Exclusion{{Node: tt.node, Reason: tt.reason}}, excluded); diff != "" {
				t.Errorf("excluded (-want +got):\n%s", diff)
			}
			if devices[0].Node != "a" || devices[0].Load.CPUPercent != 25 || len(devices) != 1+len("b")-strings.Count("b", tt.node) {
				t.Errorf("devices %+v", devices)
			}
		})
	}
	if devices, excluded := ask(t, cluster{}); len(devices)+len(excluded) > 0 {
		t.Errorf("an empty cluster has %v, %v", devices, excluded)
	}
}

// twins has two exporters of host name b, neither at the address of its agent.
func twins() cluster {
	c := two()
	for _, query := range []int{0, 2} {
		for i, r := range c[query] {
			if slices.Contains(r.labels, "b:9100") {
				c[query][i].labels = []string{"instance", "10.0.0.2:9100"}
				c[query] = append(c[query], row{r.quantity, r.value, []string{"instance", "10.0.0.3:9100"}})
			}
		}
	}
	c[2] = append(c[2], row{uname, "1", []string{"instance", "10.0.0.2:9100", "nodename", "b"}}, row{uname, "1", []string{"instance", "10.0.0.3:9100", "nodename", "b"}})
	return c
}

// An exporter belongs to the agent at its address, whatever its host is called.
func TestJoinByAddress(t *testing.T) {
	c := twins()
	for i, r := range c[1] {
		if slices.Contains(r.labels, "b") {
			c[1][i].labels = append(slices.Clone(r.labels), "instance", "10.0.0.3:5001")
		}
	}
	c[0] = append(c[0], row{busyPercent, "77", []string{"instance", "10.0.0.3:9100"}})
	devices, excluded := ask(t, c)
	if len(devices) != 2 || devices[1].Node != "b" || devices[1].Load.CPUPercent != 77 || len(excluded) != 1 || excluded[0].Node != "10.0.0.2:9100" {
		t.Errorf("%+v, excluded %v", devices, excluded)
	}
}

// A name with a domain and the same without one are one host, unless another host has it
// too; what has no other half names those that it may be.
func TestJoinByHostPart(t *testing.T) {
	rename := func(instances ...string) cluster {
		c := two()
		var own []row
		for _, r := range c[0] {
			if !slices.Contains(r.labels, "b:9100") {
				own = append(own, r)
				continue
			}
			for _, instance := range instances {
				own = append(own, row{r.quantity, r.value, []string{"instance", instance}})
			}
		}
		c[0] = own
		c[2] = slices.DeleteFunc(c[2], func(r row) bool { return slices.Contains(r.labels, "b:9100") })
		return c
	}
	for name, tt := range map[string]struct {
		cluster cluster
		reason  string // for which b is left out; "" if it is ranked
	}{
		"with a domain":    {rename("b.lan:9100"), ""},
		"in capitals":      {rename("B.lan:9100"), ""},
		"of two domains":   {rename("b.lan:9100", "b.office:9100"), "2 node_exporters may be its own: b.lan:9100, b.office:9100"},
		"of another board": {rename("c.lan:9100"), `no data from its node_exporter (node_cpu_seconds_total{mode="idle"}); node_exporters without an agent: c.lan:9100`},
	} {
		devices, excluded := ask(t, tt.cluster)
		if tt.reason == "" {
			if len(devices) != 2 || len(excluded) != 0 {
				t.Errorf("%s: excluded %+v", name, excluded)
			}
			continue
		}
		if len(excluded) == 0 || !strings.HasPrefix(excluded[0].Reason, tt.reason) {
			t.Errorf("%s: excluded %+v, want %s", name, excluded, tt.reason)
		}
		if name == "of another board" && !strings.HasSuffix(excluded[1].Reason, "; agents without a node_exporter: b") {
			t.Errorf("%s: excluded %+v", name, excluded)
		}
	}
}

// A node is not left out for the use of its disk, which few models need.
func TestNoDisk(t *testing.T) {
	devices, excluded := ask(t, two().without(2, diskPercent))
	if len(devices) != 2 || devices[1].Load.DiskPercent != nil || excluded != nil {
		t.Errorf("%+v, excluded %v", devices, excluded)
	}
}

// The windows are four intervals of each kind of job, and of none shorter than the user's.
func TestWindows(t *testing.T) {
	const config = "global: {scrape_interval: 5s}\nscrape_configs:\n- job_name: a\n- {job_name: b, scrape_interval: 1m}\n- {job_name: c, scrape_interval: 5s}\n"
	for _, tt := range []struct {
		config string
		window time.Duration
		want   []time.Duration
		age    time.Duration
	}{
		{config, 0, []time.Duration{20 * time.Second, 4 * time.Minute}, 150 * time.Second},
		{config, time.Minute, []time.Duration{time.Minute, 4 * time.Minute}, 150 * time.Second},
		{"global: {scrape_interval: 10s}", 0, []time.Duration{40 * time.Second}, time.Minute},
		{"", 0, []time.Duration{4 * time.Minute}, 150 * time.Second},
		{"{", 0, []time.Duration{4 * time.Minute}, 150 * time.Second},
		{"scrape_configs: [{scrape_interval: soon}]", 0, []time.Duration{4 * time.Minute}, 150 * time.Second},
	} {
		windows, age := Prometheus{Window: tt.window}.windows(parseIntervals(tt.config))
		if !slices.Equal(windows, tt.want) || age != tt.age {
			t.Errorf("%q, window %v: %v, age %v; want %v, %v", tt.config, tt.window, windows, age, tt.want, tt.age)
		}
	}
}

// A redirect to another host is refused, and a proxy is named.
func TestRedirectAndProxy(t *testing.T) {
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	_, _, err := Prometheus{Client: s.Client(), URL: s.URL, Timeout: time.Minute}.Devices(t.Context())
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "it redirects to "+strings.TrimPrefix(elsewhere.URL, "http://")) {
		t.Errorf("redirected: %v", err)
	}
	down := httptest.NewServer(nil)
	proxy, _ := url.Parse(down.URL)
	down.Close()
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	if _, _, err := (Prometheus{Client: client, URL: "http://prometheus.example:9090", Timeout: time.Minute}).Devices(t.Context()); err == nil || !strings.Contains(err.Error(), "through the proxy "+down.URL) {
		t.Errorf("through a proxy: %v", err)
	}
}

func TestHostileAnswers(t *testing.T) {
	body := func(status int, kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		}
	}
	const api = "application/json"
	one := func(value string) string {
		return `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,` + value + `]}]}}`
	}
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		want    error
		part    string
	}{
		"500":          {body(500, "text/plain", "oops"), ErrAnswer, "status 500"},
		"error":        {body(200, api, `{"status":"error","errorType":"internal","error":"disk"}`), ErrAnswer, "internal: disk"},
		"bad query":    {body(400, api, `{"status":"error","errorType":"bad_data","error":"parse"}`), ErrAnswer, "bad_data: parse"},
		"its timeout":  {body(503, api, `{"status":"error","errorType":"timeout","error":"query timed out"}`), ErrTimeout, "query timed out"},
		"HTML":         {body(200, "text/html; charset=utf-8", "<html>log in</html>"), ErrAnswer, "text/html"},
		"HTML as JSON": {body(200, api, "<html>log in</html>"), ErrAnswer, "invalid character"},
		"empty":        {body(200, api, ""), ErrAnswer, "unexpected end"},
		"cut":          {body(200, api, one(`"1"`)[:60]), ErrAnswer, "unexpected end"},
		"scalar":       {body(200, api, `{"status":"success","data":{"resultType":"matrix"}}`), ErrAnswer, "matrix"},
		"bare number":  {body(200, api, one("7")), ErrAnswer, "value 7"},
		"no number":    {body(200, api, one(`"many"`)), ErrAnswer, `value "many"`},
		"null":         {body(200, api, `null`), ErrAnswer, "status 200"},
		"too long": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", api)
			block := strings.Repeat(" ", 1<<16)
			for range 800 { // 50 MB
				if _, err := fmt.Fprint(w, block); err != nil {
					return // the reader has had enough
				}
			}
		}, ErrAnswer, "more than 1048576 bytes"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
		}, ErrUnreachable, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(tt.handler)
			defer s.Close()
			_, _, err := Prometheus{Client: s.Client(), URL: s.URL, Timeout: time.Minute, MaxBytes: 1 << 20}.Devices(t.Context())
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.part) {
				t.Errorf("%v, want %v with %q", err, tt.want, tt.part)
			}
		})
	}
}

func TestDownAndSlow(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	down := Prometheus{Client: s.Client(), URL: s.URL, Timeout: time.Minute}
	s.Close()
	if _, _, err := down.Devices(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Errorf("down: %v", err)
	}
	if _, _, err := (Prometheus{Client: http.DefaultClient, URL: "http://bad host"}).Devices(t.Context()); !errors.Is(err, ErrUnreachable) {
		t.Errorf("no address: %v", err)
	}
	leave := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm() // only a server that has read the request sees its client go
		select {
		case <-leave:
		case <-r.Context().Done():
		}
	}))
	defer hangs.Close()
	defer close(leave)
	if _, _, err := (Prometheus{Client: hangs.Client(), URL: hangs.URL, Timeout: 50 * time.Millisecond}).Devices(t.Context()); !errors.Is(err, ErrTimeout) {
		t.Errorf("hangs: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := (Prometheus{Client: hangs.Client(), URL: hangs.URL}).Devices(ctx); !errors.Is(err, ErrTimeout) {
		t.Errorf("the caller's deadline: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(vector(two()[0]))
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1,"+Inf"]}]}}`)
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"value":[]}]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		response := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}}
		samples, err := parse(response, []byte(body))
		if err != nil {
			if !errors.Is(err, ErrAnswer) && !errors.Is(err, ErrTimeout) {
				t.Fatalf("untyped: %v", err)
			}
			return
		}
		devices, excluded := Prometheus{}.assemble(newNodes(samples), samples, time.Minute)
		for _, d := range devices {
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range excluded {
			if e.Reason == "" {
				t.Fatalf("%q excluded for no reason", e.Node)
			}
		}
	})
}
