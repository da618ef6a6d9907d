package cli

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Programs of gcc need LLVM's runtime.
func TestForGNU(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "")
	t.Setenv("CONDA_PREFIX", "")
	file := &fstest.MapFile{}
	if f := forGNU(fstest.MapFS{"usr/lib64/libomp.so": file}); f.Status != "ok" || !strings.Contains(f.Detail, "LD_PRELOAD=/usr/lib64/libomp.so") {
		t.Errorf("%+v", f)
	}
	if f := forGNU(fstest.MapFS{"lib/libomp.so": file}); f.Status != "warn" || !strings.Contains(f.Detail, "libomp-dev") {
		t.Errorf("at the root, without CONDA_PREFIX: %+v", f)
	}
	t.Setenv("CONDA_PREFIX", "/env")
	if f := forGNU(fstest.MapFS{"env/lib/libomp.so": file}); f.Status != "ok" {
		t.Errorf("%+v", f)
	}
}
