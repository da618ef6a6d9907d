package workspace_test

import (
	"fmt"

	"github.com/foretime/foretime/tools/workspace"
)

func ExampleFind() {
	ws, err := workspace.Find(".")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range ws.Modules {
		fmt.Println(m.Name, m.Path)
	}
	// Output:
	// allox-est github.com/foretime/foretime/allox-est
	// chamtool github.com/foretime/foretime/chamtool
	// deft github.com/foretime/foretime/deft
	// edgeprof github.com/foretime/foretime/edgeprof
	// mirage github.com/foretime/foretime/mirage
	// shared github.com/foretime/foretime/shared
	// tools github.com/foretime/foretime/tools
}
