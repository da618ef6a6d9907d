package tour_test

import (
	"fmt"
	"os"

	"github.com/foretime/foretime/tools/tour"
)

// The results that a tour left behind, as a table.
func Example() {
	results, err := tour.Load("testdata/results.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := results.WriteTable(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tool    measured                             value  unit  note
	// ------  -----------------------------------  -----  ----  ---------------------------
	// mirage  interruption, submitting at the end   5.84  h     mean of 60
	//         overlap, boosted trees               0.432  h     nodes held twice, the price
	//
	// 12 s on 2 x AMD EPYC, go1.26.8, commit 4525b0d, load 0.6
}
