package pair

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recording writes rows as libdeft-trace.so does.
func recording(t *testing.T, rows ...row) string {
	t.Helper()
	raw, err := binary.Append(nil, binary.LittleEndian, rows)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trace.1")
	if err := os.WriteFile(path, append(raw, "torn"...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadRecording(t *testing.T) {
	path := recording(t,
		row{Kind: kindEvents, In: 0, End: 1000},
		// The device is idle: its first event is done 3 us before the launch has come.
		row{Kind: kindLaunch, Kernels: 1, In: 10_000, Call: 11_000, Called: 14_000, Out: 15_000, Begin: 1_000_000, End: 1_024_000},
		// It waits behind the first.
		row{Kind: kindLaunch, Kernels: 7, In: 18_000, Call: 19_000, Called: 22_000, Out: 23_000, Begin: 1_024_000, End: 1_035_000},
		row{Kind: kindLaunch, Kernels: 1, In: 60_000, Call: 61_000, Called: 62_000, Out: 63_000}, // the driver does not say
		row{Kind: kindWait, In: 24_000, Out: 50_000},                                             // written before the launch that came after it was done
	)
	got, err := ReadRecording(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []Launch{
		{Gap: callCost, Time: 20 * time.Microsecond, Kernels: 1},
		{Gap: 3*time.Microsecond + callCost, Time: 10 * time.Microsecond, Kernels: 7},
		{Gap: 10*time.Microsecond + callCost, Wait: true, Time: 15 * time.Microsecond, Kernels: 1},
	}
	if diff := cmp.Diff(want, got.Launches); diff != "" {
		t.Error(diff)
	}
	if len(got.Warnings) != 1 || got.Overhead <= 0.08 || got.Overhead >= 0.12 {
		t.Errorf("warnings %v, overhead %v", got.Warnings, got.Overhead)
	}
	if got, err = ReadRecording(path, time.Hour); err != nil || len(got.Launches) != 1 {
		t.Errorf("second half: %+v, %v", got, err)
	}
	if _, err := ReadRecording(recording(t), 0); !errors.Is(err, ErrTrace) {
		t.Errorf("nothing recorded: %v", err)
	}
}

func TestLoadTrace(t *testing.T) {
	for text, want := range map[string]error{
		`{"program":"a","launches":[{"gap_ns":0,"time_ns":1}]}`: nil,
		`{"program":"a","launches":[]}`:                         ErrTrace,
		`{"launches":[{"gap_ns":-1,"time_ns":1}]}`:              ErrTrace,
		`{"launches":[{"gap_ns":1}]}`:                           ErrTrace,
		`[]`:                                                    ErrTrace,
	} {
		path := filepath.Join(t.TempDir(), "a.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadTrace(path); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	if _, err := LoadTrace("/nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A trace that could not be played in memory is refused with its line and the limit.
func TestLoadTraceBounds(t *testing.T) {
	launch := func(fields string) string {
		return "{\"launches\": [\n{\"time_ns\": 1},\n{" + fields + "}\n]}"
	}
	for text, want := range map[string]string{
		launch(`"time_ns": 1, "kernels": 30000000`):            ":3: not a trace of a program's launches: launches[1]: 30000000 kernels after 1 others: more than 4000000, the limit of a trace",
		launch(`"time_ns": 1, "kernels": 9223372036854775807`): "more than 4000000, the limit",
		launch(`"time_ns": 9223372036854775807`):               ":3: not a trace of a program's launches: launches[1]: with its gap",
		launch(`"time_ns": 1, "gap_ns": 9223372036854775807`):  "takes more than 2400h0m0s, the limit",
		launch(`"time_ns": 1, "kernels": -1`):                  ":3: ",
		launch(`"time_ns": "1"`):                               ":3: not a trace of a program's launches: launches[1]: json:",
		launch(`"time_ns": 1`) + "x":                           "more text follows it",
		strings.TrimSuffix(launch(`"time_ns": 1`), "}"):        ":4: ",
		`{"overhead": 1e300, "launches": [{"time_ns": 1}]}`:    ":1: not a trace of a program's launches: overhead 1e+300",
		"{\"x\": " + strings.Repeat("[", 20000) + "\n":         ":1: ",
		"{\"launches\": [\n" + strings.Repeat("{}", 3) + "\n":  ":2: ",
		"": ":1: ",
	} {
		path := filepath.Join(t.TempDir(), "a.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadTrace(path); !errors.Is(err, ErrTrace) || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", text, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, mostBytes+1); err != nil { // a hole
		t.Fatal(err)
	}
	for _, load := range []func() (*Trace, error){
		func() (*Trace, error) { return LoadTrace(path) },
		func() (*Trace, error) { return ReadRecording(path, 0) },
	} {
		if _, err := load(); !errors.Is(err, ErrTrace) || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), "the limit is 268435456") {
			t.Errorf("a large file: %v", err)
		}
	}
}

// Alone, a host that launches faster than the device works keeps it busy.
func TestBusy(t *testing.T) {
	us := time.Microsecond
	for _, tt := range []struct {
		launches []Launch
		want     float64
	}{
		{[]Launch{{Gap: us, Time: 9 * us}, {Gap: us, Time: 10 * us}}, 0.95},
		{[]Launch{{Gap: 10 * us, Time: 5 * us}, {Gap: 15 * us, Time: 5 * us}}, 1. / 3},
		{[]Launch{{Gap: 0, Time: 10 * us}, {Gap: 10 * us, Wait: true, Time: 10 * us}}, 2. / 3},
	} {
		if got := (&Trace{Launches: tt.launches}).Busy(); got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("%+v: %v, want %v", tt.launches, got, tt.want)
		}
	}
}
