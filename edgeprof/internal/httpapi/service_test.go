package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/prediction"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/edgeprof/internal/synth"
	"github.com/foretime/foretime/shared/access"
	"github.com/foretime/foretime/shared/file"
)

// source is what the next reading says.
type source struct {
	mutex    sync.Mutex
	devices  []device.Device
	excluded []device.Exclusion
	err      error
}

func (s *source) Devices(context.Context) ([]device.Device, []device.Exclusion, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.devices, s.excluded, s.err
}

// two devices of which the idle one is faster, and one that is left out.
func two() *source {
	pi := device.Device{Node: "rpi-1", Class: "Computer", Model: "Raspberry Pi 4B", UUID: "4e849968-21fc-11ed-a346-204ef6b52cc7", Cores: 4, Load: device.Load{CPUPercent: 20}}
	busy := pi
	busy.Node, busy.UUID, busy.Load.CPUPercent = "rpi-2", "other", 100
	return &source{devices: []device.Device{pi, busy}, excluded: []device.Exclusion{{Node: "rpi-3", Reason: "no data from its agent"}}}
}

// rates are easy to think about.
func rates() *profiler.Calibration {
	c := &profiler.Calibration{
		Facts: profiler.Facts{UUID: "here", Threads: 1, Cores: 4, Device: "the bench"}, Models: 20, Low: 0.5, High: 2, Shortest: 1e-6, Longest: 10,
		Rates: map[onnx.Class]profiler.Rates{},
	}
	for _, class := range onnx.Classes() {
		c.Rates[class] = profiler.Rates{Start: 1e-6, MAC: 1e-10, Byte: 1e-10, Nodes: 10}
	}
	return c
}

// calibrated is a model with these rates, fitted once.
var calibrated = sync.OnceValues(func() (*prediction.Calibrated, error) {
	m := prediction.NewCalibrated(rates(), nil)
	return m, m.Fit(context.Background())
})

func load(t testing.TB) *LoadedModel {
	t.Helper()
	m, err := calibrated()
	if err != nil {
		t.Fatal(err)
	}
	return &LoadedModel{Model: m, SHA256: "abc"}
}

// rig is a service that a test talks to.
type rig struct {
	*Service
	t      testing.TB
	source *source
}

func newRig(t testing.TB, change func(*Settings)) *rig {
	t.Helper()
	loaded := load(t)
	src := two()
	s := Settings{
		Devices: &device.CachedSource{Source: src, Now: time.Now}, Now: time.Now, Directory: t.TempDir(),
		Load: func(context.Context) (*LoadedModel, error) { return loaded, nil },
	}
	if change != nil {
		change(&s)
	}
	service, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{service, t, src}
}

// ask sends a request; headers go in pairs.
func (r *rig) ask(method, target string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	request := httptest.NewRequestWithContext(r.t.Context(), method, target, body)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, request)
	if w.Header().Get(access.IDHeader) == "" {
		r.t.Errorf("%s %s: no request id", method, target)
	}
	conforms(r.t, request, w)
	return w
}

func (r *rig) profile(body string) *httptest.ResponseRecorder {
	r.t.Helper()
	return r.ask(http.MethodPost, "/api/profiling", strings.NewReader(body), "Content-Type", "application/json")
}

// refused checks that an answer is a problem of that status and kind.
func refused(t testing.TB, w *httptest.ResponseRecorder, status int, kind, detail string) Problem {
	t.Helper()
	var p Problem
	if w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("status %d, %s: %s", w.Code, w.Header().Get("Content-Type"), w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if w.Code != status || p.Status != status || p.Type != "urn:foretime:edgeprof:"+kind || !strings.Contains(p.Detail, detail) || p.Instance == "" || p.RequestID != w.Header().Get(access.IDHeader) {
		t.Errorf("status %d: %+v, want %d %s with %q", w.Code, p, status, kind, detail)
	}
	return p
}

// asked and answered are the example of the original's manual, byte for byte.
var asked, answered = manual("request"), manual("answer")

func manual(name string) string {
	text, err := os.ReadFile("../placement/testdata/manual-" + name + ".json")
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestTheManualsExample(t *testing.T) {
	r := newRig(t, nil)
	w := r.profile(asked)
	var got struct {
		Prediction struct {
			Time json.Number `json:"predicted_execution_time"`
		} `json:"profiling_prediction"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	// Its counts are no model's: what the original does not say goes into a member of its own.
	body, after, _ := strings.Cut(w.Body.String(), ",\n  \"profiling_warnings\": [\n    \"far outside the fitted range, ")
	_, after, _ = strings.Cut(after, "\n  ]")
	if diff := cmp.Diff(strings.Replace(answered, "14.74413776397705", got.Prediction.Time.String(), 1), body+after); diff != "" || w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("status %d %s (-want +got):\n%s", w.Code, w.Header().Get("Content-Type"), diff)
	}
	w = r.ask(http.MethodPost, "/api/profiling?candidates=all", strings.NewReader(asked), "Content-Type", "application/json; charset=utf-8")
	var all struct {
		Candidates []struct {
			Node    string   `json:"node"`
			Seconds float64  `json:"predicted_execution_time"`
			Low     *float64 `json:"low"`
			High    *float64 `json:"high"`
		} `json:"profiling_candidates"`
		Excluded []device.Exclusion `json:"profiling_excluded"`
		Warnings []string           `json:"profiling_warnings"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	first, _ := got.Prediction.Time.Float64()
	c := all.Candidates
	if len(c) != 2 || c[0].Node != "rpi-1" || c[0].Seconds != first || c[0].Low != nil || c[0].High != nil || c[1].Seconds <= first || len(all.Excluded) != 1 || !strings.Contains(strings.Join(all.Warnings, "; "), "far outside the fitted range, by more than a factor of 100: conv_layers, pool_layers, fc_layers, total_parameters") {
		t.Errorf("%+v", all)
	}
}

// Every odd number has its documented status, and none is 500.
func TestNumbers(t *testing.T) {
	r := newRig(t, nil)
	for value, status := range map[string]int{
		"10000000000000000000": 200, "18446744073709551615": 200, "1e19": 200, "0": 200, "5.0": 200,
		"18446744073709551616": 422, "-1": 422, "1.5": 422, "1e400": 422, `"5"`: 422, "null": 422, "true": 422, "[1]": 422,
		"01": 400, "NaN": 400, "Infinity": 400, "0x1": 400, "": 400, "+1": 400, "1.": 400, "'5'": 400,
	} {
		w := r.profile(strings.Replace(asked, "10000000000000000000", value, 1))
		switch {
		case w.Code != status:
			t.Errorf("%q: status %d, want %d: %s", value, w.Code, status, w.Body)
		case status == 200 && !strings.Contains(w.Body.String(), `"total_parameters": `+value+"\n"):
			t.Errorf("%q is not echoed: %s", value, w.Body)
		case status == 422:
			if p := refused(t, w, 422, "fields", "total_parameters"); len(p.Errors) != 1 || p.Errors[0].Pointer != "/total_parameters" {
				t.Errorf("%q: errors %v", value, p.Errors)
			}
		}
	}
	refused(t, r.profile(strings.Replace(asked, `"total_parameters" : 10000000000000000000,`, "", 1)), 422, "fields", "total_parameters is missing")
	refused(t, r.profile(strings.Replace(asked, `"pool_layers"`, `"conv_layers"`, 1)), 422, "fields", "conv_layers is given twice")
	refused(t, r.profile(asked[:40]), 400, "syntax", "byte 40")
	refused(t, r.profile("[]"), 422, "fields", "want an object")
	refused(t, r.profile(`{"x":"`+strings.Repeat("x", 64<<10)+`"}`), 413, "too-large", "65536 bytes")
	refused(t, r.ask(http.MethodPost, "/api/profiling", strings.NewReader(asked), "Content-Type", "text/plain"), 415, "media-type", "text/plain")
	refused(t, r.ask(http.MethodPost, "/api/profiling", strings.NewReader(asked)), 415, "media-type", "")
	refused(t, r.ask(http.MethodGet, "/api/profiling", nil), 405, "method", "")
	refused(t, r.ask(http.MethodGet, "/api/nonesuch", nil), 404, "not-found", "")
}

func TestSourceErrors(t *testing.T) {
	r := newRig(t, nil)
	for _, tt := range []struct {
		err    error
		status int
		kind   string
	}{
		{fmt.Errorf("query for disks: %w: refused", device.ErrUnreachable), 503, "source-unreachable"},
		{fmt.Errorf("%w: 5s", device.ErrTimeout), 504, "source-timeout"},
		{fmt.Errorf("%w: HTML", device.ErrAnswer), 502, "source-answer"},
		{context.DeadlineExceeded, 504, "source-timeout"},
		{os.ErrNotExist, 503, "source"},
	} {
		r.source.err = tt.err
		for _, target := range []string{"/readyz", "/api/v1/devices"} {
			refused(t, r.ask(http.MethodGet, target, nil), tt.status, tt.kind, tt.err.Error())
		}
		w := r.profile(asked)
		refused(t, w, tt.status, tt.kind, tt.err.Error())
		if w.Header().Get("Retry-After") != "5" {
			t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
		}
	}
	r.source.err = nil
	if w := r.profile(asked); w.Code != 200 {
		t.Errorf("after the source came back: %d", w.Code)
	}
	r.source.devices = nil
	refused(t, r.profile(asked), 503, "no-device", "rpi-3: no data from its agent")
	refused(t, r.ask(http.MethodPost, "/api/v1/placements", bytes.NewReader(lenet(t))), 503, "no-device", "rpi-3")
}

// A node that cannot be judged is left out and the others are ranked.
func TestOwnCalibration(t *testing.T) {
	fast, missing := filepath.Join(t.TempDir(), "fast.json"), filepath.Join(t.TempDir(), "missing.json")
	r := newRig(t, func(s *Settings) {
		own := rates()
		for _, class := range onnx.Classes() { // a file has all
			own.Rates[class] = profiler.Rates{Start: 1e-8, MAC: 1e-12, Byte: 1e-12, Nodes: 10}
		}
		if err := file.WriteJSON(fast, own); err != nil {
			t.Fatal(err)
		}
		m := prediction.NewCalibrated(rates(), &prediction.Catalog{})
		s.Load = func(context.Context) (*LoadedModel, error) { return &LoadedModel{Model: m}, nil }
	})
	r.source.devices[0].Calibration = missing
	r.source.devices = append(r.source.devices, device.Device{Node: "z", Cores: 1, Calibration: fast, Load: device.Load{CPUPercent: 100}})
	for _, w := range []*httptest.ResponseRecorder{
		r.ask(http.MethodPost, "/api/v1/placements", strings.NewReader(asked), "Content-Type", "application/json"),
		r.ask(http.MethodPost, "/api/v1/placements", bytes.NewReader(lenet(t))),
	} {
		var got placed
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Candidates) != 2 || got.Candidates[0].Node != "z" || len(got.Excluded) != 2 || (got.Excluded[0] != device.Exclusion{Node: "rpi-1", Reason: "open " + missing + ": no such file or directory"}) {
			t.Errorf("%+v", got.Ranking)
		}
	}
}

// lenet is a small model's file.
func lenet(t testing.TB) []byte {
	t.Helper()
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := onnx.Write(&b, m, synth.RandomWeights(1)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// form is a model as a browser's form sends it.
func form(t *testing.T, field, name string, content []byte) (io.Reader, string) {
	t.Helper()
	return forms(t, field, content, name)
}

// forms is a form with a model several times, under several names.
func forms(t *testing.T, field string, content []byte, names ...string) (io.Reader, string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("model_input_size", "1"); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := w.CreateFormFile(field, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b, w.FormDataContentType()
}

// unsized hides the length of a body.
type unsized struct{ io.Reader }

func TestModels(t *testing.T) {
	r := newRig(t, func(s *Settings) { s.MaxModelBytes = 1 << 20 })
	model := lenet(t)
	m, err := onnx.Read(bytes.NewReader(model), int64(len(model)))
	if err != nil {
		t.Fatal(err)
	}
	a, err := onnx.Analyze(m, onnx.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := a.Characteristics()
	if err != nil {
		t.Fatal(err)
	}
	body, kind := form(t, "file", "lenet.onnx", model)
	for name, w := range map[string]*httptest.ResponseRecorder{
		"as it comes":    r.ask(http.MethodPost, "/api/v1/models", bytes.NewReader(model)),
		"unknown length": r.ask(http.MethodPost, "/api/v1/models", unsized{bytes.NewReader(model)}, "Content-Type", "application/octet-stream"),
		"form":           r.ask(http.MethodPost, "/api/v1/models", body, "Content-Type", kind),
	} {
		var got onnx.Characteristics
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %v %s", name, w.Code, err, w.Body)
		}
		want.Warnings, got.Warnings = nil, nil
		if diff := cmp.Diff(*want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, dim := range []string{"nosuch=4", "nosuch:4", "batch=0", "=4"} {
		w := r.ask(http.MethodPost, "/api/v1/models?dim="+url.QueryEscape(dim), bytes.NewReader(model))
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "urn:foretime:edgeprof:parameter") {
			t.Errorf("dim=%s: %d %s", dim, w.Code, w.Body)
		}
	}
	post := func(body io.Reader, headers ...string) *httptest.ResponseRecorder {
		return r.ask(http.MethodPost, "/api/v1/models", body, headers...)
	}
	refused(t, post(strings.NewReader("hello, world")), 400, "not-onnx", "byte ")
	refused(t, post(strings.NewReader("")), 400, "not-onnx", "empty")
	refused(t, post(unsized{strings.NewReader("")}), 400, "not-onnx", "empty")
	refused(t, post(strings.NewReader("{}"), "Content-Type", "application/json"), 415, "media-type", "application/json")
	refused(t, post(strings.NewReader("<html>"), "Content-Type", "text/html"), 415, "media-type", "text/html")
	refused(t, post(bytes.NewReader(make([]byte, 1<<20+1))), 413, "too-large", "at most 1048576")
	refused(t, post(unsized{bytes.NewReader(append(bytes.Clone(model), make([]byte, 1<<20)...))}), 413, "too-large", "more than 1048576")
	body, kind = form(t, "other", "x", model)
	refused(t, post(body, "Content-Type", kind), 422, "parameter", `no part "file"`)
	refused(t, post(strings.NewReader("x"), "Content-Type", "multipart/form-data"), 415, "media-type", "boundary")
	refused(t, r.ask(http.MethodPost, "/api/v1/models?dim=batch", bytes.NewReader(model)), 422, "parameter", "NAME=SIZE")
	for cut := 0; cut < len(model); cut += len(model) / 30 {
		for _, body := range []io.Reader{bytes.NewReader(model[:cut]), unsized{bytes.NewReader(model[:cut])}} {
			if w := post(body); w.Code != 400 {
				t.Errorf("cut at byte %d: status %d: %s", cut, w.Code, w.Body)
			}
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/models", unsized{bytes.NewReader(model[:cut])})
		request.ContentLength = int64(len(model)) // the rest never comes
		w := httptest.NewRecorder()
		r.Handler().ServeHTTP(w, request)
		refused(t, w, 400, "cut-short", "")
	}
	left, err := os.ReadDir(r.Directory)
	if err != nil || len(left) > 0 {
		t.Errorf("uploads that were left: %v, %v", left, err)
	}
}

func TestUploadsAtOnce(t *testing.T) {
	r := newRig(t, func(s *Settings) { s.MaxUploads = 1 })
	reader, writer := io.Pipe()
	done := make(chan int)
	go func() { done <- r.ask(http.MethodPost, "/api/v1/models", reader).Code }()
	if _, err := writer.Write([]byte{8}); err != nil { // the upload is under way
		t.Fatal(err)
	}
	w := r.ask(http.MethodPost, "/api/v1/models", bytes.NewReader(lenet(t)))
	refused(t, w, 503, "busy", "1 are running")
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	writer.Close()
	if code := <-done; code != 400 {
		t.Errorf("status %d", code)
	}
	if w := r.ask(http.MethodPost, "/api/v1/models", bytes.NewReader(lenet(t))); w.Code != 200 {
		t.Errorf("afterwards: %d", w.Code)
	}
}

// A model whose graph is too large to keep is refused, however it comes.
func TestGraphTooLarge(t *testing.T) {
	r := newRig(t, func(s *Settings) { s.MaxGraphBytes = 4000 })
	for range 5 { // more than there may be at once: each makes room again
		refused(t, r.ask(http.MethodPost, "/api/v1/models", bytes.NewReader(lenet(t))), 413, "graph-too-large", "4000 bytes")
	}
}

// deployment is what is looked at of a manifest.
type deployment struct {
	Metadata struct {
		Name, Namespace string
		Annotations     map[string]string
	}
	Spec struct{ Template struct{ Spec pod } }
}

type pod struct {
	Containers []struct{ Image string }
	Affinity   struct {
		NodeAffinity struct {
			Preferred []struct {
				Weight     int
				Preference struct {
					Expressions []struct{ Values []string } `yaml:"matchExpressions"`
				}
			} `yaml:"preferredDuringSchedulingIgnoredDuringExecution"`
		} `yaml:"nodeAffinity"`
	}
}

// Several models of one form are spread over the devices, a manifest each.
func TestPlacementsOfSeveral(t *testing.T) {
	r := newRig(t, nil)
	place := func(headers ...string) *httptest.ResponseRecorder {
		body, kind := forms(t, "file", lenet(t), "le net.onnx", "le-net.onnx", "b.onnx")
		return r.ask(http.MethodPost, "/api/v1/placements?namespace=edge", body, append(headers, "Content-Type", kind)...)
	}
	w := place()
	var got struct {
		Placements []placed `json:"placements"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || len(got.Placements) != 3 {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	nodes := map[string]int{}
	all := ""
	for i, p := range got.Placements {
		var d deployment
		if err := yaml.Unmarshal([]byte(p.Manifest), &d); err != nil {
			t.Fatal(err)
		}
		if want := []string{"le-net", "le-net-2", "b"}[i]; d.Metadata.Name != want || d.Metadata.Namespace != "edge" || d.Spec.Template.Spec.Containers[0].Image != want+":latest" || p.Characteristics == nil {
			t.Errorf("%s: %+v", p.File, d)
		}
		if first := d.Spec.Template.Spec.Affinity.NodeAffinity.Preferred[0]; first.Weight != 100 || first.Preference.Expressions[0].Values[0] != p.Candidates[0].Node {
			t.Errorf("%s prefers %+v, not %s", p.File, first, p.Candidates[0].Node)
		}
		nodes[p.Candidates[0].Node]++
		all += []string{"", "---\n", "---\n"}[i] + p.Manifest
	}
	if len(nodes) != 2 {
		t.Errorf("all on one of two devices: %v", nodes)
	}
	if w := place("Accept", "application/yaml"); w.Body.String() != all {
		t.Errorf("%s, want\n%s", w.Body, all)
	}
	body, kind := forms(t, "file", lenet(t), make([]string, maxPlaced+1)...)
	refused(t, r.ask(http.MethodPost, "/api/v1/placements", body, "Content-Type", kind), 413, "too-large", "64 models")
	if files, err := os.ReadDir(r.Directory); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestPlacements(t *testing.T) {
	r := newRig(t, nil)
	w := r.ask(http.MethodPost, "/api/v1/placements?workload=lenet&image=registry.local/lenet:1&namespace=edge", bytes.NewReader(lenet(t)))
	var got placed
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	if len(got.Candidates) != 2 || got.Candidates[0].Node != "rpi-1" || len(got.Candidates[0].Reasons) == 0 || len(got.Excluded) != 1 {
		t.Errorf("%+v", got.Ranking)
	}
	w = r.ask(http.MethodPost, "/api/v1/placements?workload=lenet&image=registry.local/lenet:1&namespace=edge", bytes.NewReader(lenet(t)), "Accept", "application/yaml")
	if w.Body.String() != got.Manifest || w.Header().Get("Content-Type") != "application/yaml" {
		t.Errorf("%s, want\n%s", w.Body, got.Manifest)
	}
	var d deployment
	if err := yaml.Unmarshal([]byte(got.Manifest), &d); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: lenet
  namespace: edge
  labels:
    app.kubernetes.io/name: lenet
  annotations:
    edgeprof.foretime/fastest-node: rpi-1
    edgeprof.foretime/interval-seconds: %s
    edgeprof.foretime/predicted-execution-time-seconds: "%s"
spec:
  replicas: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: lenet
  template:
    metadata:
      labels:
        app.kubernetes.io/name: lenet
    spec:
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: kubernetes.io/hostname
                    operator: In
                    values: [rpi-1, rpi-2]
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - key: kubernetes.io/hostname
                    operator: In
                    values: [rpi-1]
            - weight: 60
              preference:
                matchExpressions:
                  - key: kubernetes.io/hostname
                    operator: In
                    values: [rpi-2]
      containers:
        - name: lenet
          image: registry.local/lenet:1
`, d.Metadata.Annotations["edgeprof.foretime/interval-seconds"], d.Metadata.Annotations["edgeprof.foretime/predicted-execution-time-seconds"])
	var wanted, have any
	if err := errors.Join(yaml.Unmarshal([]byte(want), &wanted), yaml.Unmarshal([]byte(got.Manifest), &have)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, have); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	for query, part := range map[string]string{
		"workload=A_b": "workload=A_b", "namespace=-": "namespace=-", "image=%24(rm)": "image=$(rm)", "workload=" + strings.Repeat("a", 64): "workload=",
	} {
		refused(t, r.ask(http.MethodPost, "/api/v1/placements?"+query, bytes.NewReader(lenet(t))), 422, "parameter", part)
	}
	r.source.devices = r.source.devices[:1]
	r.source.devices[0].Node = "not a label"
	refused(t, r.ask(http.MethodPost, "/api/v1/placements", bytes.NewReader(lenet(t))), 503, "no-device", "a valid Kubernetes label value")
}

func TestStateAndMetadata(t *testing.T) {
	var seen []access.Request
	r := newRig(t, func(s *Settings) { s.Observe = func(a access.Request) { seen = append(seen, a) } })
	for target, part := range map[string]string{
		"/healthz": `"status":"ok"`, "/readyz": `"devices":2`, "/api/v1/devices": `"device_model":"Raspberry Pi 4B"`,
		"/api/v1/model": `"sha256":"abc"`, "/openapi.json": `"openapi": "3.1.0"`, "/metrics": `edgeprof_model_info{kind="rates by class of operator",sha256="abc"} 1`,
	} {
		if w := r.ask(http.MethodGet, target, nil, access.IDHeader, "my-id.1"); w.Code != 200 || !strings.Contains(w.Body.String(), part) || w.Header().Get(access.IDHeader) != "my-id.1" {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if w := r.ask(http.MethodGet, "/healthz", nil, access.IDHeader, "a b\r\n"); strings.ContainsAny(w.Header().Get(access.IDHeader), " \r\n") {
		t.Errorf("request id %q", w.Header().Get(access.IDHeader))
	}
	r.Drain()
	refused(t, r.ask(http.MethodGet, "/readyz", nil), 503, "draining", "")
	if w := r.profile(asked); w.Code != 200 {
		t.Errorf("a request under way while draining: %d", w.Code)
	}
	if w := r.ask(http.MethodGet, "/metrics", nil); !strings.Contains(w.Body.String(), `edgeprof_http_requests_total{route="/api/profiling",status="200"} 1`) {
		t.Errorf("%s", w.Body)
	}
	last := seen[len(seen)-2]
	if last.Route != "/api/profiling" || last.Status != 200 || last.Bytes == 0 || last.ID == "" || last.Err != nil {
		t.Errorf("observed %+v", last)
	}
}

func TestToken(t *testing.T) {
	r := newRig(t, func(s *Settings) { s.Token = func() string { return "secret" } })
	w := r.profile(asked)
	refused(t, w, 401, "token", "")
	if w.Header().Get("WWW-Authenticate") == "" {
		t.Error("no WWW-Authenticate")
	}
	for header, status := range map[string]int{"Bearer secret": 200, "bearer secret": 200, "Bearer Secret": 401, "Basic secret": 401, "Bearer": 401, "Bearer secret2": 401} {
		if w := r.ask(http.MethodGet, "/api/v1/devices", nil, "Authorization", header); w.Code != status {
			t.Errorf("%q: %d", header, w.Code)
		}
	}
	for _, target := range []string{"/healthz", "/readyz"} {
		if w := r.ask(http.MethodGet, target, nil); w.Code != 200 {
			t.Errorf("%s wants a token", target)
		}
	}
}

// What would be ignored is refused; HEAD is answered wherever GET is.
func TestUnderstood(t *testing.T) {
	r := newRig(t, nil)
	w := r.ask(http.MethodPost, "/api/v1/placements?dimm=batch=4&layers=true", nil)
	refused(t, w, 400, "parameter", "")
	if !strings.Contains(w.Body.String(), "?dimm=") {
		t.Error(w.Body)
	}
	refused(t, r.ask(http.MethodGet, "/api/v1/devices?node=a", nil), 400, "parameter", "")
	refused(t, r.ask(http.MethodPost, "/api/v1/models?name=m&dim=x=1", nil, "Content-Encoding", "gzip"), 415, "media-type", "")
	for _, target := range []string{"/", "/healthz", "/api/v1/devices", "/openapi.json"} {
		w := httptest.NewRecorder()
		if r.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodHead, target, nil)); w.Code != 200 {
			t.Errorf("HEAD %s: %d", target, w.Code)
		}
	}
	if w := r.ask(http.MethodGet, "/metrics", nil); !strings.Contains(w.Body.String(), `edgeprof_device_reading_age_seconds{node="`) || !strings.Contains(w.Body.String(), `edgeprof_devices{state="ranked"}`) {
		t.Errorf("%s", w.Body)
	}
}

func TestRate(t *testing.T) {
	r := newRig(t, func(s *Settings) { s.Rate = 3 })
	for range 3 {
		if w := r.profile(asked); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	w := r.profile(asked)
	refused(t, w, 429, "rate", "at most 3")
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if w := r.ask(http.MethodGet, "/healthz", nil); w.Code != 200 {
		t.Errorf("a probe was refused: %d", w.Code)
	}
}

// stuck is a model that panics.
type stuck struct{ prediction.Predictor }

func (stuck) On(context.Context, []device.Device, []device.Exclusion) prediction.Fleet { panic("boom") }

func TestPanic(t *testing.T) {
	var seen access.Request
	r := newRig(t, func(s *Settings) {
		s.Observe = func(a access.Request) { seen = a }
		s.Load = func(context.Context) (*LoadedModel, error) { return &LoadedModel{Model: stuck{}}, nil }
	})
	p := refused(t, r.profile(asked), 500, "internal", "request_id")
	if strings.Contains(p.Detail, "boom") || seen.Err == nil || !strings.Contains(seen.Err.Error(), "boom") {
		t.Errorf("told the client %q, observed %v", p.Detail, seen.Err)
	}
}

// A model that is reloaded while requests come is used by the next one, whole;
// one that cannot be read leaves the old one in place.
func TestReload(t *testing.T) {
	var number atomic.Int64
	base := load(t)
	broken := errors.New("no such file")
	r := newRig(t, func(s *Settings) {
		s.Load = func(context.Context) (*LoadedModel, error) {
			n := number.Add(1)
			if n == 2 {
				return nil, broken
			}
			return &LoadedModel{Model: base.Model, SHA256: fmt.Sprint("model ", n)}, nil
		}
	})
	using := func() string {
		var m struct{ SHA256 string }
		if err := json.Unmarshal(r.ask(http.MethodGet, "/api/v1/model", nil).Body.Bytes(), &m); err != nil {
			t.Error(err)
		}
		return m.SHA256
	}
	if err := r.Reload(t.Context()); !errors.Is(err, broken) || using() != "model 1" {
		t.Errorf("%v, using %s", err, using())
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				if w := r.profile(asked); w.Code != 200 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
	for range 20 {
		if err := r.Reload(t.Context()); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	if got := using(); got != "model 22" {
		t.Errorf("using %s", got)
	}
	if w := r.ask(http.MethodGet, "/metrics", nil); !strings.Contains(w.Body.String(), `edgeprof_model_loads_total{result="failed"} 1`) {
		t.Error("the failed load is not counted")
	}
	if _, err := New(Settings{Now: time.Now, Load: func(context.Context) (*LoadedModel, error) { return nil, broken }}); !errors.Is(err, broken) {
		t.Errorf("a service without a model: %v", err)
	}
}

// Two hundred clients at once over real connections, each with a request of its
// own: each gets its own back.
func TestManyClients(t *testing.T) {
	r := newRig(t, nil)
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 200
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			for k := range 5 {
				mine := fmt.Sprintf("client %d.%d", i, k)
				response, err := client.Post(server.URL+"/api/profiling", "application/json", strings.NewReader(strings.Replace(asked, `: "model"`, `: "`+mine+`"`, 1)))
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || response.StatusCode != 200 || strings.Count(string(text), `"model": "`+mine+`"`) != 2 {
					t.Errorf("%s: %d %v %s", mine, response.StatusCode, err, text)
				}
			}
		})
	}
	all.Wait()
}

// A model of which part of the cost is unknown has no upper bound.
func TestUnknownCost(t *testing.T) {
	m, err := synth.New("lenet", synth.Size{})
	if err != nil {
		t.Fatal(err)
	}
	m.Graph.Nodes[1].Op, m.Graph.Nodes[1].Domain = "Mystery", "com.example"
	var b bytes.Buffer
	if err := onnx.Write(&b, m, synth.RandomWeights(1)); err != nil {
		t.Fatal(err)
	}
	w := newRig(t, nil).ask(http.MethodPost, "/api/v1/placements", &b)
	var got struct {
		Candidates []struct{ Low, High *float64 }
		Warnings   []string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Candidates) == 0 {
		t.Fatalf("%v: %s", err, w.Body)
	}
	for _, c := range got.Candidates {
		if c.Low == nil || c.High != nil {
			t.Errorf("%s", w.Body)
		}
	}
	if len(got.Warnings) == 0 || !strings.Contains(got.Warnings[0], "com.example.Mystery (1)") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// What is wrong with the transfer of a body, or with what the client asks for, is the
// client's fault.
func TestClientFaults(t *testing.T) {
	r := newRig(t, nil)
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	for _, path := range []string{"/api/profiling", "/api/v1/placements", "/api/v1/models"} {
		kind := map[bool]string{true: "application/json", false: "application/octet-stream"}[path == "/api/profiling"]
		c, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\nbad\r\n", path, kind)
		text, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 400 ") {
			t.Errorf("%s: %v: %.60s", path, err, text)
		}
		c.Close()
	}
	refused(t, r.ask(http.MethodPost, "/api/profiling?candidates=some", strings.NewReader(asked), "Content-Type", "application/json"), 422, "parameter", "candidates=some")
	refused(t, r.ask(http.MethodPost, "/api/profiling", strings.NewReader(asked), "Content-Type", "application/json; charset=utf-16"), 415, "media-type", "utf-16")
	if w := r.ask(http.MethodPost, "/api/profiling", strings.NewReader(asked), "Content-Type", "application/json; charset=UTF-8"); w.Code != 200 {
		t.Errorf("UTF-8: %d", w.Code)
	}
}
