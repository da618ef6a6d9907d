package session

import "testing"

// A slot that a client has claimed and not yet filled in is not taken from it.
func TestReapLeavesANewClient(t *testing.T) {
	s, err := Create(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Own(); err != nil {
		t.Fatal(err)
	}
	sl := &s.slots[3]
	sl.Claim.Store(uint64(s.self)) // a process that lives
	sl.State.Store(1)              // DEFT_CLAIMED
	if s.Reap(); sl.Claim.Load() == 0 {
		t.Error("the slot was taken")
	}
	sl.State.Store(uint32(Idle)) // of another pid namespace, without a lock
	if s.Reap(); sl.Claim.Load() != 0 {
		t.Error("a row without a process stays")
	}
}
