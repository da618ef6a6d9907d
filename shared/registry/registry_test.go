package registry_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/foretime/foretime/shared/registry"
)

// modes lists rounding modes.
func modes() registry.List[func(float64) float64] {
	return registry.List[func(float64) float64]{
		{Name: "up", Help: "toward infinity", New: math.Ceil},
		{Name: "nearest", Help: "to the nearest, halves away from zero", New: math.Round},
	}
}

func Example() {
	round, err := modes().Find("up")
	fmt.Println(round(1.2), err)
	_, err = modes().Find("sideways")
	fmt.Println(err)
	fmt.Print(modes().Help())
	// Output:
	// 2 <nil>
	// "sideways" is none of up, nearest
	//   up       toward infinity
	//   nearest  to the nearest, halves away from zero
}

func TestEmpty(t *testing.T) {
	var none registry.List[int]
	if _, err := none.Find(""); err == nil {
		t.Error("an empty list found something")
	}
	if none.Help() != "" || len(none.Names()) != 0 {
		t.Errorf("an empty list shows %q %q", none.Help(), none.Names())
	}
}
