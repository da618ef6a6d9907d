package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/foretime/foretime/deft/internal/session"
)

// A folder that is not this user's alone, or whose paths nobody could use, holds no
// session, and the error says why.
func TestAt(t *testing.T) {
	parent, err := os.MkdirTemp("", "d") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	in := func(name string) string { return filepath.Join(parent, name) }
	if err := errors.Join(os.Mkdir(in("open"), 0o755), os.Mkdir(in("own"), 0o700), os.Symlink("own", in("link")), os.WriteFile(in("file"), nil, 0o600), os.Mkdir(in("his"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(in("his"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		dir, why string
		folder   bool // another would do
	}{
		{"own", "", false},
		{"new", "", false},
		{"open", "has mode 0755", true},
		{"link", "is a symbolic link", true},
		{"file", "is not a directory", true},
		{"none/below", "no such file", true},
		{strings.Repeat("x", 100), "a socket's at most 107", false},
		{"his", "belongs to user 65534, not to user 0", true},
	} {
		if c.dir == "his" && os.Geteuid() != 0 {
			continue
		}
		_, err := NewPlace(in(c.dir), "x")
		if (err == nil) != (c.why == "") || err != nil && (!errors.Is(err, ErrPlace) || errors.Is(err, ErrDirectory) != c.folder || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s: %v, want %q", c.dir, err, c.why)
		}
	}
	if _, err := NewPlace(in("own"), "../x"); !errors.Is(err, ErrPlace) || errors.Is(err, ErrDirectory) {
		t.Errorf("a name that leads elsewhere: %v", err)
	}
}

// A user's file that is called like a session is neither replaced nor removed; what
// an owner left that was killed at its birth is.
func TestForeignFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		stays      bool
	}{
		{"notes", "my notes\n", true},
		{"as large as a session", strings.Repeat("x", session.Size), true},
		{"empty", "", false},
		{"all zero", strings.Repeat("\x00", session.Size), false},
		{"zero and larger", strings.Repeat("\x00", session.Size+1), true},
	} {
		at := place(t)
		if err := os.WriteFile(at.Session(), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Start(at, Settings{})
		if err == nil {
			if err := errors.Join(d.listener.Close(), d.session.Close(), d.lock.Close()); err != nil {
				t.Error(err)
			}
		}
		if errors.Is(err, ErrForeign) != c.stays {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := os.WriteFile(at.Session(), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := at.Clean(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Stat(at.Session()); (err == nil) != c.stays {
			t.Errorf("%s: there %v, want %v", c.name, err == nil, c.stays)
		}
	}
}

// The manifest's pods mount the folder that the image's user makes, as that user, and
// only root copies the library to the host.
func TestManifest(t *testing.T) {
	user := ""
	f, err := os.Open(filepath.Join("..", "..", "..", "tools", "release", "images", "deft.Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if of, ok := strings.CutPrefix(s.Text(), "USER "); ok {
			user, _, _ = strings.Cut(of, ":")
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "kubernetes.yaml"))
	if err != nil || user == "" {
		t.Fatal(err, user)
	}
	mounted := regexp.MustCompile(`path: /dev/shm/(deft-\d+)`).FindAllStringSubmatch(string(text), -1)
	if len(mounted) != 1 || mounted[0][1] != "deft-"+user {
		t.Errorf("mounted %v, want deft-%s", mounted, user)
	}
	if n := strings.Count(string(text), fmt.Sprintf("runAsUser: %s,", user)); n != 2 {
		t.Errorf("%d of owner and pod run as user %s", n, user)
	}
	init := regexp.MustCompile(`(?s)initContainers:(.*?)\n      containers:`).FindStringSubmatch(string(text))
	if init == nil || !strings.Contains(init[1], "runAsUser: 0") {
		t.Errorf("the container that writes to the host's folder does not run as root: %q", init)
	}
}
