// Command mirage decides when a service that outlives a batch queue's time
// limit submits its successor, and simulates the queue to find out.
package main

import (
	mirage "github.com/foretime/foretime/mirage/internal/cli"
	"github.com/foretime/foretime/shared/cli"
)

func main() { cli.Main(mirage.New) }
