package trial

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A process does not die of a full disk under its log, which is named when it
// has ended, and its last words are kept.
func TestLogOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	o := &output{file: full}
	for i := range 3000 {
		if n, err := fmt.Fprintf(o, "line %d\n", i); n < 7 || err != nil {
			t.Fatal(n, err)
		}
	}
	if end := strings.TrimSpace(string(o.last)); !strings.HasSuffix(end, "\nline 2999") || len(end) > keptBytes {
		t.Errorf("%d bytes kept: %q", len(end), end)
	}
	if err := o.close(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "/dev/full") {
		t.Error(err)
	}
}
