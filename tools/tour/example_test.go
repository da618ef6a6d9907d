package tour_test

import (
	"fmt"
	"os"

	"github.com/foretime/foretime/tools/tour"
)

// The results of a tour, as its story.
func Example() {
	results, err := tour.Load("testdata/results.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := results.WriteStory(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tool    what                                           predicted  measured  in interval
	// ------  -------------------------------  -----------------------  --------  -----------
	// mirage  the wait of a job of one node    6.10 h [0.500, 21] 80 %    5.20 h  yes
	//         the wait of a job of four nodes          2 h [1, 3] 80 %       4 h  no
	//         an interruption                                             2.87 h
	//
	// 1 of 2 measurements lay inside their intervals; median width 218 %
	// 12 s on 2 x AMD EPYC, go1.26.8, commit 4525b0d, load 0.6
}
