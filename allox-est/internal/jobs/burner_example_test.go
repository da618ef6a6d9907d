package jobs_test

import (
	"fmt"

	"github.com/foretime/foretime/allox-est/internal/jobs"
)

// The laps of a job of five epochs: a second of set-up, and a teardown.
func ExampleBurner_Segments() {
	burner := jobs.Burner{Setup: 1, Epoch: 0.5, Teardown: 0.25, Epochs: 5}
	fmt.Println(burner.Segments())
	// Output: [1 0.5 0.5 0.5 0.5 0.5 0.25]
}
