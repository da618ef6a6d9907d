package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/onnx"
	"github.com/foretime/foretime/edgeprof/internal/placement"
)

var updateCounts = flag.Bool("update-counts", false, "write counts/shipped.json anew")

// families of the models above; those that edgeprof makes itself have its names.
var families = map[string]string{
	"magika": "magika", "nudenet": "nudenet", "rapidocr-onnxruntime": "rapidocr", "silero-vad": "silero", "light_bvlc_alexnet": "alexnet", "light_densenet121": "densenet", "light_inception_v1": "googlenet",
	"light_inception_v2": "googlenet", "light_resnet50": "resnet", "light_shufflenet": "shufflenet", "light_squeezenet": "squeezenet", "light_vgg19": "vgg", "light_zfnet512": "alexnet",
}

// What the law of the counts is told of these models is what their files say: their
// counts, and the sums of their kernels' work by class.
func TestRealCounts(t *testing.T) {
	var all []any
	for _, tt := range wheels {
		name := filepath.Base(tt.file[:len(tt.file)-len(filepath.Ext(tt.file))])
		family, ok := families[name]
		if !ok {
			family = families[tt.wheel[:bytes.IndexByte([]byte(tt.wheel), '=')]]
		}
		m, err := onnx.ReadFile(filepath.Join(installed(t, tt.wheel), tt.file))
		if err != nil {
			t.Fatal(err)
		}
		a, err := onnx.Analyze(m, onnx.Settings{Sizes: tt.sizes})
		if err != nil {
			t.Fatal(err)
		}
		c, err := placement.NewCounts(a)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, map[string]any{"model": tt.wheel + "/" + name, "family": family, "counts": c, "work": work(a)})
	}
	got, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("..", "..", "internal", "placement", "shipped.json")
	if *updateCounts {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the models say (-update-counts writes it anew): %v", path, err)
	}
}

// work sums kernels by class.
func work(a *onnx.Analysis) []map[string]any {
	var out []map[string]any
	for _, class := range onnx.Classes() {
		var n, macs, bytes int64
		for _, k := range a.Kernels() {
			if k.Class == class {
				n += k.Times
				macs += k.MACs * k.Times
				bytes += k.Bytes() * k.Times
			}
		}
		if n > 0 {
			out = append(out, map[string]any{"class": class, "kernels": n, "macs": macs, "bytes": bytes})
		}
	}
	return out
}
