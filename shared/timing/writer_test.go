package timing

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ticking returns a clock that advances by each step in turn.
func ticking(steps ...time.Duration) Clock {
	now := time.Unix(1000, 0)
	return func() time.Time {
		if len(steps) > 0 {
			now = now.Add(steps[0])
			steps = steps[1:]
		}
		return now
	}
}

func TestTimeWriter(t *testing.T) {
	var out strings.Builder
	w := NewTimeWriter(&out, ticking(0, 1500*time.Millisecond, 8200*time.Nanosecond, -time.Second, 2*time.Second))
	if err := w.LogUpdate(); !errors.Is(err, ErrNotStarted) {
		t.Errorf("update before start: %v", err)
	}
	if got := w.GetResults(); got != o+"[]"+c {
		t.Errorf("before start: %s", got)
	}
	w.Start()
	for range 4 {
		if err := w.LogUpdate(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.PrintResults(); err != nil {
		t.Fatal(err)
	}
	if want := o + "[1.5, 8.2e-06, 0.0, 2.0]" + c + "\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// Expected texts from Python 3.11: repr(x).
func TestAppendRepr(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.0", 1: "1.0", 0.1: "0.1", 1e-4: "0.0001", 9.999e-5: "9.999e-05",
		8.200004231184721e-06: "8.200004231184721e-06", 1e15: "1000000000000000.0",
		1e16: "1e+16", 123456789012345680: "1.2345678901234568e+17", 5e-324: "5e-324",
		1.7976931348623157e308: "1.7976931348623157e+308", 9007199254740993: "9007199254740992.0",
		-2.5: "-2.5", 1e22: "1e+22", 1e100: "1e+100",
	} {
		if got := string(AppendRepr(nil, x)); got != want {
			t.Errorf("%v: got %s, want %s", x, got, want)
		}
	}
}

// TestRealRepr compares with Python's own repr over random floats of every
// magnitude.
func TestRealRepr(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3: install with apt-get install python3")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	xs := make([]float64, 0, 20000)
	for len(xs) < cap(xs) {
		x := rng.ExpFloat64()
		for range rng.IntN(20) {
			x *= []float64{10, 0.1, 7, 0.125}[rng.IntN(4)]
		}
		xs = append(xs, x, float64(rng.IntN(1e6)), float64(rng.IntN(1e6))/1000, float64(rng.Uint64N(1e18)))
	}
	var in strings.Builder
	for _, x := range xs {
		in.WriteString(strconv.FormatFloat(x, 'x', -1, 64) + "\n")
	}
	cmd := exec.Command(python, "-c", "import sys; print([float.fromhex(l) for l in sys.stdin])")
	cmd.Stdin = strings.NewReader(in.String())
	want, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(string(AppendReprList(nil, xs)), ", ")
	for i, w := range strings.Split(strings.TrimSpace(string(want)), ", ") {
		if got[i] != w {
			t.Fatalf("value %d: got %s, Python prints %s", i, got[i], w)
		}
	}
}
