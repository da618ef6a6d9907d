package timing_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/foretime/foretime/shared/timing"
)

func ExampleParseOutput() {
	report := "epoch 1 done\n<TIME_WRITTER_OUTPUT>[1.5, 2.0, 2.5, 0.5]</TIME_WRITTER_OUTPUT>\n"
	out, err := timing.ParseOutput(strings.NewReader(report), timing.Extend)
	if err != nil {
		log.Fatal(err)
	}
	intercept, slope, _ := out.Line()
	fmt.Printf("%d laps, %.1f s + %.2f s an epoch\n", out.Len(), intercept, slope)
	// Output: 4 laps, 2.0 s + 2.25 s an epoch
}
