package hook_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/foretime/foretime/deft/internal/session"
)

// outside runs ten launches with a value of DEFT_SESSION and wants them to go
// through, and at most one line on stderr.
func (w *world) outside(t interface{ Errorf(string, ...any) }, value string, warns bool) {
	cmd := w.command(w.clients.Client, "v2", "10")
	cmd.Env = append(cmd.Env, "DEFT_SESSION="+value)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	lines := strings.Count(stderr.String(), "\n")
	if err != nil || string(out) != "launches 10\n" || lines > 1 || warns != (lines == 1) {
		t.Errorf("DEFT_SESSION=%.80q: %v, stdout %q, stderr %q", value, err, out, stderr.String())
	}
}

// Without a session, or with something that is none, a program runs as if the
// library were absent, with one warning.
func TestNoSession(t *testing.T) {
	w := newWorld(t, session.Options{})
	file := func(name string, body []byte, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, body, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := make([]byte, len(mapSession(t, w.session)))
	valid := bytes.Clone(mapSession(t, w.session))
	older, other := bytes.Clone(valid), bytes.Clone(valid)
	older[8], other[0] = 0, 'd'
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		value string
		warns bool
	}{
		{"", false},
		{"/proc/1/fd/99999", true},
		{"/nonesuch", true},
		{strings.Repeat("x", 5000), true},
		{w.session.Path(), false},
		{t.TempDir(), true},
		{"/dev/null", true},
		{fifo, true},
		{file("empty", nil, 0o600), true},
		{file("short", whole[:1000], 0o600), true},
		{file("blank", whole, 0o600), true},
		{file("valid", valid, 0o600), false},
		{file("older", older, 0o600), true},
		{file("other", other, 0o600), true},
		{file("open to all", valid, 0o644), true},
	} {
		w.outside(t, tt.value, tt.warns)
	}
}

// A session of the right version may hold anything: the program goes on.
func TestHostileSession(t *testing.T) {
	w := newWorld(t, session.Options{})
	good := mapSession(t, w.session)
	start := bytes.Clone(good)
	rapid.Check(t, func(rt *rapid.T) {
		body := bytes.Clone(start)
		for range rapid.IntRange(0, 60).Draw(rt, "words") {
			offset := 4 * rapid.IntRange(14, len(body)/4-1).Draw(rt, "offset") // past the sizes
			if rapid.Bool().Draw(rt, "in the first slots") {
				offset = 4 * rapid.IntRange(14, 300).Draw(rt, "offset")
			}
			word := rapid.OneOf(rapid.SampledFrom([]uint32{0, 1, 2, 3, 4, 0xffffffff, 0x7fffffff, 0x80000000}), rapid.Uint32()).Draw(rt, "word")
			binary.LittleEndian.PutUint32(body[offset:], word)
		}
		path := filepath.Join(t.TempDir(), "hostile")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			rt.Fatal(err)
		}
		// Without an owner that beats nobody is obeyed for long: at most ten
		// seconds where the file asks for such patience, so ask for little.
		binary.LittleEndian.PutUint64(body[88:], uint64(time.Millisecond))
		if err := os.WriteFile(path, body, 0o600); err != nil {
			rt.Fatal(err)
		}
		cmd := w.command(w.clients.Client, "v2", "10")
		cmd.Env = append(cmd.Env, "DEFT_SESSION="+path)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "launches 10\n") {
			rt.Fatalf("%v: %s", err, out)
		}
		os.Remove(path)
	})
}

// Neither does a session that another process scribbles over meanwhile stop or
// crash a program.
func TestScribbledSession(t *testing.T) {
	w := newWorld(t, session.Options{})
	data := mapSession(t, w.session)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		random := rand.New(rand.NewPCG(1, 2))
		for {
			select {
			case <-stop:
				return
			default:
				binary.LittleEndian.PutUint32(data[4*(14+random.IntN(400)):], random.Uint32()>>(random.IntN(4)*10))
			}
		}
	})
	defer wg.Wait()
	defer close(stop)
	for _, way := range []string{"v2", "threads", "graph", "capture", "memory", "copies", "events", "hostfunc"} {
		out, err := w.command(w.clients.Client, way, "30").CombinedOutput()
		// A quota may have been scribbled: then memory is out, or the driver's memory is
		// another before and after.
		quota := strings.Contains(string(out), "driver error 2") || strings.Contains(string(out), "bytes missing after all was freed")
		if err != nil && !quota {
			t.Errorf("%s: %v: %s", way, err, out)
		}
	}
}

// A member that scribbles over its own slot while it stands at the gate, or over
// rows that nobody has, holds up nobody: it goes on, and the rows vanish once it has ended.
func TestScribbledSlot(t *testing.T) {
	const header, slot, claim, state, pidns = 256, 384, 0, 8, 24
	for _, words := range []struct{ claim, pidns uint64 }{{1 << 40, 0}, {0xdeadbeefdeadbeef &^ (1 << 63), 0xdeadbeef}} {
		w := newWorld(t, session.Options{OwnerTimeout: time.Hour})
		data := mapSession(t, w.session)
		p := w.probe()
		p.do("launch 3")
		c := w.client(p)
		w.session.Direct(c.Slot, session.Directive{Closed: true})
		p.send("launch 1")
		w.eventually("stopped", func() bool { return w.client(p).Drained })
		for _, row := range []int{c.Slot, 7} {
			at := data[header+row*slot:]
			binary.LittleEndian.PutUint64(at[claim:], words.claim)
			binary.LittleEndian.PutUint32(at[state:], uint32(session.Active))
			if words.pidns != 0 {
				binary.LittleEndian.PutUint64(at[pidns:], words.pidns)
			}
		}
		beating := time.NewTicker(time.Second) // the owner is there all the time
		go func() {
			for range beating.C {
				w.session.Beat()
			}
		}()
		if got := p.answer(); got != "ok" {
			t.Error(got)
		}
		beating.Stop()
		p.do("launch 100")
		p.exit()
		w.eventually("the rows vanish", func() bool { w.session.Reap(); return len(w.session.Clients()) == 0 })
	}
}

func mapSession(t *testing.T, s *session.Session) []byte {
	f, err := os.OpenFile(s.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, session.Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(data) })
	return data
}
