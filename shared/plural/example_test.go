package plural_test

import (
	"fmt"

	"github.com/foretime/foretime/shared/plural"
)

func ExampleCount() {
	fmt.Println(plural.Count(1, "family"))
	fmt.Println(plural.Count(0, "process"))
	fmt.Println(plural.Count(4000, "step"))
	// Output:
	// 1 family
	// 0 processes
	// 4000 steps
}
