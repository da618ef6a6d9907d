package jobspec_test

import (
	"fmt"

	"github.com/foretime/foretime/allox-est/internal/jobspec"
)

// The command line of a sample of 5 epochs, made from the job's template.
func Example() {
	spec := &jobspec.Spec{
		Name:    "lenet",
		Command: []string{"./run.sh", "{lr}", "{epochs}", "{hw}"},
		Params:  map[string]jobspec.Scalar{"lr": "0.1"},
		Epochs:  250,
		Devices: map[string]jobspec.Device{jobspec.CPU: {Threads: 1}},
	}
	if err := spec.Check(); err != nil {
		fmt.Println(err)
		return
	}
	args, err := spec.Args(jobspec.CPU, 5, jobspec.Own{})
	fmt.Println(args, err)
	// Output: [./run.sh 0.1 5 --cpu --numThreads 1] <nil>
}
