package hook_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/deft/hook"
	"github.com/foretime/foretime/deft/internal/cc"
)

// lane is a stream of a context in the model: what it holds, and whether it
// captures. One that was destroyed goes on until what it holds is done.
type lane struct {
	left      int
	capturing bool
}

// queueModel is a queue as it should be: empty where nothing is left, in any
// lane.
type queueModel struct {
	thread  int
	current [3]int // context of each thread
	lanes   [2][4]lane
}

func (m *queueModel) context() int { return m.current[m.thread] }

func (m *queueModel) here() *[4]lane { return &m.lanes[m.context()] }

// empty is what the queue may say. A stream that captures cannot be asked: with
// work left before its capture it is busy whatever the device has done.
func (m *queueModel) empty() bool {
	for _, c := range m.lanes {
		for _, l := range c {
			if l.left > 0 {
				return false
			}
		}
	}
	return true
}

// The queue over random sequences of launches, waits, looks, bounds, captures,
// streams and contexts that go, threads in contexts of their own, and forks, against
// a model: it is never said to be
// empty with work left, and always where nothing is left.
func TestQueue(t *testing.T) {
	if err := flag.Set("rapid.checks", "300"); err != nil {
		t.Fatal(err)
	}
	program := buildQueue(t, "address,undefined")
	rapid.Check(t, func(rt *rapid.T) {
		tell := startQueue(rt, program)
		m := &queueModel{}
		stream := func(fits func(lane) bool) int {
			var all []int
			for i, l := range m.here() {
				if fits(l) {
					all = append(all, i)
				}
			}
			if len(all) == 0 {
				rt.Skip("none")
			}
			return rapid.SampledFrom(all).Draw(rt, "stream")
		}
		free := func(l lane) bool { return !l.capturing }
		ok := func(format string, args ...any) {
			if got := tell(format, args...); got != "ok" {
				rt.Fatalf(format+": %s", append(args, got)...)
			}
		}
		capturing := func() bool {
			for _, c := range m.lanes {
				for _, l := range c {
					if l.capturing {
						return true
					}
				}
			}
			return false
		}
		rt.Repeat(map[string]func(*rapid.T){
			"launch": func(*rapid.T) {
				s := stream(free)
				m.here()[s].left++
				ok("launch %d", s)
			},
			"bounded": func(*rapid.T) {
				if capturing() {
					rt.Skip("what was launched before a capture stays")
				}
				s := stream(free)
				for range rapid.IntRange(1, 12).Draw(rt, "launches") {
					ok("wait -1") // of the model only the bound is known meanwhile
					for i := range m.here() {
						m.here()[i].left = 0
					}
					if !m.empty() {
						return // of the other context
					}
					ok("bounded %d 3", s)
					ok("bounded %d 3", (s+1)%4)
					ok("bounded %d 3", s)
					ok("bounded %d 3", s)
					ok("wait -1")
				}
			},
			"done": func(*rapid.T) {
				s := stream(func(l lane) bool { return l.left > 0 }) // perhaps from before its capture
				n := rapid.IntRange(1, m.here()[s].left).Draw(rt, "n")
				m.here()[s].left -= n
				ok("done %d %d", s, n)
			},
			"wait": func(*rapid.T) {
				s := stream(free)
				m.here()[s].left = 0
				ok("wait %d", s)
			},
			"wait for the context": func(*rapid.T) {
				if capturing() {
					rt.Skip("it would break the capture")
				}
				for i := range m.here() {
					m.here()[i].left = 0
				}
				ok("wait -1")
			},
			"await": func(*rapid.T) { ok("await") },
			"capture": func(*rapid.T) {
				s := stream(free)
				m.here()[s].capturing = true
				ok("capture %d", s)
			},
			"uncapture": func(*rapid.T) {
				s := stream(func(l lane) bool { return l.capturing })
				m.here()[s].capturing = false
				ok("uncapture %d", s)
			},
			"destroy": func(*rapid.T) {
				s := stream(func(l lane) bool { return !l.capturing && l.left == 0 })
				ok("destroy %d", s)
			},
			"context": func(*rapid.T) {
				m.current[m.thread] = 1 - m.context()
				ok("context %d", m.context())
			},
			"thread": func(*rapid.T) {
				m.thread = rapid.IntRange(0, 2).Draw(rt, "thread")
				ok("thread %d", m.thread)
			},
			"lose": func(*rapid.T) {
				others := m.current[0] + m.current[1] + m.current[2] - m.context()
				if m.context() == 0 || others > 0 || capturing() {
					rt.Skip("not this one")
				}
				m.lanes[1], m.current[m.thread] = [4]lane{}, 0
				ok("lose")
			},
			"fork": func(*rapid.T) {
				of := m.context()
				*m = queueModel{thread: m.thread}
				m.current[m.thread] = of
				ok("fork")
			},
			"": func(*rapid.T) {
				got := tell("look")
				// A lane that captures may be busy with what it had before.
				if got != "0" && got != "1" || got == "1" && !m.empty() || got == "0" && m.empty() && !capturing() {
					rt.Fatalf("look: %s, want empty %v", got, m.empty())
				}
			},
		})
	})
}

// A stream that is destroyed with work in it holds the queue until that is done.
func TestQueueOfADestroyedStream(t *testing.T) {
	tell := startQueue(t, buildQueue(t, "address,undefined"))
	for _, step := range []struct{ say, want string }{
		{"launch 0", "ok"}, {"look", "0"}, {"destroy 0", "ok"}, {"look", "0"}, {"launch 0", "ok"}, {"wait 0", "ok"}, {"look", "0"},
	} {
		if got := tell("%s", step.say); got != step.want {
			t.Errorf("%s: %s, want %s", step.say, got, step.want)
		}
	}
}

// A launch that is interrupted before it is counted does not make its kernel look short.
func TestQueueOfAnInterruptedLaunch(t *testing.T) {
	tell := startQueue(t, buildQueue(t, "address,undefined"))
	if got := tell("interrupted 0"); got != "1" {
		t.Errorf("got %s, want 1", got)
	}
}

// Threads that launch, look and wait at once, in two contexts, leave an empty queue,
// and under ThreadSanitizer no race.
func TestQueueOfThreads(t *testing.T) {
	for _, sanitizer := range []string{"address,undefined", "thread"} {
		tell := startQueue(t, buildQueue(t, sanitizer))
		for range 20 {
			if got := tell("storm 200"); got != "1" {
				t.Fatalf("%s: %s", sanitizer, got)
			}
		}
	}
}

// buildQueue builds testdata/lanes.c, which has queue.c in it.
func buildQueue(t testing.TB, sanitizer string) string {
	path, err := cc.Build(t.Context(), needCompiler(t), cc.Product{Name: "lanes", Sources: []fs.FS{hook.Sources(), os.DirFS("testdata")}, Args: []string{
		"-O1", "-g", "-std=gnu11", "-Wall", "-Werror", "-fsanitize=" + sanitizer, "-fno-sanitize-recover=all", "-pthread", "lanes.c",
	}})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// startQueue runs the program for one test and returns what tells it a command.
func startQueue(t interface {
	Fatal(...any)
	Cleanup(func())
}, program string) func(format string, args ...any) string {
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	})
	lines := bufio.NewReader(out)
	return func(format string, args ...any) string {
		fmt.Fprintf(in, format+"\n", args...)
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
}
