package worker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// role makes the test binary a worker.
const role = "FORETIME_TEST_WORKER"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "serve":
		if err := Serve(context.Background(), os.Stdin, os.Stdout, loadFixed); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
	case "garbage":
		os.Stdout.WriteString("hello, I am no worker")
	case "silent":
		io.Copy(io.Discard, os.Stdin)
	}
}

// fixed is a session with an input x of two numbers.
type fixed struct{ model Model }

func loadFixed(_ context.Context, m Model) (Served, error) {
	if m.Path == "bad" {
		return nil, errors.Join(errors.New("bad: an operator"), runtime.ErrUnsupported)
	}
	return fixed{m}, nil
}

func (d fixed) Inputs() map[string][]int64 { return map[string][]int64{"x": {2}} }
func (d fixed) Close() error               { return nil }

// Time answers with the input x and with how many processors the worker may use.
func (d fixed) Time(_ context.Context, in map[string]runtime.Tensor, runs int) (runtime.Timing, error) {
	x, ok := in["x"]
	if !ok {
		return runtime.Timing{}, runtime.ErrInput
	}
	if d.model.Path == "crash" {
		os.Stderr.WriteString("segmentation fault, say\n")
		os.Exit(3)
	}
	var set unix.CPUSet
	err := unix.SchedGetaffinity(0, &set)
	return runtime.Timing{Seconds: []float64{float64(runs), float64(set.Count()), float64(x.Data[0]), float64(x.Data[1])}}, err
}

func (d fixed) Library() (path, name string) { return "/lib", "Library 1.0" }

func (d fixed) Profile(_ context.Context, _ map[string]runtime.Tensor, runs int) ([]runtime.Profile, error) {
	return make([]runtime.Profile, runs), nil
}

func command(what string) Command {
	return Command{Path: os.Args[0], Env: append(os.Environ(), role+"="+what)}
}

func TestSession(t *testing.T) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !allowed.IsSet(first) {
		first++
	}
	c := command("serve")
	c.CPUs = []int{first}
	s, err := Start(t.Context(), c, Model{Path: "m", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if diff := cmp.Diff(map[string][]int64{"x": {2}}, s.Inputs()); diff != "" {
		t.Error(diff)
	}
	in := map[string]runtime.Tensor{"x": {Shape: []int64{2}, Data: []float32{1.5, -3}}}
	timed, err := s.Time(t.Context(), in, 7)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{7, 1, 1.5, -3}, timed.Seconds); diff != "" {
		t.Errorf("runs, processors, input: %s", diff)
	}
	if path, name := s.Library(); path != "/lib" || name != "Library 1.0" {
		t.Errorf("library %q, %q", path, name)
	}
	if profiles, err := s.Profile(t.Context(), in, 3); err != nil || len(profiles) != 3 {
		t.Errorf("%v, %v", profiles, err)
	}
	if _, err := s.Time(t.Context(), nil, 1); !errors.Is(err, runtime.ErrInput) {
		t.Errorf("no input: %v", err)
	}
	if _, err := s.Time(t.Context(), in, 1); err != nil {
		t.Errorf("the session ends with an error about its input: %v", err)
	}
}

func TestErrors(t *testing.T) {
	if _, err := Start(t.Context(), Command{Path: "/no/such/worker"}, Model{}); !errors.Is(err, runtime.ErrUnavailable) {
		t.Errorf("no worker: %v", err)
	}
	if _, err := Start(t.Context(), command("garbage"), Model{}); !errors.Is(err, runtime.ErrUnavailable) {
		t.Errorf("not a worker: %v", err)
	}
	if _, err := Start(t.Context(), command("serve"), Model{Path: "bad"}); !errors.Is(err, runtime.ErrUnsupported) || !strings.Contains(err.Error(), "bad: an operator") {
		t.Errorf("a bad model: %v", err)
	}
	c := command("serve")
	c.CPUs = []int{1000}
	if _, err := Start(t.Context(), c, Model{}); err == nil || !strings.Contains(err.Error(), "1000") {
		t.Errorf("a processor that does not exist: %v", err)
	}
	s, err := Start(t.Context(), command("serve"), Model{Path: "crash"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in := map[string]runtime.Tensor{"x": {Shape: []int64{2}, Data: []float32{1, 1}}}
	if _, err := s.Time(t.Context(), in, 1); !errors.Is(err, runtime.ErrUnavailable) || !strings.Contains(err.Error(), "segmentation fault, say") {
		t.Errorf("a crash: %v", err)
	}
	if _, err := s.Time(t.Context(), in, 1); !errors.Is(err, runtime.ErrUnavailable) {
		t.Errorf("after a crash: %v", err)
	}
}

// A worker that does not answer is killed when the context ends.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, command("silent"), Model{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silence: %v", err)
	}
	slow := errors.New("too slow")
	limited, stop := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, slow)
	defer stop()
	if _, err := Start(limited, command("silent"), Model{}); !errors.Is(err, slow) {
		t.Errorf("a limit with a reason: %v", err)
	}
}

func TestServeOrder(t *testing.T) {
	var in, out bytes.Buffer
	w := bufio.NewWriter(&in)
	for _, m := range []*message{{Do: "time"}, {Do: "load", Model: &Model{}}, {Do: "dance"}} {
		if err := send(w, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := Serve(t.Context(), &in, &out, loadFixed); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(&out)
	for _, want := range []string{"before a model is loaded", "", "unknown request"} {
		m, err := receive(r)
		if err != nil || !strings.Contains(m.Error, want) || want == "" && m.Error != "" {
			t.Errorf("%+v, %v: want %q", m, err, want)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 0, 0, 0, '{', '}'})
	f.Add([]byte{255, 255, 255, 255})
	var b bytes.Buffer
	m := &message{Do: "time"}
	m.add(map[string]runtime.Tensor{"x": {Shape: []int64{2}, Data: []float32{1, 2}}})
	if err := send(bufio.NewWriter(&b), m); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := receive(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := send(bufio.NewWriter(&again), m); err != nil {
			t.Fatal(err)
		}
		back, err := receive(bufio.NewReader(&again))
		if err != nil || len(back.Tensors) != len(m.Tensors) || back.Do != m.Do {
			t.Errorf("%v: %+v came back as %+v", err, m, back)
		}
	})
}
