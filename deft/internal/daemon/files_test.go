package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/foretime/foretime/deft/internal/session"
	"github.com/foretime/foretime/deft/internal/testkit/simcudatest"
)

// The owner whose files are removed says so and is found again, with the session that its
// programs have: no second one comes into being.
func TestRemovedFiles(t *testing.T) {
	at := place(t)
	noticed := make(chan error, 10)
	run(t, at, Settings{Notice: func(err error) { noticed <- err }})
	s, err := session.Open(at.Session())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := simcudatest.Join(s, "train", 0, 1); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{at.socket(), at.Session(), filepath.Dir(at.Session())} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := <-noticed; !errors.Is(err, ErrRemoved) {
			t.Error(err)
		}
		if now, err := at.Status(); err != nil || len(now.Clients) != 1 {
			t.Errorf("%+v, %v", now, err)
		}
		again, err := session.Open(at.Session())
		if err != nil {
			t.Fatal(err)
		}
		if !s.IsAt(at.Session()) {
			t.Error("another session")
		}
		again.Close()
		if _, err := Start(at, Settings{}); !errors.Is(err, ErrOwned) {
			t.Errorf("a second owner: %v", err)
		}
	}
}

// Two owners of one name: the first says that the other took its files.
func TestReplacedFiles(t *testing.T) {
	at := place(t)
	noticed := make(chan error, 10)
	run(t, at, Settings{Notice: func(err error) { noticed <- err }})
	os.RemoveAll(filepath.Dir(at.Session()))
	if _, err := NewPlace(at.dir, at.name); err != nil {
		t.Fatal(err)
	}
	lock, err := at.lock()
	if errors.Is(err, ErrOwned) {
		t.Skip("skipped: the owner was quicker")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := <-noticed; !errors.Is(err, ErrOwned) {
		t.Error(err)
	}
}

// A link to the session of a process leads to it while that process runs.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	s, err := session.Create(filepath.Join(dir, "x"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	link := filepath.Join(dir, "link")
	if err := s.LinkAt(link); err != nil {
		t.Fatal(err)
	}
	again, err := session.Open(link)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if err := os.Symlink("/proc/1/fd/99999", filepath.Join(dir, "ended")); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Open(filepath.Join(dir, "ended")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a link to a process that ended: %v", err)
	}
}

// A full session refuses another program before it starts.
func TestFullSession(t *testing.T) {
	at := place(t)
	run(t, at, Settings{})
	s, err := session.Open(at.Session())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range session.Slots - 1 {
		if _, err := simcudatest.Join(s, "train", 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	last, err := at.Attach()
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	if _, err := simcudatest.Join(s, "train", 0, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := at.Attach(); !errors.Is(err, ErrFull) {
		t.Errorf("the 257th: %v", err)
	}
}
