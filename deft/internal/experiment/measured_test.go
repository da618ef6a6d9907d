package experiment

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// list reads the kernels of one model of the published lists: names, microseconds.
func list(t *testing.T, model string) (names []string, us []float64) {
	t.Helper()
	root := os.Getenv("FORETIME_DATA")
	if root == "" {
		t.Skip("set FORETIME_DATA to the folder of the measured data")
	}
	f, err := os.Open(filepath.Join(root, "orion-kernels", "kernels.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		if row[0] == model {
			d, err := strconv.ParseFloat(row[3], 64)
			if err != nil {
				t.Fatal(err)
			}
			names, us = append(names, row[2]), append(us, d)
		}
	}
	return names, us
}

// The measured rows come to what was measured, and, of what they were not taken
// from, to the forward convolutions of the training list, at eight times the
// batch: 18.67 ms; in proportion to the batch it would be 39.5.
func TestMeasuredRows(t *testing.T) {
	_, us := list(t, "resnet50_4_fwd")
	sum := 0.0
	for _, d := range us {
		sum += d
	}
	p, err := Lookup("resnet50", Input{224, 224, 4})
	if err != nil || p.Kernels() != len(us) || math.Abs(float64(p.DeviceTime())/1e3/sum-1) > 0.001 {
		t.Errorf("%d kernels in %v (%v), measured %d in %.0f µs", p.Kernels(), p.DeviceTime(), err, len(us), sum)
	}
	names, us := list(t, "resnet50_32_fb1")
	measured, convolutions := 0.0, 0
	for i, name := range names {
		if name == "Conv" && convolutions < 53 { // those of the backward pass follow
			measured += us[i]
			convolutions++
		}
	}
	predicted := 0.0
	for _, r := range table() {
		if r.Model == "resnet50" && strings.HasSuffix(r.Stage, " convolutions") {
			predicted += float64(r.Kernels) * (r.FloorNS + r.UnitNS*32*224*224/1e6) / 1e3
		}
	}
	if math.Abs(predicted/measured-1) > 0.05 {
		t.Errorf("convolutions at a batch of 32 take %.0f µs, measured %.0f", predicted, measured)
	}
}
