package trial

import (
	"testing"
	"time"
)

// The interval of a job holds nine jobs in ten on hosts that lose less or more
// than the usual one, of which the experiment says nothing.
func TestPredict(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: one thread computes")
	}
	x := parse(t, `{"models": [
		{"model_name": "fasterrcnn_resnet50_fpn", "output_file_name": "low", "resize": true, "resize_size": [1440, 2560]},
		{"model_name": "retinanet_resnet50_fpn", "output_file_name": "high", "priority": 1, "sleep_time": 0.15, "resize": true, "resize_size": [480, 640]}
	], "exp_dur": 20, "policy": "priority", "jitter": 0.05}`)
	jobs, err := Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []struct{ sync, reaction time.Duration }{{time.Microsecond, 0}, {15 * time.Microsecond, 0}, {25 * time.Microsecond, time.Millisecond / 2}} {
		there := *x
		there.SyncCost, there.Reaction, there.Seed = host.sync, host.reaction, 7
		o, err := Virtual(t.Context(), &there)
		if err != nil {
			t.Fatal(err)
		}
		for i, log := range o.Logs {
			inside := 0
			for _, j := range log[1:] {
				if jobs[i].Contains(j.Ms) {
					inside++
				}
			}
			if share := float64(inside) / float64(len(log)-1); share < 0.85 {
				t.Errorf("%+v: %d of %d jobs of %s are in %.2f to %.2f ms", host, inside, len(log)-1, x.Models[i].OutputName, jobs[i].Low, jobs[i].High)
			}
		}
		known, err := Predict(t.Context(), &there)
		if err != nil {
			t.Fatal(err)
		}
		if host.reaction > 0 && known[0].High-known[0].Low > 1.02*(jobs[0].High-jobs[0].Low) {
			t.Errorf("%+v: known %v is wider than %v", host, known[0], jobs[0])
		}
	}
}
