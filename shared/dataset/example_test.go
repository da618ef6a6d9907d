package dataset_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/foretime/foretime/shared/dataset"
)

// A row that cannot be used becomes a diagnostic, and the rest is read.
func ExampleReadAll() {
	type run struct {
		Job     string  `dataset:"job"`
		Seconds float64 `dataset:"seconds"`
	}
	in := strings.NewReader("job,seconds\nresnet,12.5\nbert,long\n")
	r, err := dataset.NewReader[run](in, "runs.csv", dataset.CSV, dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	runs, err := dataset.ReadAll(r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(runs.Rows, runs.Counts)
	fmt.Println(len(runs.Diagnostics), "row cannot be used")
	// Output:
	// [{resnet 12.5}] 2 read, 1 used, 1 dropped
	// 1 row cannot be used
}
