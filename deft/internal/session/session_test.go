package session

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func create(t testing.TB, o Options) *Session {
	t.Helper()
	s, err := Create(filepath.Join(t.TempDir(), "session"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestDefaults(t *testing.T) {
	s := create(t, Options{})
	if s.IdleAfter() != 50*time.Millisecond || !s.OwnerAlive() {
		t.Errorf("idle after %v, alive %v", s.IdleAfter(), s.OwnerAlive())
	}
}

func TestOpen(t *testing.T) {
	s := create(t, Options{})
	again, err := Open(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if !again.IsAt(s.Path()) {
		t.Errorf("another session at %s", again.Path())
	}
	if err := again.Own(); err != nil { // the same process
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "session")
	f, err := Create(path, Options{OwnerTimeout: time.Minute, IdleAfter: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Size() != size {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := Create(path, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	g, err := Open(path)
	if err != nil || g.IdleAfter() != time.Hour || f.Path() != path {
		t.Errorf("%v", err)
	}
	g.Close()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if taken, err := Open(path); err != nil || taken.OwnerAlive() || taken.Own() != nil {
		t.Errorf("a session without an owner: %v", err)
	} else {
		taken.Close()
	}
}

// What is no session of this version, or could be changed by others, is not
// mapped.
func TestOpenRefuses(t *testing.T) {
	good := create(t, Options{})
	body := make([]byte, size)
	copy(body, good.data)
	patch := func(offset uintptr, value uint64, bytes int) []byte {
		b := append([]byte(nil), body...)
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], value)
		copy(b[offset:], word[:bytes])
		return b
	}
	var h header
	tests := []struct {
		name string
		body []byte
		mode fs.FileMode
		want error
	}{
		{"good", body, 0o600, nil},
		{"longer", append(append([]byte(nil), body...), 0), 0o600, nil},
		{"empty", nil, 0o600, ErrNotSession},
		{"short", body[:size-1], 0o600, ErrNotSession},
		{"no magic", patch(0, 0, 8), 0o600, ErrNotSession},
		{"older", patch(unsafe.Offsetof(h.version), 0, 4), 0o600, ErrVersion},
		{"newer", patch(unsafe.Offsetof(h.version), Version+1, 4), 0o600, ErrVersion},
		{"other slots", patch(unsafe.Offsetof(h.slotCount), 1<<31, 4), 0o600, ErrVersion},
		{"other size", patch(unsafe.Offsetof(h.size), 1<<62, 8), 0o600, ErrVersion},
		{"readable by the group", body, 0o640, ErrUnsafe},
		{"writable by others", body, 0o602, ErrUnsafe},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			if err := os.WriteFile(path, tt.body, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path)
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if err == nil {
				s.Close()
			}
		})
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := Open("/nonesuch"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestOwnership(t *testing.T) {
	s := create(t, Options{})
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Skip("needs sleep: install with apt-get install coreutils")
	}
	start, life := startTicks("/proc", other.Process.Pid)
	who := identity(other.Process.Pid, start)
	if life != running || !who.Alive() || who.PID() != other.Process.Pid || identity(other.Process.Pid, start+1).Alive() {
		t.Errorf("identity %x", who)
	}
	s.header.owner.Store(uint64(who))
	if err := s.Own(); !errors.Is(err, ErrOwned) {
		t.Errorf("took it from a living owner: %v", err)
	}
	s.Disown() // is not the owner: nothing happens
	if !s.OwnerAlive() {
		t.Error("disowned another")
	}
	s.header.ownerHeartbeatNs.Store(uint64(Now() - int64(time.Hour)))
	if s.OwnerAlive() {
		t.Error("an owner that does not beat is alive")
	}
	s.header.ownerHeartbeatNs.Store(uint64(Now()))
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Killed and not reaped: a zombie.
	for end := time.Now().Add(30 * time.Second); who.Alive() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if s.OwnerAlive() {
		t.Error("a zombie is alive")
	}
	_ = other.Wait()
	if err := s.Own(); err != nil || !s.OwnerAlive() {
		t.Errorf("after its death: %v", err)
	}
}

func TestWait(t *testing.T) {
	s := create(t, Options{})
	bell := s.Bell()
	if _, rang := s.Wait(bell, 0); rang {
		t.Error("rang without a ring")
	}
	s.Ring()
	if next, rang := s.Wait(bell, time.Hour); !rang || next != bell+1 { // returns at once
		t.Errorf("got %d, %v", next, rang)
	}
	go func() {
		for s.header.listening.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		s.Ring()
	}()
	if _, rang := s.Wait(bell+1, time.Hour); !rang {
		t.Error("not woken")
	}
}

// A client that died between its claim and its registration holds its slot
// until it is reaped, and is not reported: it was nobody yet.
func TestReapHalfRegistered(t *testing.T) {
	s := create(t, Options{})
	dead := uint64(identity(1<<22-1, 7))
	for _, state := range []State{Free, Claimed} {
		s.slots[0].Claim = dead
		s.slots[0].State = state
		s.slots[0].Pidns = pidNamespace()
		if gone := s.Reap(); len(gone) != 0 || s.slots[0].Claim != 0 {
			t.Errorf("%v: gone %+v, claim %x", state, gone, s.slots[0].Claim)
		}
	}
}

func TestParseStat(t *testing.T) {
	tail := " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21"
	tests := []struct {
		stat  string
		start uint64
		alive bool
	}{
		{"12 (name)" + tail, 4242, true},
		{"12 (a) b (c))" + tail, 4242, true},
		{"12 (name)" + strings.Replace(tail, "S", "Z", 1), 0, false},
		{"12 (name)" + strings.Replace(tail, "S", "X", 1), 0, false},
		{"12 (name) S 1 2", 0, false},
		{"12 (name)" + strings.Replace(tail, "4242", "x", 1), 0, false},
		{"", 0, false},
		{")", 0, false},
	}
	for _, tt := range tests {
		if start, alive := parseStat([]byte(tt.stat)); start != tt.start || alive != tt.alive {
			t.Errorf("%q: %d, %v", tt.stat, start, alive)
		}
	}
	if self, err := Self(); err != nil || !self.Alive() || self.PID() != os.Getpid() {
		t.Errorf("%v, %v", self, err)
	}
	if Identity(0).Alive() {
		t.Error("nobody is alive")
	}
}

func TestStateNames(t *testing.T) {
	for state, want := range map[State]string{Free: "free", Left: "left", Left + 1: "unknown"} {
		if state.String() != want {
			t.Errorf("%d: %s", state, state)
		}
	}
}

// Whatever another process wrote into a session, reading it does not fail.
func FuzzOpen(f *testing.F) {
	s, err := Create(filepath.Join(f.TempDir(), "session"), Options{})
	if err != nil {
		f.Fatal(err)
	}
	s.slots[0].Claim = s.header.owner.Load()
	s.slots[0].State = Active
	f.Add(append([]byte(nil), s.data...))
	f.Add(append([]byte(nil), s.data[:300]...))
	f.Add([]byte("DEFTSES"))
	s.Close()
	f.Fuzz(func(t *testing.T, body []byte) {
		path := filepath.Join(t.TempDir(), "session")
		whole := make([]byte, size)
		copy(whole, body)
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			return
		}
		defer s.Close()
		for _, c := range s.Clients() {
			if c.State < Idle || c.State > Left || c.Weight == 0 || c.Queued > c.Launches || len(c.Name) > 3*nameSize {
				t.Errorf("%+v", c)
			}
			s.EndIdle(c.Slot, c.Job)
		}
		_ = s.OwnerAlive()
		if err := s.Own(); err != nil {
			return
		}
		s.Beat()
		s.Reap()
		s.Wait(s.Bell()-1, 0)
	})
}

// TestUnreadableProcess: who cannot be read is not taken for dead, or a live client would
// lose its slot where the owner has no file descriptor left.
func TestUnreadableProcess(t *testing.T) {
	proc := t.TempDir()
	who := identity(7, 100)
	if !who.isAlive(proc) {
		t.Error("without /proc it is dead")
	}
	if err := os.MkdirAll(filepath.Join(proc, "self"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(proc, "self", "stat"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if who.isAlive(proc) {
		t.Error("a process that is not listed is alive")
	}
	if err := os.MkdirAll(filepath.Join(proc, "7", "stat"), 0o755); err != nil { // a folder cannot be read
		t.Fatal(err)
	}
	if !who.isAlive(proc) {
		t.Error("a process that cannot be read is dead")
	}
}
