package launch

import (
	"os"
	"path/filepath"
	"testing"
)

// A run's GPU is what one of its processes, however deep, has open; a library
// alone is none.
func TestGPUEvidence(t *testing.T) {
	dir := t.TempDir()
	device := filepath.Join(dir, "nvidia0")
	if err := os.WriteFile(device, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(dir, "libcuda.so.1")
	libm, err := filepath.Glob("/lib/*-linux-gnu/libm.so.6")
	if err != nil || len(libm) == 0 {
		t.Skip("needs a shared library to load: libm.so.6")
	}
	text, err := os.ReadFile(libm[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(library, text, 0o600); err != nil {
		t.Fatal(err)
	}
	// The job ends when it is told to: when it has been looked at often enough.
	wait := "; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done"
	for _, tt := range []struct {
		name, script string
		want         Evidence
	}{
		{"none", "true" + wait, NoGPU},
		{"library", "LD_PRELOAD=" + library + " sleep 1", NoGPU},
		{"open in a grandchild", "sh -c 'exec 3<" + device + wait + "'; true", GPUOpen},
	} {
		r := New(Settings{Scratch: t.TempDir(), GPUDevices: []string{filepath.Join(dir, "nvidia[0-9]*")}})
		res, err := r.Run(t.Context(), Command{Args: []string{"sh", "-c", tt.script}, Env: os.Environ(), GPU: true})
		if err != nil || res.Err != nil {
			t.Fatal(tt.name, err, res)
		}
		if res.GPU != tt.want {
			t.Errorf("%s: evidence %d, want %d", tt.name, res.GPU, tt.want)
		}
	}
}
