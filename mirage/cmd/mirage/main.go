// Command mirage decides when a service that outlives a batch queue's time
// limit submits its successor, and simulates the queue to find out.
package main

import (
	shared "github.com/foretime/foretime/shared/cli"

	"github.com/foretime/foretime/mirage/cli"
)

func main() { shared.Main(cli.Root) }
