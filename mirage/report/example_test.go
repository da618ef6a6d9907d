package report_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/foretime/foretime/mirage/chain"
	"github.com/foretime/foretime/mirage/report"
	"github.com/foretime/foretime/mirage/validation"
)

func ExampleDistributions() {
	late := []validation.Played{{Outcome: chain.Outcome{PredEnd: 3600, SuccStart: 7200}}}
	charts := report.Distributions([]report.Method{{Name: "reactive", Played: late}})
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		fmt.Println(name) // chart.Save(name+".svg", charts[name]) draws it
	}
	// Output:
	// interruption-box
	// interruption-cdf
	// overlap-box
	// overlap-cdf
}
