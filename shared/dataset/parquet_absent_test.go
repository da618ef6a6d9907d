//go:build noparquet

package dataset_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/shared/dataset"
)

// TestNoParquet checks that a build without Parquet rejects its files with
// ErrNoParquet and writes nothing.
func TestNoParquet(t *testing.T) {
	type row struct {
		N int `dataset:"n"`
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	if err := dataset.Save(path, []row{{1}}, dataset.Options{}); !errors.Is(err, dataset.ErrNoParquet) {
		t.Errorf("write: %v", err)
	}
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(found) > 0 {
		t.Errorf("left behind: %v", found)
	}
	csv := filepath.Join(t.TempDir(), "a.csv")
	if err := dataset.Save(csv, []row{{1}}, dataset.Options{}); err != nil {
		t.Error(err)
	}
}
