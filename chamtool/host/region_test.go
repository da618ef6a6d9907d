package host_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/foretime/foretime/chamtool/internal/summary"
)

// A region that the body of another one calls last leaves an address of the runtime, and is named
// by the region around it.
func TestRealRegionAtTheEnd(t *testing.T) {
	needOpenMP(t)
	const text = `
__attribute__((noinline)) void inner(void) {
    #pragma omp parallel for num_threads(2) schedule(static)
    for (int i = 0; i < 4; i++)
        for (volatile int n = 0; n < 100000; n++);
}
extern void omp_set_max_active_levels(int);
int main(void) {
    omp_set_max_active_levels(2);
    for (int n = 0; n < 10; n++) {
        #pragma omp parallel num_threads(2)
        inner();
    }
}
`
	for compiler, preload := range map[string]string{"clang": "", "gcc": "libomp.so.5"} {
		program := filepath.Join(t.TempDir(), "nested")
		compile(t, text, compiler, "-fopenmp", "-O2", "-g", "-x", "c", "-o", program, "-")
		_, logs := underOMPT(t, []string{"LD_PRELOAD=" + preload}, program)
		places := map[string]bool{}
		s, err := summary.Read(filepath.Join(logs, summary.FileName(0)))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Times {
			places[p.Place] = true
			if strings.Contains(p.Place, "libomp") {
				t.Errorf("%s: %s at %q", compiler, p.Kind, p.Place)
			}
		}
		if len(places) == 0 {
			t.Errorf("%s: no times", compiler)
		}
	}
}
