package task

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var samples = map[Format]string{
	FormatCSV: LogHeader + "0,0,local,e,8 8,0,,0.1,,0.2,,,,\n",
	FormatMXM: "1\t2709792\t2599.966000\t0.418714\t0.000000\n167.9\t0.0\n",
}

// A log is read whatever it is in and however it is packed.
func TestFormatsAreRecognised(t *testing.T) {
	for format, text := range samples {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		w.Close()
		for name, data := range map[string]string{"plain": text, "gzip": packed.String(), "a blank line first": "\n" + text, "a byte order mark": "\uFEFF" + text} {
			if format == FormatCSV && strings.HasPrefix(name, "a blank") {
				continue
			}
			l, err := ReadLog(strings.NewReader(data), "log", Options{Format: FormatAuto})
			if err != nil || l.Format != format || l.Counts.Used == 0 {
				t.Errorf("%s, %s: %+v (%v)", format, name, l, err)
			}
		}
	}
}

func TestNoFormat(t *testing.T) {
	if _, err := ReadLog(strings.NewReader("0.1,0.2,0.3\n"), "log", Options{Format: FormatAuto}); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	if _, err := ReadLog(strings.NewReader(""), "log", Options{Format: FormatAuto}); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	if _, err := Scan(t.Context(), filepath.Join(t.TempDir(), "none"), Options{Format: FormatAuto}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
