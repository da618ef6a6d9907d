package cli

import (
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/profiler"
	"github.com/foretime/foretime/shared/file"
)

var updateRates = flag.String("update-rates", "", "directory with files of calibrate, named by their setting: write them into model.json.gz")

// The rates of one thread in the built-in model are those of a calibration, which measured every
// class: in ONNX Runtime, and in Go one for each implementation of matrix products. No trees
// change those in Go.
func TestBuiltInRates(t *testing.T) {
	m, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	if *updateRates != "" {
		writeRates(t, m, *updateRates)
	}
	var products []string
	for _, c := range m.Settings {
		if c.Facts.Threads != 1 {
			continue
		}
		if c.Facts.Runtime == "go" {
			products = append(products, c.Facts.Products)
		}
		if trees := c.Facts.Runtime != "go"; trees != (c.TreeWeight > 0) || trees != (m.Kernels[c.Facts.Runtime] != nil) {
			t.Errorf("%s: trees of weight %v, in the model %v", c.Facts.Setting, c.TreeWeight, m.Kernels[c.Facts.Runtime] != nil)
		}
		for class, r := range c.Rates {
			if r.Nodes == 0 {
				t.Errorf("%s: class %s has no kernel", c.Facts.Setting, class)
			}
		}
	}
	if slices.Sort(products); !slices.Equal(products, []string{"gonum", "simd"}) {
		t.Errorf("rates of the products %q, want gonum and simd", products)
	}
}

// writeRates replaces the rates of the settings in model.json.gz that a directory has.
func writeRates(t *testing.T, m *profiler.Model, dir string) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no calibration: %v", dir, err)
	}
	rates := newCatalog()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := rates.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		c.Facts.Setting, c.Facts.Library = strings.TrimSuffix(filepath.Base(path), ".json"), ""
		m.Settings = slices.DeleteFunc(m.Settings, func(old *profiler.Calibration) bool { return old.Facts.Setting == c.Facts.Setting })
		m.Settings = append(m.Settings, c)
	}
	slices.SortFunc(m.Settings, func(a, b *profiler.Calibration) int { return strings.Compare(a.Facts.Setting, b.Facts.Setting) })
	for _, c := range m.Settings {
		c.Facts.Shipped = false // set when it is read
	}
	err = file.Write("model.json.gz", func(w io.Writer) error {
		packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		return errors.Join(m.Write(packed), packed.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Settings {
		c.Facts.Shipped = true
	}
}
