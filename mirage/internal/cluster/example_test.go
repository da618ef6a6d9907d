package cluster_test

import (
	"fmt"

	"github.com/foretime/foretime/mirage/internal/cluster"
)

func ExampleProfile() {
	var p cluster.Profile
	p.Reset(0, 2)      // two nodes are free
	p.Release(3600, 6) // six more in an hour
	at := p.Earliest(4, nil, 7200)
	p.Reserve(at, at+7200, 4, nil)
	fmt.Println(at)
	// Output:
	// 3600
}
