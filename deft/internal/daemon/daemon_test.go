package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/deft/internal/policy"
	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
)

// patient bounds waits that end when all is well.
const patient = 2 * time.Minute

func eventually(t *testing.T, why string, what func() bool) {
	t.Helper()
	for end := time.Now().Add(patient); !what(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not so: ", why)
		}
	}
}

func place(t *testing.T) Place {
	t.Helper()
	dir, err := os.MkdirTemp("", "d") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	at, err := NewPlace(filepath.Join(dir, "s"), "x")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// run starts a daemon; stopped is what Run returned.
func run(t *testing.T, at Place, s Settings) (stopped chan error) {
	t.Helper()
	d, err := Start(at, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped = make(chan error, 1)
	done := make(chan struct{})
	go func() { defer close(done); stopped <- d.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return stopped
}

func TestControl(t *testing.T) {
	at := place(t)
	stopped := run(t, at, Settings{Policy: "priority"})
	if _, err := Start(at, Settings{}); !errors.Is(err, ErrOwned) {
		t.Errorf("a second owner: %v", err)
	}
	s, err := session.Open(at.Session())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	low, err := simcudatest.Join(s, "low", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	high, err := simcudatest.Join(s, "high", 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "low is bounded beside high", func() bool { return low.Directive().Closed || low.Directive().InFlightTime > 0 })
	must := func(s Status, err error) Status {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	priority, weight, yes, no := int32(2), uint32(5), true, false
	pid := os.Getpid()
	a := must(at.Status())
	if a.Age <= 0 || a.Clients[0].ID == a.Clients[1].ID {
		t.Errorf("the owner is %v s old, clients %+v", a.Age, a.Clients)
	}
	a.Age = 0
	for i := range a.Clients {
		a.Clients[i].ID, a.Clients[i].GateClosed, a.Clients[i].Gate = 0, 0, ""
	}
	want := []Client{
		{PID: pid, Name: "low", Weight: 1, State: "idle"},
		{PID: pid, Name: "high", Priority: 1, Weight: 3, State: "idle"},
	}
	if diff := cmp.Diff(Status{Session: "x", Policy: "priority", Slack: policy.DefaultSlack, Clients: want}, a); diff != "" {
		t.Error(diff)
	}
	high.Begin()
	high.Wait() // a job that leaves the device unused gives it to low
	low.Begin()
	low.Wait()
	eventually(t, "low stops for high", func() bool { return low.Directive().Closed && !high.Directive().Closed })
	must(at.SetClients("low", ClientChange{Priority: &priority}))
	eventually(t, "high stops for low", func() bool { return !low.Directive().Closed && high.Directive().Closed })
	must(at.SetClients("low", ClientChange{Weight: &weight}))
	if a := must(at.Status()); a.Clients[0].Priority != 2 || a.Clients[0].Weight != 5 {
		t.Errorf("%+v", a.Clients)
	}
	must(at.SetClients("low", ClientChange{Paused: &yes}))
	eventually(t, "low is paused, and high does not wait for it", func() bool { return low.Directive().Closed && !high.Directive().Closed })
	eventually(t, "its closed gate is counted", func() bool {
		a := must(at.Status())
		return a.Clients[0].GateClosed > a.Clients[1].GateClosed && a.Clients[0].Gate == "closed" && a.Clients[1].Gate == "open"
	})
	if a := must(at.SetPolicy(PolicyChange{Policy: "none"})); a.Policy != "none" || s.Policy() != "none" || !a.Clients[0].Paused {
		t.Errorf("%+v, announced %q", a, s.Policy())
	}
	must(at.SetClients("low", ClientChange{Paused: &no}))
	eventually(t, "no client is paused", func() bool { return low.Directive() == high.Directive() && !low.Directive().Closed })
	zero := uint32(0)
	for name, request := range map[string]func() (Status, error){
		`unknown policy: "chance" is none of none, priority`: func() (Status, error) { return at.SetPolicy(PolicyChange{Policy: "chance"}) },
		`no program "no/body" in this session`:               func() (Status, error) { return at.SetClients("no/body", ClientChange{Paused: &yes}) },
		`no program "" in this session`:                      func() (Status, error) { return at.SetClients("", ClientChange{Paused: &yes}) },
		`no program "../x" in this session`:                  func() (Status, error) { return at.SetClients("../x", ClientChange{Paused: &yes}) },
		`no program "." in this session`:                     func() (Status, error) { return at.SetClients(".", ClientChange{Paused: &yes}) },
		"weight 0: want 1 or more":                           func() (Status, error) { return at.SetClients("low", ClientChange{Weight: &zero}) },
		"slack 0.5: want a number above 1":                   func() (Status, error) { return at.SetPolicy(PolicyChange{Policy: "fair", Slack: 0.5}) },
		`unknown field "polcy"`:                              func() (Status, error) { return at.request("PUT", "/policy", map[string]string{"polcy": "fair"}) },
		"404 page not found":                                 func() (Status, error) { return at.request("PUT", "/dance", nil) },
		"Method Not Allowed":                                 func() (Status, error) { return at.request("DELETE", "/session", nil) },
	} {
		if _, err := request(); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := at.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := at.Status(); !errors.Is(err, ErrNoDaemon) || strings.Contains(err.Error(), "http") {
		t.Errorf("after its end: %v", err)
	}
	if s.OwnerAlive() || s.OwnerDied() {
		t.Error("the owner has not ended in good order")
	}
	// Clients are left: the next owner takes the session and its policy up.
	next, err := Start(at, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if next.Policy() != "none" || !s.IsAt(at.Session()) {
		t.Errorf("policy %s, or another session", next.Policy())
	}
	low.Leave()
	high.Leave()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := next.Run(done); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(at.path("*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// An owner that lingers ends when nobody is left, and not before.
func TestLinger(t *testing.T) {
	at := place(t)
	stopped := run(t, at, Settings{Linger: 50 * time.Millisecond})
	one, err := at.Attach()
	if err != nil {
		t.Skip("the machine stood still for the time to linger")
	}
	s, err := session.Open(at.Session())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := simcudatest.Join(s, "m", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Close(); err != nil || one.Gone() {
		t.Errorf("given up by itself, and still: gone (%v)", err)
	}
	for range 5 { // needed: its client is there
		if _, err := at.Status(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	m.Leave()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(at.Session()); err == nil {
		t.Error("the session is left")
	}
}

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", "..", "a/b", "-x", "an overlong name of many letters, blanks too"} {
		if _, err := NewPlace(dir, name); !errors.Is(err, ErrPlace) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlace(dir, "x"); !errors.Is(err, ErrPlace) {
		t.Errorf("a folder that others see: %v", err)
	}
	at := place(t)
	if _, err := Start(at, Settings{Policy: "chance"}); !errors.Is(err, policy.ErrUnknown) {
		t.Errorf("a policy that is none: %v", err)
	}
	if left, _ := filepath.Glob(at.path("*")); len(left) > 0 {
		t.Errorf("an owner that did not start left %v", left)
	}
}

// An owner that finds no room for a session leaves nothing.
func TestNoRoom(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		t.Skip("cannot mount a file system: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	at, err := NewPlace(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(at, Settings{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, want %v", err, syscall.ENOSPC)
	}
	if left, _ := filepath.Glob(at.path("*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A request that would change something else than it says is refused.
func TestRequests(t *testing.T) {
	at := place(t)
	run(t, at, Settings{Policy: "priority"})
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", at.socket())
	}}}
	for body, want := range map[string]string{
		"":                               "want a JSON object, the body is empty",
		`{"policy": "fair"} {"slack":2}`: "want one JSON object: more text follows it",
		`{"polcy": "fair"}`:              `json: unknown field "polcy"`,
		`{"policy": "fair", "slack": 1}`: "slack 1: want a number above 1, at most 100",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://deft/policy", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusBadRequest || strings.TrimSpace(string(text)) != want {
			t.Errorf("%q: %d %s, want %s (%v)", body, answer.StatusCode, text, want, err)
		}
	}
	if s, err := at.Status(); err != nil || s.Policy != "priority" {
		t.Errorf("%+v, %v", s, err)
	}
}

// After an owner that is killed, the next one keeps what the user has asked for: the slack
// and the programs that are paused, but not a program that takes the slot of one.
func TestNextOwnerKeepsRequests(t *testing.T) {
	at := place(t)
	first, err := Start(at, Settings{Policy: "priority"})
	if err != nil {
		t.Fatal(err)
	}
	low, err := simcudatest.Join(first.session, "low", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	high, err := simcudatest.Join(first.session, "high", 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	on := true
	if err := errors.Join(first.setClients("low", ClientChange{Paused: &on}), first.setPolicy(PolicyChange{Policy: "fair", Slack: 1.25})); err != nil {
		t.Fatal(err)
	}
	kill := func(d *Daemon) { d.listener.Close(); d.lock.Close() } // the session stays as it is
	paused := func(d *Daemon) (names []string) {
		for _, c := range d.status().Clients {
			if c.Paused {
				names = append(names, c.Name)
			}
		}
		return names
	}
	kill(first)
	next, err := Start(at, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if s := next.status(); s.Policy != "fair" || s.Slack != 1.25 || !cmp.Equal(paused(next), []string{"low"}) {
		t.Errorf("%+v", s)
	}
	kill(next)
	low.Leave()
	if low, err = simcudatest.Join(next.session, "late", 0, 0); err != nil {
		t.Fatal(err)
	}
	if next, err = Start(at, Settings{}); err != nil {
		t.Fatal(err)
	}
	if names := paused(next); len(names) > 0 {
		t.Errorf("paused: %v", names)
	}
	low.Leave()
	high.Leave()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := next.Run(done); err != nil {
		t.Error(err)
	}
}

// What a killed owner left is replaced, and what nobody uses is cleaned away; files of
// a user that are called like a session's are not.
func TestLeftovers(t *testing.T) {
	at := place(t)
	if err := os.WriteFile(at.Session(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"log", "device"} {
		if err := os.WriteFile(at.path(kind), []byte("the user's notes\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Start(at, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if log, err := at.OpenLog(); !errors.Is(err, ErrForeign) {
		t.Errorf("a user's file as log: %v, %v", log, err)
	}
	if err := at.Clean(); err != nil { // it has an owner
		t.Error(err)
	}
	if _, err := os.Stat(at.Session()); err != nil {
		t.Error("the session of a living owner was cleaned away")
	}
	d.listener.Close()
	d.session.Close()
	d.lock.Close()
	if err := at.Clean(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(at.path("*")); !cmp.Equal(left, []string{at.path("device"), at.path("log")}) {
		t.Errorf("left: %v", left)
	}
	if err := os.Remove(at.path("log")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // made, and opened again
		log, err := at.OpenLog()
		if err != nil {
			t.Fatal(err)
		}
		log.Close()
	}
	// A program that outlived the session has made a device, in a directory that has no
	// session, or was killed before it wrote one.
	for _, device := range []struct {
		text string
		size int64
	}{{deviceHeader, 16}, {"", 1 << 25}} {
		if err := errors.Join(os.WriteFile(at.path("device"), []byte(device.text), 0o600), os.Truncate(at.path("device"), device.size)); err != nil {
			t.Fatal(err)
		}
		if err := at.Clean(); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(at.path("*")); len(left) > 0 {
			t.Errorf("%q: left: %v", device.text, left)
		}
	}
	if err := os.WriteFile(at.path("device"), []byte("the user's notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at.removeFiles()
	if left, _ := filepath.Glob(at.path("*")); !cmp.Equal(left, []string{at.path("device")}) {
		t.Errorf("left: %v", left)
	}
}
