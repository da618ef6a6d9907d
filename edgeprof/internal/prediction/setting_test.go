package prediction

import (
	"errors"
	"testing"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/profiler"
)

func TestSetting(t *testing.T) {
	var settings []*profiler.Calibration
	for _, f := range []profiler.Facts{
		{Setting: "desk-quota", Runtime: "go", Threads: 1, Products: profiler.Products("go"), Quota: 0.5, UUID: "desk", Device: "PC"},
		{Setting: "desk-t2", Runtime: "go", Threads: 2, Products: profiler.Products("go"), UUID: "desk", Device: "PC"},
		{Setting: "desk-t1", Runtime: "go", Threads: 1, Products: profiler.Products("go"), Quota: 1, UUID: "desk", Device: "PC"},
		{Setting: "a-other-products", Runtime: "go", Threads: 1, Quota: 1, Products: "of another build"},
		{Setting: "desk-ort", Runtime: "ort", Threads: 1, UUID: "desk", Device: "PC"},
		{Setting: "pi-quota", Runtime: "go", Threads: 1, Quota: 0.5, UUID: "pi", Device: "Raspberry Pi 4B"},
	} {
		settings = append(settings, &profiler.Calibration{Facts: f})
	}
	for _, tt := range []struct {
		name    string
		device  device.Device
		runtime string
		want    string
	}{
		{"any", device.Device{}, "go", "desk-t1"},
		{"the machine itself", device.Device{UUID: "pi", Model: "PC"}, "go", "pi-quota"},
		{"its kind", device.Device{UUID: "other", Model: "Raspberry Pi 4B"}, "go", "pi-quota"},
		{"the run time first", device.Device{UUID: "pi"}, "ort", "desk-ort"},
	} {
		c, err := Setting(settings, tt.device, tt.runtime)
		if err != nil || c.Facts.Setting != tt.want {
			t.Errorf("%s: %+v, %v, want %s", tt.name, c, err, tt.want)
		}
	}
	if _, err := Setting(settings, device.Device{}, "cuda"); !errors.Is(err, ErrSetting) {
		t.Errorf("%v", err)
	}
	if _, err := Setting(nil, device.Device{}, "go"); !errors.Is(err, ErrSetting) {
		t.Errorf("%v", err)
	}
}
