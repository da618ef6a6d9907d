package report_test

import (
	"fmt"

	"github.com/foretime/foretime/deft/internal/report"
)

// Four jobs, in ms.
func ExampleSummarize() {
	s, err := report.Summarize([]float64{20, 22, 21, 37})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d jobs, mean %.1f ms, median %.1f ms, most %.0f ms\n", s.Count, s.Mean, s.P50, s.Max)
	// Output: 4 jobs, mean 25.0 ms, median 21.5 ms, most 37 ms
}
