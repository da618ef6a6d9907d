package validation

import (
	"bytes"
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/foretime/foretime/mirage/internal/chain"
	"github.com/foretime/foretime/shared/chart"
)

func ExampleDistributions() {
	late := []Played{{Outcome: chain.Outcome{PredEnd: 3600, SuccStart: 7200}}}
	charts := Distributions([]string{"reactive"}, map[string][]Played{"reactive": late})
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		var b bytes.Buffer
		if err := chart.SVG(&b, charts[name]); err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, b.Len() > 0)
	}
	// Output:
	// interruption-cdf true
	// overlap-cdf true
}
