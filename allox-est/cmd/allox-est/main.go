// Command allox-est estimates how long a training job takes on CPU and GPU
// from short runs of it.
package main

import (
	alloxest "github.com/foretime/foretime/allox-est/internal/cli"
	"github.com/foretime/foretime/shared/cli"
)

func main() { cli.Main(alloxest.New) }
