package split

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/edgeprof/synth"
)

// ONNX's own checker and shape inference find nothing wrong with any part.
func TestRealChecker(t *testing.T) {
	if exec.Command("/usr/bin/python3", "-c", "import onnx").Run() != nil {
		t.Skip("needs ONNX for Python: install with apt-get install python3-onnx")
	}
	folder := t.TempDir()
	count := 0
	for _, family := range synth.Families() {
		m, r := file(t, small(t, family))
		parts, err := Parts(analyze(t, m), Settings{MinDistance: 6})
		if err != nil {
			continue // a short model
		}
		for i, p := range parts {
			f, err := os.Create(filepath.Join(folder, fmt.Sprintf("%s_part%d.onnx", family, i+1)))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Write(f, r); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			count++
		}
	}
	out, err := exec.Command("/usr/bin/python3", "-c", `
import glob, sys, onnx
names = glob.glob(sys.argv[1] + "/*.onnx")
for name in names:
    m = onnx.load(name)
    onnx.checker.check_model(m, full_check=True)
    onnx.shape_inference.infer_shapes(m, strict_mode=True)
print(len(names))`, folder).CombinedOutput()
	if want := fmt.Sprintln(count); err != nil || string(out) != want || count < 20 {
		t.Fatalf("%v: %s, want %s", err, out, want)
	}
}
