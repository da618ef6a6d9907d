package slurm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

func TestAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "asked")
	if all, err := ReadAsked(path); err != nil || all != nil {
		t.Errorf("no file: %v, %v", all, err)
	}
	for i := range 3 {
		if _, err := (Asked{fmt.Sprint(i), 10, 60}).Append(path); err != nil {
			t.Fatal(err)
		}
	}
	all, err := ReadAsked(path)
	if err != nil || len(all) != 3 || all[2] != (Asked{"2", 10, 60}) {
		t.Errorf("%v, %v", all, err)
	}
}

// The factor is the conformal quantile: of 19 jobs the longest at .95, of 18 none
// yet; one that was cut counts with twice its limit, one that is not known not.
func TestCalibrate(t *testing.T) {
	var asked []Asked
	took := map[string]Took{}
	for i := range 18 {
		asked = append(asked, Asked{fmt.Sprint(i), 10, 60})
		took[fmt.Sprint(i)] = Took{Seconds: float64(i)}
	}
	asked = append(asked, Asked{Job: "unknown", Upper: 10})
	if f, n := Calibrate(asked, took, 0.95); f != 1 || n != 18 {
		t.Errorf("18 jobs: %v of %d", f, n)
	}
	if f, n := Calibrate(asked, took, 0.5); f != 0.9 || n != 18 {
		t.Errorf("half of 18 jobs: %v of %d", f, n)
	}
	asked = append(asked, Asked{"cut", 10, 60})
	took["cut"] = Took{60, true}
	if f, n := Calibrate(asked, took, 0.95); f != 12 || n != 19 {
		t.Errorf("19 jobs, one cut: %v of %d", f, n)
	}
}

// Predictions that are always too short, or too long, suffice for the promised
// share of later jobs once they are calibrated.
func TestCalibrated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, bias := range []float64{0.5, 1, 3} {
		held, trials := 0, 2000
		for range trials {
			var asked []Asked
			took := map[string]Took{}
			for i := range 40 {
				asked = append(asked, Asked{fmt.Sprint(i), 1, math.Inf(1)})
				took[fmt.Sprint(i)] = Took{Seconds: bias * math.Exp(0.3*random.NormFloat64())}
			}
			f, _ := Calibrate(asked, took, 0.9)
			if bias*math.Exp(0.3*random.NormFloat64()) <= f {
				held++
			}
		}
		if share := float64(held) / float64(trials); share < 0.87 || share > 0.93 {
			t.Errorf("bias %v: %v held", bias, share)
		}
	}
}
