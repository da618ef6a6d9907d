package suite_test

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/foretime/foretime/tools/suite"
)

// What `go test -json` told, counted.
func ExampleRead() {
	events := `{"Action":"pass","Package":"m","Test":"TestA"}
{"Action":"output","Package":"m","Test":"TestB","Output":"    b_test.go:7: needs slurmctld\n"}
{"Action":"skip","Package":"m","Test":"TestB"}
{"Action":"pass","Package":"m"}
`
	result, err := suite.Read(strings.NewReader(events), io.Discard)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := result.WriteTo(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// skipped (needs slurmctld): TestB
	// 1 passed, 0 failed, 1 skipped
}
