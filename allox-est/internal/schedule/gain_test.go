package schedule

import (
	"math"
	"testing"
)

func TestGainOf(t *testing.T) {
	job := func(cpu, gpu float64) Record { return Record{Actual: [Devices]float64{cpu, gpu}} }
	inf := math.Inf(1)
	for _, tt := range []struct {
		name  string
		jobs  []Record
		want  *Gain
		alike bool
	}{
		{"none", nil, nil, false},
		{"one", []Record{job(4, 2)}, nil, false},
		{"two alike", []Record{job(4, 2), job(50, 25)}, &Gain{2, 2}, true},
		{"different", []Record{job(4, 2), job(50, 5)}, &Gain{2, 10}, false},
		{"of one device", []Record{job(4, inf), job(inf, 3), job(4, 2), job(6, 3)}, &Gain{2, 2}, true},
	} {
		got := GainOf(tt.jobs)
		if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want || got.IsAlike() != tt.alike {
			t.Errorf("%s: %+v, alike %v; want %+v, %v", tt.name, got, got.IsAlike(), tt.want, tt.alike)
		}
	}
}
