package task

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var samples = map[Format]string{
	FormatCSV: LogHeader + "0,0,local,e,8 8,0,,0.1,,0.2,,,\n",
	FormatTab: "1\t2709792\t2599.966000\t0.418714\t0.000000\n167.9\t0.0\n",
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

// Tables of loads and what is neither are refused with the reason; sizes are no frequencies and
// no run times.
func TestNoTasks(t *testing.T) {
	numbered := "0\t44544\t29696\t240\t760\t0.0977\n1\t29696\t44544\t880\t480\t0.3573\n"
	for name, tt := range map[string]struct{ text, want string }{
		"windows of loads":            {"0.031,0.073,0.040\n0.073,0.040,0.071\n0.040,0.071,0.036\n", "but a table of iteration loads"},
		"numbered iterations":         {numbered, "but a table of iteration loads"},
		"their columns named":         {"iteration,load\n0,0.5\n1,0.75\n", "but a table of iteration loads"},
		"a column of loads":           {"0.5\n0.75\n0.5\n", "but a table of iteration loads"},
		"a gap in whole iterations":   {"1 10\n3 11\n4 12\n", "nor a table of iteration loads"},
		"three numbers":               {"0.1,0.2,0.3\n", "nor a table of iteration loads"},
		"words":                       {"hello world\n", "nor a table"},
		"sizes where run times stand": {"7\t44544\t29696\t240\t760\t0.0977\n3\t29696\t44544\t880\t480\t0.3573\n", "nor a table"},
		"sizes where clocks stand":    {"7\t44544\t57536\t0.5\t0.0977\n3\t29696\t12992\t0.25\t0.3573\n", "nor a table"},
	} {
		_, err := ReadLog(strings.NewReader(tt.text), "log", Options{Format: FormatAuto})
		if !errors.Is(err, ErrNoTasks) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// A number that cannot be a clock is an unknown one in our log, and no task in the other.
func TestFrequencies(t *testing.T) {
	for text, want := range map[string]float64{"2599.9": 2599.9, "100": 100, "10000": 10_000, "99": 0, "1.5": 0, "12992": 0} {
		l, err := ReadLog(strings.NewReader(LogHeader+"0,0,local,e,8,0,"+text+",0.1,,0.2,,,\n"), "log", Options{})
		if err != nil || len(l.Rows) != 1 || (want == 0) != (l.Rows[0].MHz == nil) || want > 0 && *l.Rows[0].MHz != want {
			t.Errorf("%s MHz: %+v (%v)", text, l, err)
		}
	}
}

func TestReadLoads(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []float64
		err  string
	}{
		"windows":            {"1,2,3\n2,3.0,1.5\n3,1.50,2.5\n", []float64{1, 2, 3, 1.5, 2.5}, ""},
		"numbered":           {"5 80 40 0.5\n6 40 80 0.75\n", []float64{0.5, 0.75}, ""},
		"whole loads":        {"5,80\n6,40\n7,60\n", []float64{80, 40, 60}, ""},
		"named whole loads":  {"iteration load\n5 80\n6 40\n", []float64{80, 40}, ""},
		"loads of a count":   {"iteration\tload\n0\t1\n1\t2\n2\t3\n", []float64{1, 2, 3}, ""},
		"one column":         {"load\n1\n2\n", []float64{1, 2}, ""},
		"tasks":              {LogHeader + "0,0,local,e,8,0,,0.1,,0.2,,,\n2,0,local,e,8,0,,0.4,,0.3,,,\n0,0,local,e,8,0,,0.3,,0.2,,,\n", []float64{0.4, 0.3}, ""},
		"the original's log": {"1\t8\t2600\t0.25\t0\n0.5\t0.0\n0.75\t0.4\n", []float64{0.5, 0.75}, ""},
		"a load of nothing":  {"1\n2\n0\n", nil, "load"},
		"a gap far behind":   {strings.Repeat("1\n", 40_000) + "1 2\n", nil, "row 40001 is not the next one"},
		"nor a table":        {"1,2,3\n5,6,7\n", nil, "nor a table"},
		"nothing":            {"", nil, "no usable line"},
	} {
		path := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := ReadLoads(t.Context(), path)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %q", name, err, tt.err)
			}
		} else if err != nil || !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: %v, want %v (%v)", name, got, tt.want, err)
		}
	}
}

func TestNoFormat(t *testing.T) {
	if _, err := ReadLog(strings.NewReader("0.1,0.2,0.3\n"), "log", Options{Format: FormatAuto}); !errors.Is(err, ErrNoTasks) {
		t.Error(err)
	}
	if _, err := ReadLog(strings.NewReader(""), "log", Options{Format: FormatAuto}); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	if _, err := Scan(t.Context(), filepath.Join(t.TempDir(), "none"), Options{Format: FormatAuto}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
