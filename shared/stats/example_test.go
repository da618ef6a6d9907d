package stats_test

import (
	"fmt"

	"github.com/foretime/foretime/shared/stats"
)

func Example() {
	seconds := stats.Sort([]float64{4, 1, 2, 100, 3})
	fmt.Println(seconds.Median(), seconds.MAD())
	fmt.Printf("%.1f %v\n", seconds.Quantile(0.9), seconds.NearestRank(0.9))
	// Output:
	// 3 1
	// 61.6 100
}
