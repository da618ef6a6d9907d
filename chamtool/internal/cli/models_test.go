package cli

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/perfmodel"
	"github.com/foretime/foretime/shared/cli"
)

// Kept models are listed by function, and those of one function by sizes.
func TestKeptModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.runs")
	store := &perfmodel.Store{}
	large := []int64{800, 8}
	store.Set(perfmodel.Key("app:gemm", "b1"), 1_700_000_000, []perfmodel.StoredRun{{Sizes: large, Seconds: 0.5}, {Sizes: []int64{80}, Seconds: 0.1}, {Sizes: large, Seconds: 0.25}, {Sizes: large, Seconds: 0.75}})
	store.Set("app:trsm", 0, []perfmodel.StoredRun{{Sizes: nil, Seconds: 2}})
	if err := store.Write(path); err != nil {
		t.Fatal(err)
	}
	for function, want := range map[string][]string{
		"":     {"app:gemm  b1         2     4  2023-11-14 22:13", "app:trsm"},
		"gemm": {"app:gemm  b1        80     1      0.100       0.100     0.100", "app:gemm  b1     800 8     3      0.250       0.500     0.750"},
	} {
		kept, err := readModels([]string{path}, function)
		if err != nil {
			t.Fatal(err)
		}
		var page cli.Page
		var text strings.Builder
		kept.print(&page)
		if _, err := page.WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(text.String(), line) {
				t.Errorf("function %q: %q is missing in\n%s", function, line, text.String())
			}
		}
		if c := kept.chart(); len(c.Series) != len(kept.Functions) || c.Series[0].X[1] != 808 || c.Series[0].Y[1] != 0.5 {
			t.Errorf("chart %+v", c.Series)
		}
	}
	if _, err := readModels([]string{path}, "potrf"); !errors.Is(err, ErrNoModels) {
		t.Error(err)
	}
	if _, err := readModels([]string{path + ".none"}, ""); !errors.Is(err, ErrNoModels) {
		t.Error(err)
	}
}
