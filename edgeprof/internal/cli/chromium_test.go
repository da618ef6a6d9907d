package cli_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/synth"
)

// browser is a headless Chromium, driven through a pipe (Chrome DevTools
// Protocol, --remote-debugging-pipe: JSON between zero bytes).
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	number  int
	thrown  []string // errors of scripts
}

// browse starts a browser with an empty page.
func browse(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs Chromium: install with apt-get install chromium")
	}
	in, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--no-first-run", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{in, out}
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	b := &browser{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Chromium said:\n%.4000s", &log)
		}
		to.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		from.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.call("Page.enable", nil, nil)
	b.call("DOM.enable", nil, nil)
	b.call("Runtime.enable", nil, nil)
	return b
}

// call asks the browser and waits for its answer.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.number++
	request := map[string]any{"id": b.number, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		text, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text[:len(text)-1], &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.Method == "Runtime.exceptionThrown" {
			b.thrown = append(b.thrown, string(answer.Params))
		}
		if answer.ID != b.number {
			continue
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// value evaluates an expression in the page.
func (b *browser) value(expression string) any {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return answer.Result.Value
}

// until waits for an expression to be true.
func (b *browser) until(expression string) {
	b.t.Helper()
	until(b.t, expression, func() bool { return b.value(expression) == true })
}

// choose puts a file into an input.
func (b *browser) choose(selector, path string) {
	b.t.Helper()
	var document struct{ Root struct{ NodeID int } }
	b.call("DOM.getDocument", nil, &document)
	var node struct{ NodeID int }
	b.call("DOM.querySelector", map[string]any{"nodeId": document.Root.NodeID, "selector": selector}, &node)
	b.call("DOM.setFileInputFiles", map[string]any{"nodeId": node.NodeID, "files": []string{path}}, nil)
}

// size sets the window.
func (b *browser) size(width, height int, phone bool) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}, nil)
}

// shoot writes a picture of the window.
func (b *browser) shoot(path string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	picture, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// fleet is a file of devices that look like a small cluster.
const fleet = `[
{"node": "jetson-1", "class": "Computer", "device_model": "NVIDIA Jetson Nano", "cores": 4, "max_mhz": 1479, "memory_bytes": 4000000000, "load": {"cpu_percent": 8, "disk_percent": 41, "memory_available_bytes": 2600000000}},
{"node": "rpi-1", "class": "Computer", "device_model": "Raspberry Pi 4 Model B", "cores": 4, "max_mhz": 1500, "memory_bytes": 4000000000, "load": {"cpu_percent": 22, "disk_percent": 58, "memory_available_bytes": 2900000000}},
{"node": "rpi-2", "class": "Computer", "device_model": "Raspberry Pi 4 Model B", "cores": 4, "max_mhz": 1500, "memory_bytes": 4000000000, "load": {"cpu_percent": 96, "disk_percent": 73, "memory_available_bytes": 700000000}},
{"node": "zero-1", "class": "Computer", "device_model": "Raspberry Pi Zero 2 W", "cores": 4, "max_mhz": 1000, "memory_bytes": 512000000, "load": {"cpu_percent": 5, "disk_percent": 30, "memory_available_bytes": 9000000}},
{"node": "<img src=x onerror=alert(1)>", "cores": 0, "load": {"cpu_percent": 0, "disk_percent": 0}}]`

// openModel writes a product of [x, 4] and [4, 4].
func openModel(t *testing.T, path string) {
	t.Helper()
	of := func(name string) onnx.Value {
		return onnx.Value{Name: name, Type: onnx.Float32, Known: true, Shape: []onnx.Dim{{Size: -1}, {Size: 4}}}
	}
	m := &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: onnx.Graph{
		Name: "open", Inputs: []onnx.Value{of("x")}, Outputs: []onnx.Value{of("y")}, Nodes: []onnx.Node{{Op: "MatMul", Inputs: []string{"x", "w"}, Outputs: []string{"y"}}},
		Initializers: []onnx.Tensor{{Name: "w", Type: onnx.Float32, Dims: []int64{4, 4}, Stored: 64}},
	}}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(onnx.Write(f, m, synth.RandomWeights(1)), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// A person opens the page, drops a file that is no model, then a model, on a
// wide screen and on a phone. The pictures stay in out/real.
func TestRealPage(t *testing.T) {
	b := browse(t)
	folder := t.TempDir()
	devices, junk, model := filepath.Join(folder, "devices.json"), filepath.Join(folder, "notes.onnx"), filepath.Join(folder, "MobileNet v2.onnx")
	for path, text := range map[string]string{devices: fleet, junk: "dear diary"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("edgeprof", "synth", "mobilenetv2", "--resolution", "160", "--out", model).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	open := filepath.Join(folder, "open.onnx")
	openModel(t, open)
	r := start(t, "serve", "--source", "file:"+devices)
	b.size(1000, 1000, false)
	b.call("Page.navigate", map[string]any{"url": r.url + "/"}, nil)
	b.until(`document.querySelectorAll("#devices .card").length === 5 && document.querySelectorAll("#devices meter").length === 4`)
	b.until(`document.querySelector("#state").textContent === "4 ready"`)

	// live: a device's load changes under the page
	if err := os.WriteFile(devices, []byte(strings.Replace(fleet, `"cpu_percent": 22`, `"cpu_percent": 31`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelector("#devices").textContent.includes("CPU 31 %")`)

	b.choose("#file", junk)
	b.until(`!document.querySelector("#error").hidden && document.querySelector("#error").textContent.includes("not an ONNX model")`)
	if b.value(`document.querySelector("#result").hidden`) != true {
		t.Error("a ranking beside the error")
	}
	b.choose("#file", model)
	b.until(`!document.querySelector("#result").hidden && document.querySelector("#error").hidden`)
	got := fmt.Sprint(b.value(`[...document.querySelectorAll("#ranking .name")].map(e => e.textContent).join(", ")`))
	if want := "1. jetson-1, 1. rpi-1, 1. rpi-2, <img src=x onerror=alert(1)>, zero-1"; got != want {
		t.Errorf("ranking %q, want %q", got, want)
	}
	for expression, want := range map[string]any{
		`document.querySelectorAll("#ranking svg.range circle").length`:                                                                                                               3.0,
		`document.querySelector("#ranking .card.first .quiet").textContent.includes("90 % interval")`:                                                                                 true,
		`document.querySelectorAll("#ranking .card.first li").length > 0`:                                                                                                             true,
		`document.querySelector("#ranking").textContent.includes("bytes of memory")`:                                                                                                  true,
		`document.querySelector("#manifest").textContent.includes("name: mobilenet-v2")`:                                                                                              true,
		`document.querySelectorAll("#layers tr").length === 18 && document.querySelector("#layers").textContent.includes("Conv")`:                                                     true,
		`(t => t.length === 15 && t.every((w, i) => i === 0 || w <= t[i - 1]))([...document.querySelectorAll("#layers svg.bar rect")].map(e => parseFloat(e.getAttribute("width"))))`: true,
		`[...document.querySelectorAll(".name")].filter(e => e.textContent.includes("zero-1")).length`:                                                                                1.0,
		`[...document.querySelectorAll(".mark")].map(e => e.textContent).join()`:                                                                                                      "tie,tie,tie,saturated",
		`document.querySelectorAll("#ranking .axis .ends span").length`:                                                                                                               3.0,
		`!document.querySelector("#doubts").open && document.querySelector("#warnings").children.length > 0`:                                                                          true,
		`document.querySelector("#open").hidden`:                                                                                                                                      true,
		`document.querySelector("#counts").textContent.includes("convolution layers52")`:                                                                                              true,
		`performance.getEntriesByType("resource").every(e => new URL(e.name).origin === location.origin)`:                                                                             true,
		`document.querySelectorAll("img:not([src^='page/'])").length`:                                                                                                                 0.0,
		`document.documentElement.scrollWidth <= innerWidth`:                                                                                                                          true,
		`[...document.querySelectorAll("input,button,meter,svg")].every(e => e.labels ? e.labels.length || e.ariaLabel || e.textContent : e.ariaLabel)`:                               true,
	} {
		if got := b.value(expression); got != want {
			t.Errorf("%s is %v, want %v", expression, got, want)
		}
	}
	// the same file again, then a model with an open dimension
	b.choose("#file", model)
	b.until(`!document.querySelector("#result").hidden`)
	b.choose("#file", open)
	b.until(`document.querySelectorAll("#open input").length === 1 && document.querySelector("#model-name").textContent.includes("open.onnx")`)
	b.value(`document.querySelector("#open input").value = 8; document.querySelector("#open button").click()`)
	b.until(`!document.querySelector("#result").hidden && document.querySelector("#dims").value === "x:0=8" && document.querySelector("#counts").textContent.includes("multiply-accumulates128")`)
	b.value(`document.querySelector("#dims").value = ""`)
	pictures := filepath.Join("..", "..", "..", "out", "real")
	// the same without the hostile name, for the picture
	tidy := fleet[:strings.LastIndex(fleet, ",\n")] + "]"
	if err := os.WriteFile(devices, []byte(tidy), 0o644); err != nil {
		t.Fatal(err)
	}
	b.size(1000, 1480, false)
	b.choose("#file", junk)
	b.until(`!document.querySelector("#error").hidden && document.querySelectorAll("#devices .card").length === 4`)
	b.choose("#file", model)
	b.until(`!document.querySelector("#result").hidden && document.querySelectorAll("#ranking .card").length === 4`)
	b.value(`document.querySelector("#layers-of").open = true; window.scrollTo({top: 0, behavior: "instant"})`)
	b.shoot(filepath.Join(pictures, "edgeprof-page.png"))
	b.size(390, 844, true)
	b.until(`innerWidth === 390`)
	if wide := b.value(`document.documentElement.scrollWidth`); wide != 390.0 {
		t.Errorf("on a phone the page is %v wide", wide)
	}
	b.value(`document.querySelector("#result").scrollIntoView({behavior: "instant"})`)
	b.shoot(filepath.Join(pictures, "edgeprof-page-phone.png"))
	// twelve devices: the ranking and the devices are on one screen
	var twelve []string
	for i := range 12 {
		twelve = append(twelve, fmt.Sprintf(`{"node": "rpi-%d", "device_model": "Raspberry Pi 4 Model B", "cores": 4, "max_mhz": 1500, "load": {"cpu_percent": %d}}`, i, 8*i))
	}
	if err := os.WriteFile(devices, []byte("["+strings.Join(twelve, ",")+"]"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.size(1280, 900, false)
	b.until(`innerWidth === 1280`)
	b.choose("#file", junk)
	b.until(`!document.querySelector("#error").hidden && document.querySelectorAll("#devices .card").length === 12`)
	b.choose("#file", model)
	b.until(`document.querySelectorAll("#ranking .card").length === 12 && !document.querySelector("#result").hidden`)
	b.value(`window.scrollTo({top: 0, behavior: "instant"})`)
	if low := b.value(`document.querySelector("#ranking").getBoundingClientRect().bottom`); low.(float64) > 900 {
		t.Errorf("the ranking of twelve devices ends %v pixels below the top of a screen of 900", low)
	}
	if high := b.value(`document.documentElement.scrollHeight`); high.(float64) > 2*900 {
		t.Errorf("the page of twelve devices is %v pixels high", high)
	}
	b.shoot(filepath.Join(pictures, "edgeprof-page-twelve.png"))
	if len(b.thrown) > 0 {
		t.Errorf("scripts threw %s", b.thrown)
	}
}
