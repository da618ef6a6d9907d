package device_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/deft/internal/device"
)

const ms = time.Millisecond

// When kernels that are launched at time 0 end, by arithmetic. simcuda's TestDevice
// compares random orders with the C device and two other models.
func TestDevice(t *testing.T) {
	turns := device.Settings{Discipline: device.Turns, Turn: 2 * ms, Switch: ms}
	for _, tt := range []struct {
		name     string
		settings device.Settings
		kernels  []device.Kernel
		want     []time.Duration // by client, in order of their ends
	}{
		{"in order", device.Settings{}, []device.Kernel{{Client: 0, Time: 3 * ms}, {Client: 1, Time: ms}, {Client: 0, Time: ms}}, []time.Duration{3 * ms, 4 * ms, 5 * ms}},
		// 0 runs to 2, switch, 1 from 3 to 5, switch, 0 from 6 to 7, switch, 1 from 8 to 9
		{"turns", turns, []device.Kernel{{Client: 0, Time: 3 * ms}, {Client: 1, Time: 3 * ms}}, []time.Duration{7 * ms, 9 * ms}},
		{"an empty queue loses its turn", turns, []device.Kernel{{Client: 0, Time: ms}, {Client: 1, Time: ms}}, []time.Duration{ms, 3 * ms}},
		{"alone, turns cost nothing", turns, []device.Kernel{{Client: 1, Time: 9 * ms}}, []time.Duration{9 * ms}},
		// the second one has run three tenths of itself when it begins
		{"mps", device.Settings{Discipline: device.MPS}, []device.Kernel{{Client: 0, Time: 10 * ms}, {Client: 0, Time: 10 * ms}, {Client: 1, Time: 10 * ms}}, []time.Duration{10 * ms, 17 * ms, 24 * ms}},
		{"what waited shortly has run as long", device.Settings{Discipline: device.MPS}, []device.Kernel{{Client: 0, Time: ms}, {Client: 1, Time: 10 * ms}}, []time.Duration{ms, 10 * ms}},
	} {
		d := device.New(tt.settings, 2)
		for _, k := range tt.kernels {
			d.Launch(k)
		}
		var got []time.Duration
		var used time.Duration
		for at := time.Duration(0); at != device.Never; at = d.Next() { // as the simulator goes on
			for _, k := range d.Advance(at) {
				got = append(got, k.End)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if used = d.TimeOf(0) + d.TimeOf(1); used > got[len(got)-1] || d.QueueLength(0)+d.QueueLength(1) != 0 {
			t.Errorf("%s: used %v until %v", tt.name, used, got[len(got)-1])
		}
	}
}

func TestFilled(t *testing.T) {
	want := device.Settings{Discipline: device.Turns, Turn: device.DefaultTurn, Switch: device.DefaultSwitch, Ahead: device.DefaultAhead}
	if diff := cmp.Diff(want, device.Settings{Discipline: device.Turns}.WithDefaults()); diff != "" {
		t.Error(diff)
	}
	none := device.Settings{Discipline: device.Turns, Switch: -1}.WithDefaults()
	if none.Switch != 0 || (device.Settings{}).WithDefaults().Ahead != device.DefaultAhead {
		t.Errorf("%+v", none)
	}
}

// A directory with the socket of MPS' control daemon says MPS.
func TestOfGPU(t *testing.T) {
	dir := t.TempDir()
	environ := func(string) string { return dir }
	if got := device.OfGPU(environ); got != device.Turns {
		t.Error(got)
	}
}
