package placement_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foretime/foretime/edgeprof/internal/device"
	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/shared/uncertainty"
)

// ranked is a model's ranking on nodes a, b and so on, from its times there.
func ranked(t *testing.T, free, need int64, seconds ...float64) *placement.Ranking {
	t.Helper()
	var devices []device.Device
	for i := range seconds {
		devices = append(devices, device.Device{Node: string(rune('a' + i)), Load: device.Load{MemoryAvailableBytes: free}})
	}
	r, err := placement.Rank(devices, nil, func(i int) (placement.Estimate, error) {
		return placement.Estimate{Seconds: uncertainty.Point(seconds[i]), Bytes: need}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSpread(t *testing.T) {
	for name, c := range map[string]struct {
		free, need int64
		times      [][]float64
		want       []string
	}{
		"one alone":                           {0, 0, [][]float64{{2, 1}}, []string{"b"}},
		"two want the same, the next is near": {0, 0, [][]float64{{1, 1.5}, {1, 1.5}}, []string{"a", "b"}},
		"two want the same, the next is far":  {0, 0, [][]float64{{1, 9}, {1, 9}}, []string{"a", "a"}},
		"the longest chooses first":           {0, 0, [][]float64{{1, 1.5}, {4, 8}}, []string{"b", "a"}},
		"memory for one":                      {100, 60, [][]float64{{1, 9}, {1, 9}}, []string{"a", "b"}},
		"memory for just two":                 {100, 50, [][]float64{{1, 9}, {1, 9}}, []string{"a", "a"}},
		"three on two":                        {0, 0, [][]float64{{1, 1}, {1, 1}, {1, 1}}, []string{"a", "b", "a"}},
	} {
		var rankings []*placement.Ranking
		for _, times := range c.times {
			rankings = append(rankings, ranked(t, c.free, c.need, times...))
		}
		if err := placement.SpreadModels(rankings); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, r := range rankings {
			got = append(got, r.Candidates[0].Node)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	full := []*placement.Ranking{ranked(t, 100, 60, 1), ranked(t, 100, 60, 1)}
	if err := placement.SpreadModels(full); !errors.Is(err, placement.ErrNoDevice) {
		t.Errorf("memory for one on one node: %v", err)
	}
	waits := []*placement.Ranking{ranked(t, 0, 0, 1, 9), ranked(t, 0, 0, 2, 9)}
	if err := placement.SpreadModels(waits); err != nil || waits[0].Candidates[0].Wait != 2 || fmt.Sprint(waits[0].Candidates[0].Reasons) != "[models placed on this device before it: 1]" {
		t.Errorf("%+v, %v", waits[0].Candidates[0], err)
	}
}
