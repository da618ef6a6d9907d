package measurement

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foretime/foretime/shared/file"
)

func TestSeconds(t *testing.T) {
	for text, want := range map[string]float64{
		"1.5": 1.5, "0": 0, " 2e-05 ": 2e-5, "00:00:02.712345": 2.712345, "01:02:03": 3723, "10:00:00.5": 36000.5, "0:00:00.000100": 1e-4,
	} {
		var s Seconds
		if err := s.UnmarshalText([]byte(text)); err != nil || !s.Known || math.Abs(s.Value-want) > 1e-12 {
			t.Errorf("%q: %v, %v; want %v", text, s, err, want)
		}
	}
	var s Seconds
	if err := s.UnmarshalText(nil); err != nil || s.Known {
		t.Errorf("empty: %v, %v", s, err)
	}
	for _, text := range []string{"x", "-1", "NaN", "Inf", "1:2", "1:2:3:4", "00:60:00", "00:00:60", "-1:00:00", "1.5:00:00", "::", "00:00:", "00:00:-1"} {
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, s)
		}
	}
}

func FuzzSeconds(f *testing.F) {
	for _, text := range []string{"", "1.5", "00:00:02.712345", "1:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, back Seconds
		if s.UnmarshalText([]byte(text)) != nil {
			return
		}
		again, err := s.MarshalText()
		if err != nil || back.UnmarshalText(again) != nil || back != s {
			t.Errorf("%q: %v is written as %q and read as %v, %v", text, s, again, back, err)
		}
	})
}

func TestSetting(t *testing.T) {
	s := Setting{Device: "jetson", Threads: 2, CPUs: []int{0, 1}, Stress: true}
	if got := s.String(); got != "jetson-t2-pin0.1-stress" || s.Check() != nil {
		t.Errorf("%s, %v", got, s.Check())
	}
	for _, bad := range []Setting{{}, {Device: "phone", Threads: 1}, {Device: "jetson"}} {
		if err := bad.Check(); !errors.Is(err, ErrSetting) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestModelFamily(t *testing.T) {
	for name, want := range map[string]string{"resnet18": "resnet", "VGG-16": "vgg", "mobilenetv2_w0.5": "mobilenetv", "": "", "7b": "7b", "lenet": "lenet"} {
		if got := ModelFamily(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// Whatever was written before a process was killed, what follows can be read.
func TestTableSurvivesAnyCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "t.csv")
		written, err := encode([]Kernel{{ModelName: "a,b"}, {ModelName: strings.Repeat("long", 20)}, {ModelName: "d"}}, false)
		if err != nil {
			rt.Fatal(err)
		}
		cut := rapid.IntRange(0, len(written)).Draw(rt, "cut")
		if err := os.WriteFile(path, written[:cut], 0o644); err != nil {
			rt.Fatal(err)
		}
		table, err := OpenTable[Kernel](path)
		if header := bytes.IndexByte(written, '\n'); cut > 0 && cut <= header { // not known to be ours
			if same, _ := os.ReadFile(path); !errors.Is(err, file.ErrForeign) || !bytes.Equal(same, written[:cut]) {
				rt.Errorf("cut at %d: %v, and the file is %q", cut, err, same)
			}
			return
		}
		if err != nil {
			rt.Fatalf("cut at %d: %v", cut, err)
		}
		had := len(table.Rows)
		if err := errors.Join(table.Add(Kernel{ModelName: "new"}), table.Close()); err != nil {
			rt.Fatal(err)
		}
		if whole, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(whole), "\n") {
			rt.Errorf("cut at %d: the file ends in %q", cut, whole[max(0, len(whole)-20):])
		}
		back, err := OpenTable[Kernel](path)
		if err != nil || len(back.Rows) != had+1 || back.Rows[had].ModelName != "new" || had != max(0, strings.Count(string(written[:cut]), "\n")-1) {
			rt.Errorf("cut at %d: %d rows, then %d: %v", cut, had, len(back.Rows), err)
		}
		back.Close()
	})
}

func TestOtherColumns(t *testing.T) {
	for _, text := range []string{"a,b\n1,2\n", "a,b\n1,2\n3", "\x7fELF\x00\x01\nzz\n", "PK\x03\x04"} {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenTable[Row](path); !errors.Is(err, file.ErrForeign) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
		if same, err := os.ReadFile(path); err != nil || string(same) != text {
			t.Errorf("%q became %q, %v", text, same, err)
		}
	}
}

// Files of the original collector lack our columns; bad and missing times are
// told.
func TestReadOriginal(t *testing.T) {
	dir := t.TempDir()
	text := "conv_layers,device,device_load_percent,execution_time,model_name,total_parameters\n" +
		"5,raspberrypi,20,00:00:02.500000,alexnet,60965228\n5,raspberrypi,,,alexnet,60965228\n5,raspberrypi,20,soon,alexnet,60965228\n"
	if err := os.WriteFile(filepath.Join(dir, "alexnet.onnx-raspberrypi.csv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := ReadDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Rows) != 1 || d.Missing != 1 || d.Counts.Dropped != 1 || len(d.Diagnostics) != 1 || d.Diagnostics[0].Line != 4 {
		t.Errorf("%+v", d)
	}
	if r := d.Rows[0]; r.Time != NewSeconds(2.5) || r.Setting != "raspberrypi" || r.Family != "alexnet" || r.Threads != nil || r.ConvMACs != nil {
		t.Errorf("%+v", r)
	}
	if _, err := ReadDir(t.Context(), t.TempDir()); !errors.Is(err, ErrNoRows) {
		t.Errorf("an empty folder: %v", err)
	}
}
