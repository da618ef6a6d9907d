package sampling

import (
	"slices"
	"testing"
	"time"

	"github.com/foretime/foretime/allox-est/journal"
	"github.com/foretime/foretime/allox-est/runner"
)

// Each lap has the mean of its readings, one without any the next reading.
func TestRecordGPU(t *testing.T) {
	at := func(seconds, percent float64) runner.GPUPoint {
		return runner.GPUPoint{At: time.Duration(seconds * float64(time.Second)), Utilisation: percent}
	}
	run := &journal.Run{Before: 0.5, Laps: []float64{1, 1, 0.1, 1}}
	recordGPU(run, []runner.GPUPoint{at(1.0, 0), at(2.2, 90), at(1.8, 80), at(2.4, 70), at(3.0, 50), at(9, 10)})
	if want := []float64{0, 80, 50, 50}; !slices.Equal(run.LapGPU, want) {
		t.Errorf("%v, want %v", run.LapGPU, want)
	}
	none := &journal.Run{Laps: []float64{1, 1}}
	if recordGPU(none, nil); none.LapGPU != nil {
		t.Errorf("%v of no reading", none.LapGPU)
	}
}
