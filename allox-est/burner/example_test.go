package burner_test

import (
	"fmt"

	"github.com/foretime/foretime/allox-est/burner"
)

// The laps of a job of five epochs: a second of set-up, a slow first epoch,
// and a teardown.
func ExampleConfig_Segments() {
	config := burner.Config{Setup: 1, Epoch: 0.5, Teardown: 0.25, Epochs: 5, WarmUp: []float64{3}}
	fmt.Println(config.Segments())
	// Output: [1 1.5 0.5 0.5 0.5 0.5 0.25]
}
