package file_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foretime/foretime/shared/file"
)

// collect returns handlers for a log whose first line is "begin".
func collect(to *[]string) file.Lines {
	return file.Lines{
		Start: func(first []byte) error {
			if string(first) != "begin" {
				return fmt.Errorf("%.20q", first)
			}
			return nil
		},
		Read: func(line []byte) error {
			if string(line) == "bad" {
				return errors.New("bad")
			}
			*to = append(*to, string(line))
			return nil
		},
	}
}

// opened opens a log and returns its lines.
func opened(t *testing.T, path string) (*file.Log, []string) {
	t.Helper()
	var lines []string
	l, err := file.OpenLog(path, collect(&lines))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, lines
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, lines := opened(t, path)
	if l.Torn != 0 || lines != nil {
		t.Errorf("a new log has %q and %d torn bytes", lines, l.Torn)
	}
	err := errors.Join(l.Append([]byte("begin")), l.Append([]byte("two\n")), l.AppendJSON(map[string]string{"a": "b"}), l.Append([]byte("3\n4")), l.Close())
	if err != nil {
		t.Fatal(err)
	}
	holds(t, path, "begin\ntwo\n{\"a\":\"b\"}\n3\n4\n", 1)
	want := []string{"begin", "two", `{"a":"b"}`, "3", "4"}
	if _, lines := opened(t, path); !slices.Equal(lines, want) {
		t.Errorf("read %q, want %q", lines, want)
	}
	var read []string // while the process has it open
	if torn, err := file.ReadLog(path, collect(&read)); err != nil || torn != 0 || !slices.Equal(read, want) {
		t.Errorf("read %q, %d, %v", read, torn, err)
	}
}

// TestLogCutAnywhere cuts a log at every byte after its first line.
func TestLogCutAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	const text = "begin\ntwo\r\n\nthree\n"
	for cut := len("begin\n"); cut <= len(text); cut++ {
		if err := os.WriteFile(path, []byte(text[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		whole := text[:strings.LastIndexByte(text[:cut], '\n')+1]
		want := strings.Split(strings.ReplaceAll(strings.TrimSuffix(whole, "\n"), "\r", ""), "\n")
		want[len(want)-1] = strings.TrimSuffix(want[len(want)-1], "\r")
		var read []string
		if torn, err := file.ReadLog(path, collect(&read)); err != nil || torn != cut-len(whole) || !slices.Equal(read, want) {
			t.Errorf("cut at %d: read %q, %d torn, %v", cut, read, torn, err)
		}
		holds(t, path, text[:cut], 1)
		l, lines := opened(t, path)
		if l.Torn != cut-len(whole) || !slices.Equal(lines, want) {
			t.Errorf("cut at %d: %q, %d torn bytes, want %q", cut, lines, l.Torn, want)
		}
		if err := errors.Join(l.Append([]byte("next")), l.Close()); err != nil {
			t.Fatal(err)
		}
		holds(t, path, whole+"next\n", 1)
	}
}

// TestLogOfOthers checks that files that are not logs are unchanged, byte for byte.
func TestLogOfOthers(t *testing.T) {
	random := make([]byte, 99_000)
	for i := range random {
		random[i] = byte(rand.IntN(256))
	}
	for name, text := range map[string]string{
		"binary":            string(random),
		"without line feed": strings.Repeat("\x00\x01", 500),
		"another text":      "a,b\n1,2\n3,",
		"blank line first":  "\nbegin\n",
		"torn first line":   "begi",
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var lines []string
		if _, err := file.OpenLog(path, collect(&lines)); !errors.Is(err, file.ErrForeign) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: opened: %v", name, err)
		}
		if _, err := file.ReadLog(path, collect(&lines)); !errors.Is(err, file.ErrForeign) {
			t.Errorf("%s: read: %v", name, err)
		}
		holds(t, path, text, 1)
	}
	if _, err := file.ReadLog("/dev/zero", file.Lines{}); !errors.Is(err, file.ErrForeign) || !errors.Is(err, file.ErrNotRegular) {
		t.Errorf("a device: %v", err)
	}
	if _, err := file.OpenLog("/dev/null", file.Lines{}); !errors.Is(err, file.ErrForeign) {
		t.Errorf("a device: %v", err)
	}
}

func TestLogBadLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	const text = "begin\ntwo\nbad\nto"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	if _, err := file.OpenLog(path, collect(&lines)); err == nil || err.Error() != path+":3: bad" {
		t.Errorf("got %v", err)
	}
	holds(t, path, text, 1)
}

func TestLogOfTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	first, _ := opened(t, path)
	if _, err := file.OpenLog(path, file.Lines{}); !errors.Is(err, file.ErrInUse) || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("a second writer: %v", err)
	}
	if err := errors.Join(first.Append([]byte("begin")), first.Close()); err != nil {
		t.Fatal(err)
	}
	if _, lines := opened(t, path); !slices.Equal(lines, []string{"begin"}) {
		t.Errorf("after the first: %q", lines)
	}
}

// TestLogCutAtBirth checks that a first line that was never finished is cut off
// only if it agrees with Begin.
func TestLogCutAtBirth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for text, ours := range map[string]bool{`{`: true, `{"at":`: true, `{"at":1,"ki`: true, `{"ta`: false, "\x00": false, "": true} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := file.OpenLog(path, file.Lines{Begin: `{"at":`})
		if ours != (err == nil) || !ours && !errors.Is(err, file.ErrForeign) {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil {
			holds(t, path, text, 1)
			continue
		}
		if err := errors.Join(l.Append([]byte(`{"at":2}`)), l.Close()); err != nil || l.Torn != len(text) {
			t.Errorf("%q: %d torn bytes, %v", text, l.Torn, err)
		}
		holds(t, path, `{"at":2}`+"\n", 1)
	}
}
