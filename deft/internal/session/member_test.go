package session

import (
	"path/filepath"
	"testing"
)

// A slot that a client has claimed and not yet filled in is not taken from it.
func TestReapLeavesANewClient(t *testing.T) {
	s, err := Create(filepath.Join(t.TempDir(), "session"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Own(); err != nil {
		t.Fatal(err)
	}
	sl := &s.slots[3]
	sl.Claim = uint64(s.self) // a process that lives
	sl.State = Claimed
	if s.Reap(); sl.Claim == 0 {
		t.Error("the slot was taken")
	}
	sl.State = Idle // of another pid namespace, without a lock
	if s.Reap(); sl.Claim != 0 {
		t.Error("a row without a process stays")
	}
}
