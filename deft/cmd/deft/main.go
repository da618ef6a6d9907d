// Command deft shares one GPU between DNN jobs without hurting the urgent one.
package main

import (
	deft "github.com/foretime/foretime/deft/internal/cli"
	"github.com/foretime/foretime/shared/cli"
)

func main() { cli.Main(deft.New) }
