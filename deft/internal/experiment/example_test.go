package experiment_test

import (
	"fmt"

	"github.com/foretime/foretime/deft/internal/experiment"
)

// A configuration with a quirk, and a model of some priority.
func ExampleParse() {
	x, err := experiment.Parse("input.json", []byte(`{
  "models": [
    {"model_name": "resnet50", "priority": 1, "sleep_time": 0.05, "batch_size": 1,
     "output_file_path": "out", "output_file_name": "urgent"},
  ],
  "exp_dur": 5
}`))
	if err != nil {
		fmt.Println(err) // it would name the line and the field
		return
	}
	for _, w := range x.Warnings {
		fmt.Println(w)
	}
	for _, m := range x.Models {
		fmt.Println(m.Name(), m.Priority, m.SleepTime)
	}
	// Output:
	// resnet50_batch_1_sleep_0.05 1 50ms
}
