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

var updateRates = flag.String("update-rates", "", "directory with files of calibrate --runtime go, named by their setting: write them into model.json.gz")

// The Go runtime's rates in the built-in model are those of a calibration, one for each
// implementation of matrix products, and no trees change them.
func TestBuiltInGoRates(t *testing.T) {
	m, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	if *updateRates != "" {
		writeGoRates(t, m, *updateRates)
	}
	var products []string
	for _, c := range m.Settings {
		if c.Facts.Runtime != "go" {
			continue
		}
		products = append(products, c.Facts.Products)
		if c.TreeWeight != 0 {
			t.Errorf("%s: trees of weight %v", c.Facts.Setting, c.TreeWeight)
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
	if m.Kernels["go"] != nil {
		t.Error("the model has trees for the Go runtime")
	}
}

// writeGoRates replaces the Go runtime's rates in model.json.gz by those of a directory.
func writeGoRates(t *testing.T, m *profiler.Model, dir string) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no calibration: %v", dir, err)
	}
	m.Settings = slices.DeleteFunc(m.Settings, func(c *profiler.Calibration) bool { return c.Facts.Runtime == "go" })
	delete(m.Kernels, "go")
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
		if c.Facts.Runtime != "go" {
			t.Fatalf("%s: rates of runtime %s", path, c.Facts.Runtime)
		}
		c.Facts.Setting = strings.TrimSuffix(filepath.Base(path), ".json")
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
